"""The settings of a model alone, in its details: what is empty is as for all models."""

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.look import theme
from app.look.controls import Button, Label, row
from app.look.translate import told, tr
from server.chat import SAMPLED, Sampling
from server.settings import OWN_FIELDS, ModelSettings, OwnSettings


class _Number(QLineEdit):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self._shown = ""
        self.editingFinished.connect(self._finish)

    def show_value(self, value: object) -> None:
        self._shown = "" if value is None else str(value)
        self.setText(self._shown)

    def _finish(self) -> None:
        text = self.text().strip().replace(",", ".")
        if text != self._shown:
            self._shown = text
            self.edited.emit(text or None)


class _Prompt(QPlainTextEdit):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(theme.LINES_HEIGHT)
        self.setTabChangesFocus(True)
        self._shown = ""

    def show_value(self, value: object) -> None:
        self._shown = "" if value is None else str(value)
        if self.toPlainText() != self._shown:
            self.setPlainText(self._shown)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        text = self.toPlainText().strip()
        if text != self._shown:
            self._shown = text
            self.edited.emit(text or None)


class _Thinking(QComboBox):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.addItem(tr("As the request or the model decides"), None)
        self.addItem(tr("On"), "on")
        self.addItem(tr("Off"), "off")
        self.currentIndexChanged.connect(lambda index: self.edited.emit(self.itemData(index)))

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(value))

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # Scrolling the page must not change a setting under the pointer.
        event.ignore()


Control = _Number | _Prompt | _Thinking
_KINDS: dict[str, type[Control]] = {"system_prompt": _Prompt, "thinking": _Thinking}


class OwnBox(QWidget):
    """Emits a field and its new value, or None where it is as for all models again."""

    changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, Control] = {}
        self.summary = Label("", "small", wrap=True)
        self.problem = Label("", "bad", wrap=True)
        self.reset = Button(tr("Reset all"), "reset", name=tr("Reset the settings of this model"))
        self.reset.clicked.connect(self._reset)
        self._own: dict[str, Any] = {}
        form = QFormLayout()
        form.setSpacing(theme.SMALL)
        for field, info in OWN_FIELDS.items():
            form.addRow(Label(tr(info.title or field)), self._control(field))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        column.addLayout(row(Label(tr("Settings of this model"), "section"), 0, self.reset))
        column.addWidget(self.summary)
        column.addLayout(form)
        column.addWidget(self.problem)
        self.problem.hide()

    def show_settings(self, own: OwnSettings, shared: ModelSettings) -> None:
        self._own = own.values
        for field, control in self.fields.items():
            control.show_value(self._own.get(field))
            if not isinstance(control, _Thinking):
                control.setPlaceholderText(_otherwise(field, shared))
        names = ", ".join(tr(OWN_FIELDS[field].title or field) for field in self._own)
        words = tr("Set for this model alone: {names}.").format(names=names)
        self.summary.setText(
            words if names else tr("All as for other models. What you enter here goes before that.")
        )
        self.reset.setEnabled(bool(self._own))
        self.problem.hide()

    def show_problem(self, sentence: str) -> None:
        """What was typed stays there to be mended."""
        self.problem.tell(told(sentence))

    def _control(self, field: str) -> Control:
        made = self.fields[field] = _KINDS.get(field, _Number)()
        info = OWN_FIELDS[field]
        made.setAccessibleName(tr(info.title or field))
        if info.description:
            made.setToolTip(tr(info.description))
            made.setAccessibleDescription(tr(info.description))
        made.edited.connect(lambda value: self.changed.emit(field, value))
        return made

    def _reset(self) -> None:
        for field in tuple(self._own):
            self.changed.emit(field, None)


def _otherwise(field: str, shared: ModelSettings) -> str:
    """What holds while nothing is entered, and where that comes from."""
    if field in SAMPLED:
        return tr("Default: {value}").format(value=getattr(Sampling(), field))
    if field in ModelSettings.model_fields:
        value = getattr(shared, field)
        is_automatic = value == type(shared).model_fields[field].default
        return tr("All models: {value}").format(value=tr("Automatic") if is_automatic else value)
    return tr("For conversations that bring none of their own.")
