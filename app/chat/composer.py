"""Where one writes: grows with the text, Enter sends, and the files that go along are shown."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QWidget

from app.chat import attachments
from app.chat.attachments import Attachment
from app.look import theme
from app.look.controls import Button, Label, restyle, reveal, row
from app.look.sentences import told
from app.look.translate import tr
from server.errors import AppError
from server.face.core import Face


@dataclass(slots=True, eq=False)
class _Picked:
    """Files picked together, without those that were read. Each is only equal to itself."""

    waiting: list[Path]


class AttachedFiles(QWidget):
    changed = Signal()

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core
        self._picked: list[_Picked] = []
        self.files: list[Attachment] = []
        self.words = Label("", "small", wrap=True)
        self.remove = Button("", "close", "icon", name=tr("Remove the attached files"))
        self.remove.clicked.connect(self.clear)
        self.setLayout(row(self.words, self.remove, 0))
        self.words.hide()
        self.remove.hide()

    @property
    def is_reading(self) -> bool:
        return bool(self._picked)

    def add(self, found: list[Attachment]) -> None:
        self.files = [*self.files, *found]
        self._show()

    def clear(self) -> None:
        """Also what is still being read: it is not wanted any more."""
        self._picked.clear()
        self.files = []
        self._show()

    def take(self) -> list[Attachment]:
        """They go along once."""
        taken = self.files
        self.clear()
        return taken

    async def read(self, paths: list[Path]) -> None:
        """Those before a file that cannot be read stay attached."""
        picked = _Picked(list(paths))
        self._picked.append(picked)
        self._show()
        try:
            for path in paths:
                found = await attachments.read(path, self._core)
                if picked not in self._picked:
                    return
                picked.waiting.remove(path)
                self.add([found])
        except Exception as error:
            # Nobody waits any more for what was removed.
            if self._end(picked) or not isinstance(error, AppError):
                raise
        else:
            self._end(picked)

    def _end(self, picked: _Picked) -> bool:
        """Whether it was still wanted."""
        if picked not in self._picked:
            return False
        self._picked.remove(picked)
        self._show()
        return True

    def _show(self) -> None:
        names = ", ".join(one.name for one in self.files)
        words = [tr("Attached: {names}").format(names=names)] if names else []
        words += [told(note) for one in self.files for note in one.notes]
        waiting = ", ".join(path.name for one in self._picked for path in one.waiting)
        words += [tr("Reading {name}…").format(name=waiting)] if waiting else []
        # A label that wraps asks for little width and would wrap short names.
        widest = max(map(self.words.fontMetrics().horizontalAdvance, words), default=0)
        self.words.setMinimumWidth(min(widest + theme.TINY, theme.SURE_WIDTH))
        self.words.tell("\n".join(words))
        reveal(self.remove, shown=bool(words))
        self.changed.emit()


_MOST_LINES = 8


class Composer(QFrame):
    sent = Signal(str)
    stopped = Signal()
    escaped = Signal()
    """Esc where there is nothing to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._answering = False
        self._open = False
        self._held = False
        self.editor = _Editor()
        self.editor.setAccessibleName(tr("Your message"))
        self.button = Button(tr("Send"), "send", "round", name=tr("Send"))
        self.button.clicked.connect(self._press)
        self.attach = Button("", "plus", "icon", name=tr("Attach files"))
        self.editor.entered.connect(self._send)
        self.editor.escaped.connect(self._escape)
        self.editor.textChanged.connect(self._update)
        self.editor.focused.connect(self._mark)
        line = QHBoxLayout(self)
        line.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        line.addWidget(self.attach, 0, Qt.AlignmentFlag.AlignBottom)
        line.addWidget(self.editor, 1)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self._update()

    def show_open(self, hint: str, *, is_open: bool) -> None:
        """Whether something can be sent now, and what the empty field says."""
        self._open = is_open
        self.editor.setPlaceholderText(hint)
        self._update()

    def hold(self, *, held: bool) -> None:
        """Nothing can be sent yet, because what goes along is not there."""
        self._held = held
        self._update()

    def show_answering(self, *, answering: bool) -> None:
        self._answering = answering
        self.button.set_icon(
            *(("stop", tr("Stop the answer")) if answering else ("send", tr("Send")))
        )
        self._update()

    @property
    def _can_send(self) -> bool:
        return self._open and not self._held

    def _press(self) -> None:
        if self._answering:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        text = self.editor.toPlainText().strip()
        if text and self._can_send and not self._answering:
            self.editor.clear()
            self.sent.emit(text)

    def _escape(self) -> None:
        if self._answering:
            self.stopped.emit()
        else:
            self.escaped.emit()

    def _update(self) -> None:
        self.editor.fit()
        has_text = bool(self.editor.toPlainText().strip())
        self.button.setEnabled(self._answering or (self._can_send and has_text))

    def _mark(self, active: bool) -> None:
        self.setProperty("active", active)
        restyle(self)


class _Editor(QPlainTextEdit):
    entered = Signal()
    escaped = Signal()
    focused = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(theme.SMALL)
        self.document().documentLayout().documentSizeChanged.connect(self.fit)

    def fit(self, _: object = None) -> None:
        lines = min(max(1, round(self.document().size().height())), _MOST_LINES)
        height = lines * self.fontMetrics().lineSpacing() + 2 * theme.SMALL + 2
        self.setFixedHeight(max(theme.CONTROL_HEIGHT, height))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.focused.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.focused.emit(False)  # noqa: FBT003
