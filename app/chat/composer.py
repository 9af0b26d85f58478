"""Where one writes: grows with the text, Enter sends, the button stops while an answer comes."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit

from app.look import theme
from app.look.controls import Button, restyle
from app.look.translate import tr

_MOST_LINES = 8


class Composer(QFrame):
    sent = Signal(str)
    stopped = Signal()

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
