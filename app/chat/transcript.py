"""The messages of a chat, one under the other, following the newest unless one scrolls up."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.chat.attachments import Attachment
from app.chat.message import Answer, Question
from app.look import theme
from app.look.controls import Button, Column
from app.look.translate import tr


class Transcript(Column):
    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._following = True
        self._may_again = True
        self.body.setSpacing(theme.LARGE)
        self.body.addStretch(1)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._follow)
        bar.actionTriggered.connect(self._look)
        bar.sliderMoved.connect(self._look)

    def ask(
        self,
        text: str,
        place: int = 0,
        attached: Sequence[Attachment] = (),
        at: int | None = None,
    ) -> Question:
        """The newest, or with `at` an earlier one so far from the top."""
        question = Question(text, place, attached)
        self._add(question, at)
        return question

    def answer(self, model: str, place: int = 0, at: int | None = None) -> Answer:
        answer = Answer(model, place)
        answer.retry.setEnabled(self._may_again)
        self._add(answer, at)
        return answer

    def offer_earlier(self, count: int, show: Callable[[], None]) -> None:
        """A button at the top that gives way to what `show` puts there."""
        words = tr("Show {count} earlier messages").format(count=count)
        button = Button(words, "reset")
        button.clicked.connect(lambda: self._drop(0))
        button.clicked.connect(show)
        button.clicked.connect(self._look_at_the_top)
        self.body.insertWidget(0, button, alignment=Qt.AlignmentFlag.AlignHCenter)

    def allow_again(self, *, allowed: bool) -> None:
        """Whether answers can be asked for again now."""
        self._may_again = allowed
        for at in range(self.body.count()):
            item = self.body.itemAt(at)
            if item and isinstance(answer := item.widget(), Answer):
                answer.retry.setEnabled(allowed)

    def cut(self, message: QWidget) -> None:
        """Take away this message and all after it."""
        first = self.body.indexOf(message)
        while first >= 0 and self.body.count() > first + 1:
            self._drop(first)

    def clear(self) -> None:
        while self.body.count() > 1:
            self._drop(0)
        self._following = True

    def _drop(self, at: int) -> None:
        item = self.body.takeAt(at)
        if item and (widget := item.widget()):
            widget.hide()
            widget.deleteLater()

    def _add(self, message: QWidget, at: int | None) -> None:
        if at is None:
            self._following = True
            at = self.body.count() - 1
        self.body.insertWidget(at, message)

    def _look(self, _: int) -> None:
        bar = self.verticalScrollBar()
        self._following = bar.sliderPosition() >= bar.maximum() - theme.HUGE

    def _look_at_the_top(self) -> None:
        self._following = False
        self.verticalScrollBar().setValue(0)

    def _follow(self, _least: int, most: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(most)
