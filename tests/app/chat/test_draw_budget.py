from collections.abc import Callable
from typing import Any

import pytest

from app.chat import markdown
from app.chat import transcript as draw_budget
from app.chat.transcript import Budget, Transcript
from app.look.controls import Label, hint
from tests.kit.chat_parts import plain_text
from tests.kit.until import until

Shown = Callable[[Any], Any]
HUGE = {
    "code words": "`a" * 50_000,
    "code words closed": "`a` " * 25_000,
    "a table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 20_000,
    "a wide table": ("|1" * 3000 + "|\n") * 100,
    "one line": "x" * 2_000_000,
    "many lines": "- a\n" * 100_000,
    "code": "```py\n" + "x = f(1)\n" * 50_000,
    "quotes": ">" * 100_000,
    "links": "[a](http://b) " * 20_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
async def test_a_huge_answer_is_drawn_in_part_and_read_whole_as_text(
    shown: Shown, qapp: object, text: str
) -> None:
    transcript = shown(Transcript())
    answer = transcript.answer("m")
    await until(answer.isVisible)
    answer.show_whole(text)
    await until(answer.all_text.isVisible)
    document = plain_text(answer.view)
    assert len(document) <= draw_budget.MOST_LETTERS
    assert document.count("\n") <= 2 * draw_budget.MOST_LINES
    answer.all_text.button.click()
    assert answer.all_text.box.isVisible()
    whole = answer.all_text.box.toPlainText()
    assert whole.replace("\n", "") == text.replace("\n", "")
    assert max(map(len, whole.split("\n"))) <= 1000
    assert answer.text() == text
    await until(answer.all_text.box.isVisible)


async def test_an_ordinary_answer_is_drawn_whole(shown: Shown, qapp: object) -> None:
    transcript = shown(Transcript())
    answer = transcript.answer("m")
    await until(answer.isVisible)
    answer.show_whole("A **bold** word, `code`, and more.\n\n" * 300 + "| a | b |\n|---|---|\n")
    await until(lambda: plain_text(answer.view).count("bold") == 300)
    assert not answer.all_text.isVisible()


async def test_a_saved_answer_is_drawn_once(
    shown: Shown, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was drawn again when Qt gave the new view its style, which doubled the gap."""
    drawn: list[object] = []
    restyle = markdown._restyle
    monkeypatch.setattr(markdown, "_restyle", lambda *given: drawn.append(given) or restyle(*given))
    transcript = shown(Transcript())
    answer = transcript.answer("m")
    await until(answer.isVisible)
    answer.show_whole("A **bold** word.\n\n```python\nx = 1\n```\n")
    await until(lambda: answer.view._parts[0].isVisible())
    assert len(drawn) == 1


async def test_what_comes_after_a_spent_budget_is_not_drawn_again(
    shown: Shown, qapp: object
) -> None:
    transcript = shown(Transcript())
    answer = transcript.answer("m")
    await until(answer.isVisible)
    text = "word " * 100_000
    answer.view.show_text(text)
    drawn = answer.view._parts[0].document().revision()
    answer.view.show_text(text + "more")
    assert answer.view._parts[0].document().revision() == drawn
    answer.view.show_text("short")
    assert plain_text(answer.view) == "short"


def test_a_budget_is_shared_by_all_parts_of_an_answer() -> None:
    budget = Budget()
    assert budget.take("a\n" * 600)
    assert not budget.is_spent
    budget.take("a\n" * 600)
    assert budget.is_spent
    assert budget.take("more") == ""


async def test_long_reasoning_is_cut_and_can_be_read(shown: Shown, qapp: object) -> None:
    transcript = shown(Transcript())
    answer = transcript.answer("m")
    await until(answer.isVisible)
    answer.add_thought("x" * 500_000)
    answer.stop()
    answer.thinking.click()
    assert len(answer.thoughts.text()) < 20_000
    assert answer.all_thoughts.isVisible()


def test_names_from_elsewhere_steer_nothing(qapp: object) -> None:
    label = Label("safe\u202egnp.exe\x1b[31m\x07")
    assert label.text() == "safegnp.exe[31m"
    label.setText("a\u2066b")
    assert label.text() == "ab"
    assert len(Label("x" * 1_000_000).text()) < 30_000
    assert hint("<img src='file:///x'>") == "<p>&lt;img src=&#x27;file:///x&#x27;&gt;</p>"
    label.emphasise("Let {site} in?", site="<i>x</i>")
    assert "<i>" not in label.text()
