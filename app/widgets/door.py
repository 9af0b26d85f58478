"""Who knocked: tells apart a page that is not allowed, a missing key, and silence."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.probe import NAME
from app.widgets.controls import Button, Card, Label, row, stack
from app.widgets.picture import Picture
from app.words import tr
from server.face import Knock
from server.origins import can_be_allowed

Kind = Literal["origin", "key", "preflight", "guest"]
_PICTURES: dict[Kind, tuple[str, str]] = {
    "origin": ("warning", "warn"),
    "key": ("warning", "warn"),
    "preflight": ("info", "accent"),
    "guest": ("check", "good"),
}


@dataclass(frozen=True, slots=True)
class Visitor:
    kind: Kind
    who: str
    at: float


def visitors(knocks: Iterable[Knock], allowed: Iterable[str]) -> list[Visitor]:
    """What the knocks mean, newest first; our own tests are no visitors."""
    welcome = set(allowed)
    found: dict[tuple[str, str], Visitor] = {}
    came = {one.origin for one in knocks if one.outcome == "let in" and one.method != "OPTIONS"}
    for one in sorted(knocks, key=lambda knock: knock.at):
        if one.client == NAME:
            continue
        kind = _kind(one, welcome, came)
        if kind:
            who = one.origin or one.client
            found[(kind, who)] = Visitor(kind, who, one.at)
    return sorted(found.values(), key=lambda visitor: -visitor.at)


def _kind(knock: Knock, welcome: set[str], came: set[str]) -> Kind | None:
    match knock.outcome:
        case "origin":
            return None if knock.origin in welcome else "origin"
        case "key":
            return "key"
        case "let in" if knock.origin in came:
            return "guest"
        case "let in":
            return "preflight"


class Door(Card):
    allowed = Signal(str)
    wants_key = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._shown: list[Visitor] = []
        self.silence = Label("", "muted", wrap=True)
        self.help = Label(_browsers(), "small", wrap=True)
        self.more = Button(tr("Nothing arrives?"), "info")
        self.more.setCheckable(True)
        self.more.toggled.connect(self.help.setVisible)
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.MEDIUM)
        self.column.addLayout(row(Label(tr("At the door"), "headline"), 0, self.more))
        self.column.addWidget(self.silence)
        self.column.addLayout(self._list)
        self.column.addWidget(self.help)
        self.help.hide()
        self.silence.setText(
            tr("No web page has asked for anything yet. Who comes or is turned away is shown here.")
        )

    def show_knocks(self, knocks: tuple[Knock, ...], allowed: tuple[str, ...]) -> None:
        found = visitors(knocks, allowed)[:6]
        if found == self._shown:
            return
        self._shown = found
        while old := self._list.takeAt(0):
            if widget := old.widget():
                widget.hide()
                widget.deleteLater()
        for visitor in found:
            self._list.addWidget(self._line(visitor))
        self.silence.setVisible(not found)

    def _line(self, visitor: Visitor) -> QWidget:
        line = QWidget()
        name, colour = _PICTURES[visitor.kind]
        at = time.strftime("%H:%M:%S", time.localtime(visitor.at))
        words = stack(Label(visitor.who), Label(f"{_meaning(visitor.kind)}  ·  {at}", "small"))
        made = row(Picture(name, theme.LARGE, colour), spacing=theme.MEDIUM)
        made.addLayout(words, 1)
        if visitor.kind == "origin" and can_be_allowed(visitor.who):
            words_of_button = tr("Allow {origin}").format(origin=visitor.who)
            allow = Button(tr("Allow"), "check", "primary", name=words_of_button)
            allow.clicked.connect(lambda: self.allowed.emit(visitor.who))
            made.addWidget(allow)
        if visitor.kind == "key":
            copy = Button(tr("Copy the key"), "copy")
            copy.clicked.connect(self.wants_key)
            made.addWidget(copy)
        line.setLayout(made)
        return line


def _meaning(kind: Kind) -> str:
    return {
        "origin": tr("This page was turned away: its origin is not allowed."),
        "key": tr("The access key was missing or wrong."),
        "preflight": tr("It asked whether it may connect and was told yes; no request followed."),
        "guest": tr("Connected."),
    }[kind]


def _browsers() -> str:
    return tr(
        "When you connect from a web page and nothing appears here, the browser kept the request "
        "back.\n"
        "Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, "
        "then Allow; reload the page.\n"
        "Firefox: allow it when it asks to reach devices on your local network.\n"
        "Brave: the shield icon, then allow localhost for this site.\n"
        "Safari does not let a secure page reach this computer; use another browser."
    )
