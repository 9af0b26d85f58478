"""Recent visitors: distinguishes a page that is not allowed, a missing key, and silence."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.desktop.probe import NAME
from app.look import theme
from app.look.controls import (
    Button,
    Card,
    Label,
    breakable,
    delay,
    drop,
    put,
    row,
    shortened,
    stack,
)
from app.look.icons import Picture
from app.look.translate import tr
from server.face.core import Knock
from server.settings import OPENBB_ORIGINS, can_be_allowed
from server.system.limits import one_line

Kind = Literal["origin", "key", "preflight", "guest", "allowed"]
_PICTURES: dict[Kind, tuple[str, str]] = {
    "origin": ("warning", "warn"),
    "key": ("warning", "warn"),
    "preflight": ("info", "accent"),
    "guest": ("check", "good"),
    "allowed": ("check", "good"),
}
_MOST = 6
"""The most visitors that are shown."""
_STILL_MS = 800
"""Milliseconds for which buttons are disabled after a line has moved."""
_SHARED = frozenset(
    (
        "github.io",
        "gitlab.io",
        "vercel.app",
        "netlify.app",
        "pages.dev",
        "workers.dev",
        "web.app",
        "firebaseapp.com",
        "herokuapp.com",
        "azurewebsites.net",
        "cloudfront.net",
        "amazonaws.com",
        "onrender.com",
        "fly.dev",
        "ngrok.io",
        "ngrok.app",
        "ngrok-free.app",
        "trycloudflare.com",
        "blogspot.com",
        "appspot.com",
        "run.app",
    )
)
"""Hosts that give names to anyone, so that a name below them says nothing about its owner."""


@dataclass(frozen=True, slots=True)
class Visitor:
    kind: Kind
    who: str
    at: float


def visitors(knocks: Iterable[Knock], allowed: Iterable[str]) -> list[Visitor]:
    """Returns what the connection attempts mean, newest first. Leaves out Moat's own tests."""
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
    """The list of recent visitors, with buttons to allow an origin or to undo that."""

    allowed = Signal(str)
    removed = Signal(str)
    """Emitted with an origin that is no longer allowed."""
    wants_key = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._let_in: dict[str, Visitor] = {}
        """The visitors that were allowed here. Each keeps its place, so that it can be undone."""
        self.silence = Label("", "muted", wrap=True)
        self.help = Label(_browsers(), "small", wrap=True)
        self.more = Button(tr("Not connecting?"), "info")
        self.more.setCheckable(True)
        self.more.toggled.connect(self.help.setVisible)
        self._lines: dict[tuple[str, str], _Line] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.MEDIUM)
        head = row(Label(tr("Recent connection attempts"), "headline"), 0, self.more)
        put(self.column, head, self.silence, self._list, self.help)
        self.help.hide()
        self._still = delay(self, _STILL_MS, lambda: self._open_lines(is_open=True))
        self.show_knocks((), ())

    def show_knocks(self, knocks: tuple[Knock, ...], allowed: tuple[str, ...]) -> None:
        """Updates the lines. They keep their places and new ones come below, so no button moves.

        If a line above goes away, the buttons are disabled for a moment, so that nobody presses the
        wrong one.
        """
        found = visitors(knocks, allowed)[:_MOST]
        kept = [one for who, one in self._let_in.items() if who in allowed]
        self._let_in = {one.who: one for one in kept}
        # The line that was pressed is replaced by one that confirms it and can undo it.
        told = {one.who for one in kept}
        wanted = {(one.kind, one.who): one for one in found if one.who not in told}
        wanted |= {("allowed", one.who): one for one in kept}
        places = list(self._lines)
        gone = [key for key in places if key not in wanted]
        for key in gone:
            self._drop(key, wanted.get(("allowed", key[1])))
        for key in [key for key in reversed(wanted) if key not in self._lines]:
            self._put(wanted[key], self._list.count(), allowed)
        for key, visitor in wanted.items():
            self._lines[key].show_time(visitor.at)
        self._hold_still(gone, places)
        self.silence.setVisible(not found)
        self.silence.setText(
            tr("No other page has tried to connect.")
            if kept
            else tr(
                "No web page has tried to connect yet. Each attempt is shown here, allowed "
                "or blocked."
            )
        )

    def _hold_still(self, gone: list[tuple[str, str]], places: list[tuple[str, str]]) -> None:
        moved = any(key in self._lines for place in gone for key in places[places.index(place) :])
        if moved:
            self._open_lines(is_open=False)
            self._still.start()

    def _open_lines(self, *, is_open: bool) -> None:
        for line in self._lines.values():
            line.open(is_open=is_open)

    def _drop(self, key: tuple[str, str], instead: Visitor | None) -> None:
        """Removes a line. A visitor that was just allowed takes its place."""
        line = self._lines.pop(key)
        place = self._list.indexOf(line)
        drop(self._list, line)
        if instead and (instead.kind, instead.who) not in self._lines:
            self._put(instead, place, (instead.who,))

    def _put(self, visitor: Visitor, place: int, allowed: tuple[str, ...]) -> None:
        can_remove = visitor.who in allowed and visitor.who not in OPENBB_ORIGINS
        line = self._lines[(visitor.kind, visitor.who)] = _Line(visitor, can_remove=can_remove)
        work = {
            "allow": lambda: self._allow(visitor),
            "remove": lambda: self.removed.emit(visitor.who),
            "copy": self.wants_key.emit,
        }
        for name, button in line.buttons.items():
            button.clicked.connect(work[name])
        self._list.insertWidget(place, line)

    def _allow(self, visitor: Visitor) -> None:
        self._let_in[visitor.who] = Visitor("allowed", visitor.who, visitor.at)
        self.allowed.emit(visitor.who)


