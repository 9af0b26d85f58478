from collections.abc import Callable
from typing import Any

from app.chat.transcript import Answer, Pace, Question
from server.errors import AppError
from server.events import Finished, Usage
from tests.kit.until import until

Shown = Callable[[Any], Any]


def test_the_pace_counts_from_the_first_piece() -> None:
    pace = Pace(asked_at=10.0)
    for at in (12.0, 12.5, 13.0):
        pace.count(at)
    assert pace.words(0) == "3 tokens  ·  2.0 tokens/s  ·  2.0 s to first token"
    assert pace.words(11) == "11 tokens  ·  10.0 tokens/s  ·  2.0 s to first token"


def test_one_piece_has_no_speed() -> None:
    pace = Pace(asked_at=1.0)
    pace.count(1.5)
    assert pace.words(0) == "1 token  ·  0.5 s to first token"


async def test_a_fast_answer_is_drawn_seldom(shown: Shown, monkeypatch: Any) -> None:
    answer = shown(Answer("m"))
    drawn: list[str] = []
    draw = answer.view.show_text
    monkeypatch.setattr(answer.view, "show_text", lambda text: (drawn.append(text), draw(text)))
    for _ in range(1000):
        answer.add_text("word ")
    await until(lambda: drawn)
    answer.finish(Finished("stop", Usage(completion_tokens=1000)))
    assert len(drawn) == 2
    assert answer.text() == "word " * 1000


async def test_the_end_says_why(shown: Shown) -> None:
    cut = shown(Answer("m"))
    cut.add_text("x")
    cut.finish(Finished("length", Usage(completion_tokens=1)))
    assert cut.footer.text().endswith("length limit reached")
    silent = shown(Answer("m"))
    silent.finish(Finished("stop"))
    assert silent.footer.text() == "The model returned an empty answer."
    assert not silent.copy.isVisible()


async def test_a_failure_before_the_first_word(shown: Shown) -> None:
    answer = shown(Answer("m"))
    answer.fail(AppError("The queue is full."))
    assert answer.failure.isVisible()
    assert answer.failure.title.text() == "No answer"
    assert not answer.footer.isVisible()


async def test_a_short_question_is_one_line(shown: Shown) -> None:
    question = shown(Question("And in one sentence?"))
    label = question.findChild(type(shown(Answer("m")).footer))
    assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())
