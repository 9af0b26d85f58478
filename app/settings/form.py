"""A form made from a group of settings: one control per field, by the field's type."""

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from app.look import theme
from app.look.controls import Button, Label, row, stack
from app.look.sentences import told
from app.look.translate import tr


class Field(QWidget):
    """A title, a control, what it means, and a way back to the default."""

    changed = Signal(str, object)

    def __init__(self, name: str, info: FieldInfo) -> None:
        super().__init__()
        self.name = name
        self.default = info.get_default(call_default_factory=True)
        title = tr(info.title or name)
        about = tr(info.description) if info.description else ""
        self.words = f"{title} {about}".casefold()
        self.title = Label(title, wrap=True)
        self.help = Label("", "small", wrap=True)
        self.help.tell(about)
        self.problem = Label("", "bad", wrap=True)
        self.problem.hide()
        self.control = _control(info, self._edited)
        self.control.setAccessibleName(title)
        self.control.setAccessibleDescription(about)
        self.reset = Button("", "reset", "icon", name=tr("Reset “{name}”").format(name=title))
        self.reset.clicked.connect(lambda: self._edited(self.default))
        words = stack(self.title, self.help, self.problem, spacing=2)
        words.setContentsMargins(0, theme.SMALL, 0, 0)
        words.addStretch(1)
        beside = row(self.control, self.reset, 0, spacing=theme.LARGE)
        for part in (self.control, self.reset):
            beside.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.addLayout(words, 1)
        self._parts.addLayout(beside)
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Where there is little room the control stands below its words, not beside them."""
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        narrow = event.size().width() < theme.LEAST_READING
        self._parts.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self._parts.setSpacing(theme.SMALL if narrow else theme.LARGE)

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self.control):
            self.control.show_value(value)
        self.problem.hide()
        self.reset.setVisible(value != self.default)

    def show_problem(self, sentence: str) -> None:
        self.problem.tell(told(sentence))

    def _edited(self, value: object) -> None:
        self.changed.emit(self.name, value)


class _Switch(QCheckBox):
    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__(tr("On"))
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.toggled.connect(changed)

    def show_value(self, value: Any) -> None:
        self.setChecked(value)


class _Number(QSpinBox):
    def __init__(self, info: FieldInfo, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for bound in info.metadata:
            self.setMinimum(getattr(bound, "ge", self.minimum()))
            self.setMaximum(getattr(bound, "le", self.maximum()))
        self.valueChanged.connect(changed)

    def show_value(self, value: Any) -> None:
        self.setValue(value)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # Scrolling the page must not change a setting under the pointer.
        event.ignore()


class _Choice(QComboBox):
    def __init__(self, info: FieldInfo, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for choice in get_args(info.annotation):
            self.addItem(tr(choice[:1].upper() + choice[1:]), choice)
        self.currentIndexChanged.connect(lambda index: changed(self.itemData(index)))

    def show_value(self, value: Any) -> None:
        self.setCurrentIndex(self.findData(value))

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()


class _Line(QLineEdit):
    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self._shown = ""
        self.editingFinished.connect(lambda: self._finish(changed))

    def show_value(self, value: Any) -> None:
        self._shown = value
        self.setText(value)

    def _finish(self, changed: Callable[[object], None]) -> None:
        if self.text() != self._shown:
            changed(self.text().strip())


class _Lines(QPlainTextEdit):
    """Several texts or numbers, one in a line."""

    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedSize(theme.FIELD_WIDTH, theme.LINES_HEIGHT)
        self.setTabChangesFocus(True)
        self.setPlaceholderText(tr("One in a line"))
        self._shown: tuple[str, ...] = ()
        self._changed = changed

    def show_value(self, value: Any) -> None:
        self._shown = tuple(_text(one) for one in value)
        self.setPlainText("\n".join(self._shown))

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        lines = tuple(line.strip() for line in self.toPlainText().splitlines() if line.strip())
        if lines != self._shown:
            self._changed(lines)


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else str(value).removesuffix(".0")


Control = _Switch | _Number | _Choice | _Line | _Lines


def _control(info: FieldInfo, changed: Callable[[object], None]) -> Control:
    kind = info.annotation
    if kind is bool:
        return _Switch(changed)
    if kind is int:
        return _Number(info, changed)
    if get_origin(kind) is Literal:
        return _Choice(info, changed)
    if get_origin(kind) is tuple:
        return _Lines(changed)
    return _Line(changed)