class _Line(QWidget):
    """A visitor: who it is, what happened, and what can be done."""

    def __init__(self, visitor: Visitor, *, can_remove: bool) -> None:
        super().__init__()
        who = one_line(visitor.who)
        self._kind = visitor.kind
        self._asks = visitor.kind == "origin" and can_be_allowed(visitor.who)
        self.sentence = Label(wrap=True)
        if visitor.kind in ("origin", "allowed") and can_be_allowed(visitor.who):
            words = tr("Pages of {site} may use your models now.")
            if self._asks:
                words = tr("Let pages of {site} use your models?")
            self.sentence.emphasise(words, site=site_of(who))
        else:
            self.sentence.setText(breakable(shortened(who)))
        self.origin = Label(breakable(who), "small", wrap=True)
        self.origin.setHidden(self.sentence.text() == self.origin.text() or not self._is_page())
        self.note = Label(_note(who), "warn", wrap=True)
        self.note.setHidden(not self.note.text() or not self._is_page())
        self.meaning = Label("", "small", wrap=True)
        self.buttons: dict[str, Button] = {}
        if self._asks:
            words_of_button = tr("Allow {origin}").format(origin=visitor.who)
            self.buttons["allow"] = Button(tr("Allow"), "check", name=words_of_button)
        if can_remove:
            words_of_button = tr("No longer allow {origin}").format(origin=visitor.who)
            undo = tr("Undo") if visitor.kind == "allowed" else tr("Remove")
            self.buttons["remove"] = Button(undo, "reset", name=words_of_button)
        if visitor.kind == "key":
            self.buttons["copy"] = Button(tr("Copy the key"), "copy")
        self._lay_out()
        self.show_time(visitor.at)

    def show_time(self, at: float) -> None:
        clock = time.strftime("%H:%M:%S", time.localtime(at))
        self.meaning.setText(f"{_meaning(self._kind)}  ·  {clock}")

    def open(self, *, is_open: bool) -> None:
        if "allow" in self.buttons:
            self.buttons["allow"].setEnabled(is_open)

    def _is_page(self) -> bool:
        return self._kind in ("origin", "allowed") and bool(self.sentence.text())

    def _lay_out(self) -> None:
        name, colour = _PICTURES[self._kind]
        words = stack(self.sentence, self.origin, self.note, self.meaning)
        picture = Picture(name, theme.LARGE, colour)
        self.setLayout(
            row(picture, words, *self.buttons.values(), spacing=theme.MEDIUM, grows=words)
        )


def site_of(origin: str) -> str:
    """Returns the end of a host that shows whose page it is.

    There is no list of public suffixes here. It takes two labels, or three if the last two are
    shared by many. An IP address stays whole. The whole origin is always shown below it.
    """
    host = origin.partition("://")[2] or origin
    name = host if host.startswith("[") else host.partition(":")[0]
    labels = name.split(".")
    if host.startswith("[") or len(labels) < 3 or labels[-1].isdecimal():
        return host
    is_national = len(labels[-1]) == 2 and len(labels[-2]) <= 3
    is_shared = ".".join(labels[-2:]) in _SHARED
    return ".".join(labels[-3 if is_national or is_shared else -2 :])


def _note(origin: str) -> str:
    host = origin.partition("://")[2]
    if any(label.startswith("xn--") for label in host.split(".")):
        return tr(
            "This address has letters that a browser may show in another script (xn--). "
            "They can look like those of another address."
        )
    return ""


def _meaning(kind: Kind) -> str:
    return {
        "origin": tr("Blocked: this origin is not allowed."),
        "key": tr("The access key was missing or wrong."),
        "preflight": tr("The browser asked for permission and got it, but no request followed."),
        "guest": tr("Connected."),
        "allowed": tr("You just allowed it."),
    }[kind]


def _browsers() -> str:
    return tr(
        "When you connect from a web page and nothing appears here, the browser kept the request "
        "back.\n"
        "Chrome, Edge (142 and later): the icon left of the address, then “Local network access”, "
        "then Allow; reload the page.\n"
        "Firefox: allow it when it asks to reach devices on your local network.\n"
        "Brave: the shield icon, then allow localhost for this site.\n"
        "Safari: turn on HTTPS on this page first."
    )
