"""One message of a chat: what the person asked, or what the model answers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.chat.answer_body import AnswerBody
from app.chat.attachments import Attachment
from app.chat.draw_budget import AllText
from app.chat.suggestion import Suggestion
from app.chat.thumbnail import Thumbnail
from app.look import theme
from app.look.banner import Banner
from app.look.controls import Button, CopyButton, Label, row, shortened
from app.look.sentences import told
from app.look.translate import tr
from server.events import Finished
from server.system.limits import printable

_RENDER_MS = 90
_MEASURABLE_S = 0.05
_MOST_SUGGESTIONS = 3
_SHOWN_LETTERS = 2000
_SHOWN_THOUGHTS = 10_000
_IN_A_ROW = 2
_REST = 4
"""After a drawing this many times as long is left until the next."""
_MOST_STEPS = 50
_LONGEST_STEP = 400


class Question(QWidget):
    """`place` is where it stands in the conversation."""

    edited = Signal()

    def __init__(self, text: str, place: int = 0, attached: Sequence[Attachment] = ()) -> None:
        super().__init__()
        self.place = place
        self.text = text
        self.attached = list(attached)
        self.pictures = [Thumbnail(one) for one in attached]
        self.edit = Button("", "edit", "icon", name=tr("Edit and ask again"))
        self.edit.clicked.connect(self.edited)
        label = _words(text)
        bubble = QFrame()
        bubble.setObjectName("bubble")
        bubble.setMaximumWidth(theme.BUBBLE_WIDTH)
        inside = QVBoxLayout(bubble)
        inside.setContentsMargins(
            theme.MEDIUM + 2, theme.SMALL + 2, theme.MEDIUM + 2, theme.SMALL + 2
        )
        inside.setSpacing(theme.SMALL)
        if self.pictures:
            inside.addLayout(_side_by_side(self.pictures))
        inside.addWidget(label)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addStretch(1)
        line.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignBottom)
        line.addWidget(bubble, 4 if len(text) > 60 else 0)


def _beginning(text: str, most: int = _SHOWN_LETTERS) -> str:
    """A label lays out all of its text at once."""
    return text if len(text) <= most else f"{text[:most]}…"


def _words(text: str) -> Label:
    """What was asked; of a long file that went along only the beginning."""
    text = printable(_beginning(text))
    label = Label(text, wrap=True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setAccessibleName(tr("You: {text}").format(text=text))
    # A label that wraps asks for little width and would wrap a short text.
    widest = max(label.fontMetrics().horizontalAdvance(line) for line in text.split("\n"))
    label.setMinimumWidth(min(widest + theme.TINY, theme.SURE_WIDTH))
    return label


def _side_by_side(pictures: Sequence[Thumbnail]) -> QGridLayout:
    grid = QGridLayout()
    grid.setSpacing(theme.SMALL)
    for number, picture in enumerate(pictures):
        grid.addWidget(picture, *divmod(number, _IN_A_ROW), Qt.AlignmentFlag.AlignTop)
    grid.setColumnStretch(_IN_A_ROW, 1)
    return grid


@dataclass(slots=True)
class Pace:
    """How fast an answer comes, as its reader sees it."""

    asked_at: float
    first_at: float = 0.0
    last_at: float = 0.0
    pieces: int = 0

    def count(self, now: float) -> None:
        self.first_at = self.first_at or now
        self.last_at = now
        self.pieces += 1

    def words(self, tokens: int) -> str:
        """`tokens` is the server's count once it is known; until then each piece is one."""
        tokens = tokens or self.pieces
        words = tr("1 token") if tokens == 1 else tr("{count} tokens")
        parts = [words.format(count=f"{tokens:,}")]
        if self.last_at - self.first_at > _MEASURABLE_S:
            parts.append(
                tr("{speed} tokens/s").format(
                    speed=f"{(tokens - 1) / (self.last_at - self.first_at):,.1f}"
                )
            )
        parts.append(tr("first after {time} s").format(time=f"{self.first_at - self.asked_at:.1f}"))
        return "  ·  ".join(parts)


