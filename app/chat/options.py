"""How the chat asks: the protocol, a system prompt, sampling, and the raw events beside it."""

from typing import get_args

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QPlainTextEdit, QVBoxLayout, QWidget

from app.chat.dialects import Name, Options
from app.look import theme
from app.look.controls import Column, Label
from app.look.slider import Slider
from app.look.translate import tr

_NAMES = {"openai": "OpenAI", "openbb": "OpenBB", "agui": "AG-UI"}
_TEMPERATURES = (None, 0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0)
_TOP_PS = (None, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_LENGTHS = (None, 64, 128, 256, 512, 1024, 2048, 4096, 8192)


class ChatOptions(Column):
    system_changed = Signal(str)
    raw_wanted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.protocol = QComboBox()
        self.protocol.setAccessibleName(tr("Protocol"))
        for name in get_args(Name):
            self.protocol.addItem(_NAMES[name], name)
        self.raw = QCheckBox(tr("Show raw events"))
        self.raw.setAccessibleName(self.raw.text())
        self.raw.toggled.connect(self.raw_wanted)
        self.system = QPlainTextEdit()
        self.system.setTabChangesFocus(True)
        self.system.setAccessibleName(tr("System prompt"))
        self.system.setPlaceholderText(tr("How it should behave"))
        self.system.setFixedHeight(theme.LINES_HEIGHT + theme.HUGE)
        self.system.textChanged.connect(lambda: self.system_changed.emit(self.system.toPlainText()))
        self.temperature = Slider(tr("Temperature"), _words)
        self.top_p = Slider("Top P", _words)
        self.length = Slider(tr("Longest answer"), _words)
        self.temperature.offer(_TEMPERATURES, None)
        self.top_p.offer(_TOP_PS, None)
        self.length.offer(_LENGTHS, None)
        self.note = Label(
            tr("OpenBB's protocol carries no system prompt and no sampling."), "small", wrap=True
        )
        self.protocol.currentIndexChanged.connect(self._chosen)
        self._lay_out()
        self._chosen()

    def options(self) -> Options:
        return Options(
            self.protocol.currentData(),
            self.temperature.value(),
            self.top_p.value(),
            self.length.value(),
        )

    def show_system(self, text: str) -> None:
        if text != self.system.toPlainText():
            self.system.setPlainText(text)

    def _chosen(self) -> None:
        is_openbb = self.protocol.currentData() == "openbb"
        self.note.setVisible(is_openbb)
        for part in (self.system, self.temperature, self.length):
            part.setEnabled(not is_openbb)
        self.top_p.setEnabled(self.protocol.currentData() == "openai")

    def _lay_out(self) -> None:
        self.body.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        self.body.setSpacing(theme.MEDIUM)
        for title, part in (
            (tr("Protocol"), self.protocol),
            ("", self.raw),
            (tr("System prompt"), self.system),
            ("", self.note),
        ):
            self.body.addWidget(_titled(title, part))
        for slider in (self.temperature, self.top_p, self.length):
            self.body.addWidget(slider)
        self.body.addStretch(1)


def _titled(title: str, part: QWidget) -> QWidget:
    if not title:
        return part
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(theme.TINY)
    column.addWidget(Label(title, "section"))
    column.addWidget(part)
    return holder


def _words(value: float | None) -> str:
    return tr("Automatic") if value is None else f"{value:,}"
