"""A strip that tells something: a notice, a failure, with what can be done about it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout

from app.look import theme
from app.look.controls import Button, Card, Label, Tone, row, stack
from app.look.picture import Picture
from app.look.translate import tr

_PICTURES: dict[Tone, tuple[str, str]] = {
    "bad": ("failed", "bad"),
    "warn": ("warning", "warn"),
    "info": ("info", "accent"),
}


class Banner(Card):
    dismissed = Signal()

    def __init__(self, tone: Tone, title: str = "", text: str = "", *, closes: bool = True) -> None:
        super().__init__(tone)
        name, role = _PICTURES[tone]
        self.title = Label(title, "section", wrap=True)
        self.text = Label(text, wrap=True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.advice = Label("", "muted", wrap=True)
        self._buttons = row(0)
        words = stack(self.title, self.text, self.advice)
        words.addLayout(self._buttons)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        middle = Qt.AlignmentFlag.AlignVCenter if closes else Qt.AlignmentFlag.AlignTop
        line.addWidget(Picture(name, theme.LARGE, role), 0, middle)
        line.addLayout(words, 1)
        if closes:
            self.close_button = Button(tr("Dismiss"), "close", "icon", name=tr("Dismiss"))
            self.close_button.clicked.connect(self.dismissed)
            line.addWidget(self.close_button, 0, middle)
        margin, high = theme.MEDIUM + theme.TINY, theme.SMALL if closes else theme.MEDIUM
        self.column.setContentsMargins(margin, high, margin if not closes else high, high)
        self.column.addLayout(line)
        self.tell(title, text)

    def add_button(self, button: Button) -> None:
        self._buttons.setContentsMargins(0, theme.SMALL, 0, 0)
        self._buttons.insertWidget(self._buttons.count() - 1, button)

    def tell(self, title: str, text: str, advice: str = "") -> None:
        self.title.tell(title)
        self.text.tell(text)
        self.advice.tell(advice)
        self.setAccessibleName(title or text)
