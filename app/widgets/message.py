"""One message of a chat: what the person asked, or what the model answers."""

import time
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.widgets.banner import Banner
from app.widgets.controls import Button, CopyButton, Label, row
from app.widgets.markdown import MarkdownView
from server.events import Finished

_RENDER_MS = 90
_MEASURABLE_S = 0.05


class Question(QWidget):
    def __init__(self, text: str) -> None:
        super().__init__()
        label = Label(text, wrap=True)
        label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        label.setAccessibleName(f"You: {text}")
        # A label that wraps asks for little width and would wrap a short text.
        widest = max(label.fontMetrics().horizontalAdvance(line) for line in text.split("\n"))
        label.setMinimumWidth(min(widest + theme.TINY, theme.SURE_WIDTH))
        bubble = QFrame()
        bubble.setObjectName("bubble")
        bubble.setMaximumWidth(theme.BUBBLE_WIDTH)
        inside = QVBoxLayout(bubble)
        inside.setContentsMargins(
            theme.MEDIUM + 2, theme.SMALL + 2, theme.MEDIUM + 2, theme.SMALL + 2
        )
        inside.addWidget(label)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addStretch(1)
        line.addWidget(bubble, 4 if len(text) > 60 else 0)


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
        parts = [f"{tokens:,} token{'' if tokens == 1 else 's'}"]
        if self.last_at - self.first_at > _MEASURABLE_S:
            parts.append(f"{(tokens - 1) / (self.last_at - self.first_at):,.1f} tokens/s")
        parts.append(f"first after {self.first_at - self.asked_at:.1f} s")
        return "  ·  ".join(parts)


class Answer(QWidget):
    """Grows while it streams; drawn again at most every 90 ms, whatever the speed."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._pace = Pace(time.monotonic())
        self.view = MarkdownView()
        self.view.setAccessibleName("Answer")
        self.thinking = Button("Show the reasoning", kind="suggestion")
        self.thinking.setCheckable(True)
        self.thoughts = Label("", "muted", wrap=True)
        self.thinking.toggled.connect(self.thoughts.setVisible)
        self.footer = Label("Waiting for the first word…", "small")
        self.copy = CopyButton("the answer", self.text, "icon")
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

    def add_thought(self, text: str) -> None:
        self._thoughts.append(text)
        self._came()

    def finish(self, finished: Finished) -> None:
        end = "  ·  cut at the length limit" if finished.reason == "length" else ""
        self._close(self._pace.words(finished.usage.completion_tokens) + end)
        if not self.text():
            self.footer.setText(f"The model gave an empty answer.{end}")

    def stop(self) -> None:
        told = f"  ·  {self._pace.words(0)}" if self._pace.pieces else ""
        self._close(f"Stopped{told}")

    def fail(self, sentence: str) -> None:
        self._close("")
        self.failure.tell("No answer" if not self._text else "The answer broke off", sentence)
        self.failure.show()

    def _came(self) -> None:
        self._pace.count(time.monotonic())
        if not self._render.isActive():
            self._render.start()

    def _draw(self) -> None:
        self.view.show_markdown(self.text())
        self.view.setVisible(bool(self._text))
        self.thinking.setVisible(bool(self._thoughts))
        self.thoughts.setText("".join(self._thoughts))
        self.footer.setText(self._pace.words(0))

    def _close(self, footer: str) -> None:
        self._render.stop()
        if self._pace.pieces:
            self._draw()
        self.footer.tell(footer)
        self.copy.setVisible(bool(self._text))

    def _lay_out(self, model: str) -> None:
        for hidden in (self.view, self.thinking, self.thoughts, self.failure, self.copy):
            hidden.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.TINY + 2)
        column.addWidget(Label(model, "small"))
        column.addLayout(row(self.thinking, 0))
        for part in (self.thoughts, self.view, self.failure):
            column.addWidget(part)
        column.addLayout(row(self.footer, self.copy, 0))
