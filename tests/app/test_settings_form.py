from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel
from pydantic import Field as Declared
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
)

from app.settings import Field

Shown = Callable[[Any], Any]


class Group(BaseModel):
    on: Annotated[bool, Declared(title="On")] = True
    number: Annotated[int, Declared(ge=2, le=9, title="Number", description="Two to nine.")] = 3
    choice: Annotated[Literal["one", "two"], Declared(title="Choice")] = "one"
    text: Annotated[str, Declared(title="Text")] = ""
    lines: Annotated[tuple[str, ...], Declared(title="Lines")] = ()


def field(name: str) -> Field:
    return Field(f"group.{name}", Group.model_fields[name])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("on", QCheckBox),
        ("number", QSpinBox),
        ("choice", QComboBox),
        ("text", QLineEdit),
        ("lines", QPlainTextEdit),
    ],
)
async def test_the_control_follows_from_the_type(name: str, kind: type, shown: Shown) -> None:
    made = shown(field(name))
    assert isinstance(made.control, kind)
    assert made.control.accessibleName() == Group.model_fields[name].title


@pytest.mark.parametrize(
    ("name", "other"),
    [("on", False), ("number", 7), ("choice", "two"), ("text", "x"), ("lines", ("a", "b"))],
)
async def test_another_value_can_be_reset(name: str, other: object, shown: Shown) -> None:
    made = shown(field(name))
    changes: list[tuple[str, object]] = []
    made.changed.connect(lambda field_name, value: changes.append((field_name, value)))
    made.show_value(other)
    assert changes == []
    made.reset.click()
    assert changes == [(f"group.{name}", Group.model_fields[name].default)]


async def test_bounds_help_and_problems_are_shown(shown: Shown) -> None:
    made = shown(field("number"))
    assert (made.control.minimum(), made.control.maximum()) == (2, 9)
    assert made.help.text() == "Two to nine."
    made.show_problem("Nine is taken.")
    assert made.problem.isVisible()
    made.show_value(4)
    assert not made.problem.isVisible()


@pytest.mark.parametrize("name", ["number", "choice"])
async def test_scrolling_over_a_field_changes_nothing(name: str, shown: Shown) -> None:
    made = shown(field(name))
    made.show_value(Group.model_fields[name].default)
    changes: list[object] = []
    made.changed.connect(lambda *change: changes.append(change))
    button, key = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    at, still, down = QPointF(5, 5), QPoint(0, 0), QPoint(0, -120)
    phase = Qt.ScrollPhase.NoScrollPhase
    turn = QWheelEvent(at, at, still, down, button, key, phase, False)
    QApplication.sendEvent(made.control, turn)
    assert changes == []


async def test_with_little_room_the_control_stands_below_its_words(shown: Shown) -> None:
    made = shown(field("number"))
    made.resize(800, 100)
    QApplication.processEvents()
    assert made.control.x() > made.help.geometry().right()
    made.resize(420, 200)
    QApplication.processEvents()
    assert made.control.y() > made.help.geometry().bottom()
    assert made.help.width() == made.width()