class Answer(QWidget):
    """Grows while it streams; drawn again at most every 90 ms, whatever the speed."""

    again = Signal()
    suggested = Signal(str)
    """A question that was offered to go on with."""

    def __init__(self, model: str, place: int = 0) -> None:
        super().__init__()
        self.place = place
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._steps: list[str] = []
        self._pace = Pace(time.monotonic())
        self.view = AnswerBody()
        self.thinking = Button(tr("Show the reasoning"), kind="suggestion")
        self.thinking.setCheckable(True)
        self.thoughts = Label("", "muted", wrap=True)
        self.thinking.toggled.connect(self._show_thoughts)
        self.all_thoughts = AllText(tr("The reasoning"), lambda: "".join(self._thoughts))
        self.all_text = AllText(tr("Answer"), self.text)
        self.footer = Label(tr("Waiting for the first word…"), "small")
        self.steps = Label("", "small", wrap=True)
        self.copy = CopyButton(tr("the answer"), self.text, "icon")
        self.retry = Button("", "reset", "icon", name=tr("Answer again"))
        self.retry.clicked.connect(self.again)
        self.failure = Banner("bad", closes=False)
        self._render = QTimer(self)
        self._render.setSingleShot(True)
        self._render.setInterval(_RENDER_MS)
        self._render.timeout.connect(self._draw)
        self._lay_out(model)

    def text(self) -> str:
        return "".join(self._text)

    def add_text(self, text: str) -> None:
        self._text.append(text)
        self._came()

    def add_block(self, text: str) -> None:
        """A table or chart that came beside the text: a paragraph of its own in it."""
        if text:
            gap = "\n\n" if self.text() and not self.text().endswith("\n\n") else ""
            self.add_text(f"{gap}{text}\n\n")

    def add_thought(self, text: str) -> None:
        self._thoughts.append(text)
        self._came()

    def add_step(self, text: str) -> None:
        """Something it did on the way: a tool, a search."""
        self._steps.append(f"•  {shortened(told(text), _LONGEST_STEP)}")
        self.steps.tell("\n".join(self._steps[-_MOST_STEPS:]))

    def suggest(self, prompts: tuple[str, ...]) -> None:
        """What may be asked next, as buttons under the answer."""
        for prompt in (shortened(each, _LONGEST_STEP) for each in prompts[:_MOST_SUGGESTIONS]):
            button = Suggestion(prompt)
            button.clicked.connect(lambda _=False, text=prompt: self.suggested.emit(text))
            self._column.addWidget(button)

    def show_whole(self, text: str) -> None:
        """An answer that was given earlier."""
        self._text = [text]
        self._draw()
        self._close("")

    def finish(self, finished: Finished) -> None:
        end = f"  ·  {tr('cut at the length limit')}" if finished.reason == "length" else ""
        self._close(self._pace.words(finished.usage.completion_tokens) + end)
        if not self.text():
            self.footer.setText(tr("The model gave an empty answer.") + end)

    def stop(self) -> None:
        pace = f"  ·  {self._pace.words(0)}" if self._pace.pieces else ""
        self._close(tr("Stopped") + pace)

    def fail(self, sentence: str) -> None:
        self.failure.tell(
            tr("No answer") if not self._text else tr("The answer broke off"), told(sentence)
        )
        self.failure.show()
        # Last: it may have been the drawing that failed.
        self._close("")

    def _came(self) -> None:
        self._pace.count(time.monotonic())
        if not self._render.isActive():
            self._render.start()

    def _draw(self) -> None:
        began = time.monotonic()
        self.view.show_text(self.text())
        self.view.setVisible(bool(self._text))
        self.all_text.offer(offered=self.view.budget.is_spent)
        self.thinking.setVisible(bool(self._thoughts))
        thoughts = "".join(self._thoughts)
        shown = _beginning(thoughts, _SHOWN_THOUGHTS)
        self.thoughts.setText(shown)
        self.all_thoughts.offer(offered=self.thinking.isChecked() and shown != thoughts)
        self.footer.setText(self._pace.words(0))
        # A long answer takes longer to draw: most of the time must be left for the person.
        took_ms = round((time.monotonic() - began) * 1000)
        self._render.setInterval(max(_RENDER_MS, _REST * took_ms))

    def _show_thoughts(self, shown: bool) -> None:
        self.thoughts.setVisible(shown)
        is_cut = len("".join(self._thoughts)) > _SHOWN_THOUGHTS
        self.all_thoughts.offer(offered=shown and is_cut)

    def _close(self, footer: str) -> None:
        self._render.stop()
        if self._pace.pieces:
            self._draw()
        self.footer.tell(footer)
        self.all_text.refresh()
        self.all_thoughts.refresh()
        self.copy.setVisible(bool(self._text))
        self.retry.show()

    def _lay_out(self, model: str) -> None:
        for hidden in (self.view, self.thinking, self.thoughts, self.failure, self.copy):
            hidden.hide()
        self.retry.hide()
        self.steps.hide()
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.TINY + 2)
        column.addWidget(Label(model, "small"))
        column.addLayout(row(self.thinking, 0))
        for part in (
            self.thoughts,
            self.all_thoughts,
            self.steps,
            self.view,
            self.all_text,
            self.failure,
        ):
            column.addWidget(part)
        column.addLayout(row(self.footer, self.copy, self.retry, 0))
