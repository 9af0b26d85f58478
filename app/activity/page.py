"""Activity: every request that came in, and every connection that went out."""

import time
from ipaddress import ip_address

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

from app.activity.tables import Table, TableView, request_heads, request_row, use_heads, use_row
from app.look import theme
from app.look.controls import Label, row
from app.look.page import Page
from app.look.picture import Picture
from app.look.segments import Segments
from app.look.sentences import told
from app.look.translate import tr
from server.face.core import AnsweredRequest, Face, Use
from server.settings import Settings

_REQUESTS, _OUTGOING = range(2)


class ActivityPage(Page):
    title = "Activity"
    icon = "activity"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.summary = Label("", "headline", wrap=True)
        self.detail = Label("", "muted", wrap=True)
        self.mark = Picture("check", theme.HUGE, "good")
        self.parts = Segments(tr("Parts of this page"), (tr("Requests"), tr("Outgoing")))
        self.requests = Table(request_heads(), (4, 5), self)
        self.outgoing = Table(use_heads(), (3, 4), self)
        self.request_view = TableView(self.requests, tr("Requests that have ended"), 2, 3)
        self.outgoing_view = TableView(self.outgoing, tr("Outgoing connections"), 1, 3)
        self.empty = Label("", "muted")
        self._body = QStackedWidget()
        self._lay_out()
        self.parts.chosen.connect(self.turn_to)
        self.observe(core.answered, self.show_requests)
        self.observe(core.outgoing, self.show_outgoing)
        self.observe(core.unwatched, lambda _: self.show_outgoing(core.outgoing.get()))
        self.observe(core.opened_at, lambda _: self.show_outgoing(core.outgoing.get()))
        self.observe(core.settings, lambda _: self.show_outgoing(core.outgoing.get()))

    def turn_to(self, part: int) -> None:
        self._body.setCurrentIndex(part)
        self._show_empty()

    def show_requests(self, answered: tuple[AnsweredRequest, ...]) -> None:
        self.requests.show_rows([request_row(one) for one in reversed(answered)])
        count = len(answered)
        text = tr("Requests")
        self.parts.set_text(_REQUESTS, f"{text} ({count})" if count else text)
        self._show_empty()

    def show_outgoing(self, uses: tuple[Use, ...]) -> None:
        self.outgoing.show_rows([use_row(use) for use in reversed(uses)])
        text = tr("Outgoing")
        self.parts.set_text(_OUTGOING, f"{text} ({len(uses)})" if uses else text)
        away = [use for use in uses if not is_here(use.host)]
        unwatched = self.core.unwatched.get()
        self.summary.setText(
            _unwatched(unwatched) if unwatched else _summary(away, self.core.opened_at.get())
        )
        self.detail.setText(_detail(away, self.core.settings.get()))
        is_news = bool(away or unwatched)
        self.mark.show_picture("info" if is_news else "check", "accent" if is_news else "good")
        self._show_empty()

    def _show_empty(self) -> None:
        part = self._body.currentIndex()
        shown = (self.requests, self.outgoing)[part]
        words = (tr("No request has come yet."), tr("Nothing went out."))[part]
        self.empty.tell("" if shown.rowCount() else words)
        self._body.setVisible(shown.rowCount() > 0)

    def _lay_out(self) -> None:
        self._body.addWidget(self.request_view)
        self._body.addWidget(self.outgoing_view)
        sentence = row(self.mark, spacing=theme.MEDIUM)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.summary)
        words.addWidget(self.detail)
        sentence.addLayout(words, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(Label(tr("Activity"), "title"))
        layout.addLayout(sentence)
        layout.addWidget(self.parts)
        layout.addWidget(self.empty)
        layout.addWidget(self._body, 1)
        layout.addStretch(0)


def is_here(host: str) -> bool:
    """Whether a connection to this host (and port) stayed on this machine."""
    name = host.rpartition(":")[0].strip("[]")
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _unwatched(plugins: tuple[str, ...]) -> str:
    """Where a program ran that no wall surrounds, nobody knows what has left."""
    told = tr("Moat cannot watch the programs of {count} plugins: {names}.")
    return told.format(count=len(plugins), names=", ".join(plugins))


def _summary(away: list[Use], opened_at: float) -> str:
    if not away:
        return tr("Nothing has left this machine since {time}.").format(time=_when(opened_at))
    hosts = sorted({use.host.removesuffix(":443") for use in away})
    if len(hosts) == 1:
        return tr("Moat has connected to {host} and nowhere else.").format(host=hosts[0])
    return tr("Moat has connected to {count} hosts.").format(count=len(hosts))


def _detail(away: list[Use], settings: Settings) -> str:
    if settings.server.listen == "network":
        return tr("Other machines may connect to Moat: their answers go to them.")
    if settings.network.offline:
        return tr("Moat is set to offline: every outgoing connection is refused.")
    if away:
        last = away[-1]
        return tr("Last at {time}: {why}.").format(time=_when(last.at), why=told(last.reason))
    return tr("Prompts, documents and answers are worked on here and stay here.")


def _when(at: float) -> str:
    then, now = time.localtime(at), time.localtime()
    same_day = then[:3] == now[:3]
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)
