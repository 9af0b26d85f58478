"""A form as a person fills it in: what is missing, what is wrong, what is sent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.look import theme
from app.plugins.questions import (
    ChoiceField,
    FileField,
    FilesField,
    FormBox,
    JsonField,
    SwitchField,
    Unfit,
    field_for,
    name_plugin,
)
from app.shell.window import Window
from server.errors import AppError
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import FORM, ORDER, PORTFOLIO
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_a_form_is_filled_in_and_sent(
    core: FakeCore, memory: QSettings, shown: Shown, tmp_path: Path
) -> None:
    window = shown(Window(core, memory))
    assert not window.forms.isVisible()
    core.plugins.forms.set((FORM,))
    assert window.forms.isVisible()
    (box,) = window.forms.list.rows
    assert not box.send.isEnabled()
    box.fields["account"].setCurrentIndex(2)
    QTest.keyClicks(box.fields["quantity"], "ten")
    assert "quantity must be a whole number." in box.problem.text()
    box.fields["quantity"].clear()
    QTest.keyClicks(box.fields["quantity"], "10")
    assert not box.problem.isVisible()
    assert not box.send.isEnabled()
    box.fields["statement"].take(str(tmp_path / "s.pdf"))
    box.send.click()
    await until(lambda: bool(core.commands))
    ((name, number, values),) = core.commands
    assert (name, number) == ("plugins.answer_form", "f1")
    assert json.loads(values) == {
        "account": "margin",
        "quantity": 10,
        "statement": str(tmp_path / "s.pdf"),
    }
    assert not window.forms.isVisible()


async def test_a_form_can_be_left_alone(core: FakeCore, memory: QSettings, shown: Shown) -> None:
    window = shown(Window(core, memory))
    core.plugins.forms.set((FORM,))
    window.forms.list.rows[0].close_form.click()
    await until(lambda: core.commands == [("plugins.answer_form", "f1", "")])


async def test_what_the_core_refuses_can_be_mended(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    core.plugins.forms.set((FORM,))
    core.refuse = AppError("There is no file 's.pdf'.")
    window.forms.list.rows[0].fields["note"].setText("Soon.")
    window.forms.list.rows[0].close_form.click()
    await until(window.banner.isVisible)
    (box,) = window.forms.list.rows
    assert box.close_form.isEnabled()
    assert box.fields["note"].text() == "Soon."


def test_every_kind_of_field_has_its_control(shown: Shown) -> None:
    choice = shown(field_for("c", {"enum": [1, 2]}))
    assert isinstance(choice, ChoiceField)
    assert choice.value() is None
    choice.setCurrentIndex(1)
    assert choice.value() == 1
    switch = shown(field_for("s", {"type": "boolean"}))
    assert isinstance(switch, SwitchField)
    assert switch.value() is False
    lines = shown(field_for("l", {"type": "array", "items": {"type": "string"}}))
    assert isinstance(lines, JsonField)
    lines.setPlainText("a\n b \n")
    assert lines.value() == ["a", "b"]
    lines.setPlainText("[1, 2]")
    assert lines.value() == [1, 2]
    number = shown(field_for("n", {"type": "number", "description": "how much"}))
    number.setText("1,5")
    assert number.value() == 1.5
    assert (number.accessibleName(), number.accessibleDescription()) == ("n", "how much")
    assert isinstance(shown(field_for("f", {"type": "string", "format": "binary"})), FileField)
    part = {"type": "array", "items": {"type": "string", "format": "binary"}}
    files = shown(field_for("m", part))
    assert isinstance(files, FilesField)
    assert files.value() is None
    for path in ("/a/r.pdf", "/b/r.pdf", "/a/r.pdf"):
        files.take(path)
    assert files.value() == ["/a/r.pdf", "/b/r.pdf"]


def test_a_box_names_the_plugin(shown: Shown) -> None:
    box = shown(FormBox(FORM))
    assert box.fields["quantity"].accessibleDescription() == "How many shares."


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,5", 1.5), (",5", 0.5), ("-2,25", -2.25), ("1.5", 1.5), ("10000", 10000)],
)
def test_a_comma_alone_is_the_decimal_sign(shown: Shown, text: str, number: float) -> None:
    field = shown(field_for("n", {"type": "number"}))
    field.setText(text)
    assert field.value() == number


@pytest.mark.parametrize("kind", ["number", "integer"])
@pytest.mark.parametrize("text", ["10,000", "1,000,000", "1.000,5", "1,000.5"])
def test_what_may_be_thousands_is_asked_about(shown: Shown, text: str, kind: str) -> None:
    field = shown(field_for("n", {"type": kind}))
    field.setText(text)
    with pytest.raises(Unfit, match="without thousands separators"):
        field.value()


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e400"])
def test_what_is_no_number_is_not_sent_as_one(shown: Shown, text: str) -> None:
    number = shown(field_for("n", {"type": "number"}))
    number.setText(text)
    with pytest.raises(Unfit, match="a number"):
        number.value()


@pytest.mark.parametrize("text", ["[NaN]", "[1e400]"])
def test_a_list_holds_no_such_number_either(shown: Shown, text: str) -> None:
    lines = shown(field_for("l", {"type": "array"}))
    lines.setPlainText(text)
    with pytest.raises(Unfit, match="JSON"):
        lines.value()


def test_a_question_has_the_name_of_its_plugin_and_its_key_where_that_differs() -> None:
    card = replace(PORTFOLIO, key="broker", name="Broker")
    assert name_plugin(ORDER, (PORTFOLIO, card)).plugin == "Broker"
    false = replace(card, name="Portfolio")
    assert name_plugin(ORDER, (PORTFOLIO, false)).plugin == "Portfolio (broker)"
    assert name_plugin(FORM, (PORTFOLIO,)).plugin == "broker"


async def test_a_short_request_is_shown_whole(
    core: FakeCore, memory: QSettings, shown: Shown, qapp: QApplication
) -> None:
    theme.apply(qapp, "light")
    window = shown(Window(core, memory))
    body = json.dumps({"title": "Emma", "author": "Jane Austen", "year": 1815}, indent=1)
    core.plugins.approvals.set((replace(ORDER, body=body),))
    (card,) = window.approvals.list.rows
    await until(lambda: card.sent.isVisible())
    await until(lambda: card.sent.verticalScrollBar().maximum() == 0)
