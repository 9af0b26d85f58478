from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractSlider

from app.chat.transcript import Answer, Question, Transcript
from server.events import Finished
from tests.kit.until import until

Shown = Callable[[Any], Any]
PARAGRAPHS = "A paragraph of some length.\n\n" * 12


def fill(transcript: Transcript, turns: int) -> None:
    for number in range(turns):
        transcript.ask(f"Question {number}?")
        answer = transcript.answer("m")
        answer.add_text(PARAGRAPHS)
        answer.finish(Finished("stop"))


async def test_it_follows_the_newest_message(shown: Shown) -> None:
    transcript = shown(Transcript())
    fill(transcript, 5)
    bar = transcript.verticalScrollBar()
    await until(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())


async def test_one_who_scrolled_up_is_left_in_peace(shown: Shown) -> None:
    transcript = shown(Transcript())
    fill(transcript, 4)
    bar = transcript.verticalScrollBar()
    await until(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    growing = transcript.answer("m")
    await until(lambda: bar.value() == bar.maximum())
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    before = bar.maximum()
    growing.add_text(PARAGRAPHS)
    await until(lambda: bar.maximum() > before)
    assert bar.value() == 0


async def test_it_can_be_emptied(shown: Shown) -> None:
    transcript = shown(Transcript())
    fill(transcript, 2)
    transcript.clear()
    await until(lambda: not transcript.findChildren(Question))


class Painted(QObject):
    """Counts which widgets are drawn."""

    def __init__(self, widgets: list[Question]) -> None:
        super().__init__()
        self.drawn: set[QObject] = set()
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            self.drawn.add(watched)
        return False


async def test_of_two_hundred_messages_only_the_visible_are_drawn(shown: Shown) -> None:
    """How long scrolling takes is measured by `python -m tests.bench.window`."""
    transcript = shown(Transcript())
    fill(transcript, 100)
    bar = transcript.verticalScrollBar()
    await until(lambda: bar.maximum() > 20_000 and bar.value() == bar.maximum())
    for step in range(0, 40, 8):
        painted = Painted(transcript.findChildren(Question))
        bar.setValue(bar.maximum() * step // 40)
        transcript.viewport().repaint()
        assert len(painted.drawn) < 20


def test_a_long_name_of_a_model_does_not_widen_the_answer(shown: Callable[[Any], Any]) -> None:
    answer = shown(Answer("very-long-name-" * 12))
    assert answer.minimumSizeHint().width() < 480
