"""The small pieces pages are built from: labels, buttons, cards, columns."""

import re
from collections.abc import Callable
from html import escape
from typing import Literal

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.look import icons, theme
from app.look.translate import tr
from server.system.limits import one_line, printable

Tone = Literal["", "bad", "warn", "info", "plain"]
Kind = Literal["", "primary", "icon", "round", "suggestion"]
_COPIED_MS = 1500
LONGEST_LABEL = 20_000
LONGEST_HINT = 1000
LONGEST_NAME = 120
_BREAK = "\u200b"
"""Shows nothing; a line may end there."""
_JOINTS = re.compile(r"(?<=[./-])")
_UNBROKEN = 24


class Label(QLabel):
    """Plain text only: names, reasons and log lines come from elsewhere and are never markup."""

    def __init__(self, text: str = "", role: str = "", *, wrap: bool = False) -> None:
        super().__init__(showable(text))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(wrap)

    def setText(self, text: str) -> None:  # noqa: N802
        super().setText(showable(text))

    def emphasise(self, sentence: str, **names: str) -> None:
        """Show a sentence of ours with the names in it bold. The names stay plain text."""
        bold = {
            place: f"<b>{escape(breakable(showable(name)))}</b>" for place, name in names.items()
        }
        self.setTextFormat(Qt.TextFormat.RichText)
        super().setText(escape(sentence).format(**bold))
        self.setAccessibleName(sentence.format(**names))

    def tell(self, text: str) -> None:
        """Show the text, or take no room when there is none."""
        self.setText(text)
        reveal(self, shown=bool(text))


class Button(QPushButton):
    """A push button whose icon follows the colours of the theme."""

    def __init__(self, text: str = "", icon: str = "", kind: Kind = "", name: str = "") -> None:
        super().__init__("" if kind in ("icon", "round") else text)
        self._icon = icon
        self.setProperty("kind", kind)
        self.setAccessibleName(one_line(name or text))
        if not self.text():
            self.setToolTip(hint(name or text))
        self.setIconSize(QSize(theme.ICON, theme.ICON))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    def set_icon(self, icon: str, name: str) -> None:
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(hint(name))
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (*theme.LOOK_CHANGES, QEvent.Type.EnabledChange):
            self._draw()

    def _draw(self) -> None:
        if not self._icon:
            return
        colours = theme.colours_of(QGuiApplication.palette())
        colour = colours.text if self.property("kind") != "icon" else colours.muted
        if self.property("kind") in ("primary", "round"):
            colour = colours.on_accent
        if not self.isEnabled():
            colour = colours.muted
        self.setIcon(icons.icon(self._icon, colour, theme.ICON))


class CopyButton(Button):
    """Puts text on the clipboard and says so for a moment."""

    def __init__(self, what: str, text: Callable[[], str], kind: Kind = "") -> None:
        super().__init__(tr("Copy"), "copy", kind, name=tr("Copy {what}").format(what=what))
        self._what = what
        self._text = text
        self._back = QTimer(self)
        self._back.setSingleShot(True)
        self._back.setInterval(_COPIED_MS)
        self._back.timeout.connect(self._rest)
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        self.set_icon("check", tr("Copied {what}").format(what=self._what))
        if self.text():
            self.setText(tr("Copied"))
        self._back.start()

    def _rest(self) -> None:
        self.set_icon("copy", tr("Copy {what}").format(what=self._what))
        if self.text():
            self.setText(tr("Copy"))


class Card(QFrame):
    """A quiet box around things that belong together."""

    def __init__(self, tone: Tone = "") -> None:
        super().__init__()
        self.setProperty("tone", tone)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(*([theme.LARGE] * 4))
        self.column.setSpacing(theme.MEDIUM)


class Column(QScrollArea):
    """A page's content: one column of readable width that scrolls when it must."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        inner.setObjectName("column")
        inner.setMaximumWidth(theme.READING_WIDTH + 2 * theme.PAGE_MARGIN)
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        self.body.setSpacing(theme.LARGE)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setWidget(inner)


def showable(text: str) -> str:
    """Text from elsewhere as a label may hold it: nothing that steers a screen, and not endless.

    A label lays out all of its text at once, so a long one would stop the window.
    """
    if len(text) > LONGEST_LABEL:
        text = f"{text[:LONGEST_LABEL]}…"
    return printable(text)


def hint(text: str) -> str:
    """A tooltip: Qt would read one that looks like HTML as such."""
    text = shortened(printable(text), LONGEST_HINT)
    return f"<p>{escape(text)}</p>" if "<" in text else text


def secrets_words(plain_file: str) -> str:
    """Where a secret is kept. It is said where one is entered, before it is."""
    if not plain_file:
        return tr("It is stored in the system's keyring.")
    words = tr(
        "This system has no usable keyring: it is stored unencrypted in {file}, readable "
        "only by you."
    )
    return words.format(file=breakable(plain_file))


def short_name(text: str) -> str:
    """A name from elsewhere as a line of a list."""
    return shortened(one_line(text), LONGEST_NAME)


def for_menu(text: str) -> str:
    """A name in a menu or on a button, where & underlines the letter after it."""
    return short_name(text).replace("&", "&&")


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Cut in the middle: the end of an address tells whose it is."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[len(text) - most // 2 :]}"


def breakable(text: str) -> str:
    """A long name may go on in the next line after a dot, a slash or a hyphen, or within a part."""
    parts = _JOINTS.split(text)
    pieces = [part[at : at + _UNBROKEN] for part in parts for at in range(0, len(part), _UNBROKEN)]
    return _BREAK.join(pieces)


def reveal(widget: QWidget, *, shown: bool) -> None:
    """Show or hide; but a widget that is in no window yet would open as one of its own."""
    if not shown or widget.parentWidget():
        widget.setVisible(shown)


def row(*parts: QWidget | int, spacing: int = theme.SMALL) -> QHBoxLayout:
    """Widgets side by side; a 0 is a stretch."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    for part in parts:
        if isinstance(part, QWidget):
            made.addWidget(part)
        else:
            made.addStretch(1)
    return made


def stack(*parts: QWidget, spacing: int = theme.TINY) -> QVBoxLayout:
    made = QVBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    for part in parts:
        made.addWidget(part)
    return made


def divider() -> QFrame:
    line = QFrame()
    line.setObjectName("divider")
    line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return line


def restyle(widget: QWidget) -> None:
    """Make Qt read the style sheet again after a property it selects by has changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
