"""The Activity page: tables of all requests that came in and all connections that went out."""

import time
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStackedWidget,
    QTableView,
)

from app.look import theme
from app.look.controls import Label, Segments, hint, row, short_name, stack
from app.look.icons import Picture
from app.look.page import Page
from app.look.summary import size
from app.look.translate import numeral, told, tr
from server.face.core import AnsweredRequest, Face, Use, find_away, is_here
from server.settings import Settings

Index = QModelIndex | QPersistentModelIndex
Row = tuple[str, ...]
_WIDEST_NAME, _WIDEST_PURPOSE = 140, 280


class Table(QAbstractTableModel):
    def __init__(self, heads: Sequence[str], numbers: Sequence[int], parent: QObject) -> None:
        super().__init__(parent)
        self._heads = heads
        self._numbers = frozenset(numbers)
        self._rows: list[Row] = []

    def show_rows(self, rows: list[Row]) -> None:
        if rows == self._rows:
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, _parent: Index | None = None) -> int:  # noqa: N802
        return len(self._rows)

    def columnCount(self, _parent: Index | None = None) -> int:  # noqa: N802
        return len(self._heads)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        text = self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return short_name(text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            # A screen reader names the cell by this, even if it is empty.
            return f"{self._heads[index.column()]}: {short_name(text) or tr('None')}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint(text)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self._numbers:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in self._numbers else (
                Qt.AlignmentFlag.AlignLeft
            )  # fmt: skip
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


class TableView(QTableView):
    """A table. The columns `wide` share the remaining space.

    The `spare` columns are hidden one after another while there is too little space for all.
    No other column is wider than `widest`, except the last.
    """

    def __init__(
        self,
        model: Table,
        name: str,
        wide: Sequence[int],
        spare: Sequence[int],
        widest: int,
    ) -> None:
        super().__init__()
        self._spare = spare
        self._widest = widest
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        # Otherwise a long name ends at a line break, and only https:// remains of an address.
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(32)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in wide:
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        model.modelReset.connect(self._make_room)

    def sizeHintForColumn(self, column: int) -> int:  # noqa: N802
        """Limits the width, except of the last column. A tooltip shows the whole text."""
        needed = super().sizeHintForColumn(column)
        return needed if column == self.model().columnCount() - 1 else min(needed, self._widest)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        head = self.horizontalHeader()
        needed = {
            column: max(self.sizeHintForColumn(column), head.sectionSizeHint(column))
            for column in range(self.model().columnCount())
        }
        for column in self._spare:
            is_spared = sum(needed.values()) > self.viewport().width()
            self.setColumnHidden(column, is_spared)
            if is_spared:
                del needed[column]


def request_heads() -> tuple[str, ...]:
    return (
        tr("Time"),
        tr("Client"),
        tr("Route"),
        tr("Model"),
        tr("Tokens"),
        tr("Duration"),
        tr("Result"),
    )


def request_row(one: AnsweredRequest) -> Row:
    tokens = (
        f"{numeral(one.prompt_tokens)} → {numeral(one.tokens)}"
        if one.prompt_tokens or one.tokens
        else ""
    )
    took = f"{numeral(one.took_s, '.1f')} s" if one.took_s >= 0.05 else ""
    # Show a page by its host. https is the normal case; http:// stays visible.
    client = one.client.removeprefix("https://") or tr("unnamed")
    return (
        clock(one.started_at), client, one.route, one.model, tokens, took,
        outcome_words(one.outcome),
    )  # fmt: skip


def use_heads() -> tuple[str, ...]:
    return (tr("Time"), tr("Host"), tr("Purpose"), tr("Answer"), tr("Received"))


def use_row(use: Use) -> Row:
    received = size(use.bytes_received) if use.bytes_received else ""
    answer = str(use.status) if use.status else tr("No answer")
    host = tr("{host} (this computer)").format(host=use.host) if is_here(use.host) else use.host
    return clock(use.at), host, told(use.reason), answer, received


def outcome_words(outcome: str) -> str:
    known = {
        "stop": tr("Answered"),
        "length": tr("Length limit"),
        "tool_calls": tr("Tool call"),
        "left": tr("Client disconnected"),
        "cancelled": tr("Cancelled"),
        "server_stopping": tr("Moat stopped"),
        "engine_crashed": tr("Engine stopped"),
        "server_busy": tr("Queue full"),
        "context_length_exceeded": tr("Prompt too long"),
        "invalid_request": tr("Refused"),
        "invalid_schema": tr("Refused"),
        "request_too_large": tr("Refused"),
        "request_timeout": tr("Timed out"),
        "template_failed": tr("Chat template error"),
        "model_not_found": tr("Unknown model"),
        "no_model": tr("No model installed"),
        "model_load_failed": tr("Model not loaded"),
        "out_of_memory": tr("Not enough memory"),
        "model_damaged": tr("Model file damaged"),
        "not_supported": tr("Not supported"),
        "egress_refused": tr("Blocked"),
        "agent_not_found": tr("Unknown agent"),
        "remote_agent_failed": tr("Agent failed"),
        "flow_failed": tr("Flow failed"),
        "topic_refused": tr("Topic refused"),
    }
    return known.get(outcome) or tr("Failed")


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


_REQUESTS, _OUTGOING = range(2)


class ActivityPage(Page):
    title = "Activity"
    icon = "activity"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.summary = Label("", "headline", wrap=True)
        self.detail = Label("", "muted", wrap=True)
        self.mark = Picture("check", theme.HUGE, "good")
        self.parts = Segments(tr("Sections of this page"), (tr("Requests"), tr("Outgoing")))
        self.requests = Table(request_heads(), (4, 5), self)
        self.outgoing = Table(use_heads(), (3, 4), self)
        requests, outgoing = tr("Finished requests"), tr("Outgoing connections")
        self.request_view = TableView(self.requests, requests, (2, 3), (3, 5, 4), _WIDEST_NAME)
        self.outgoing_view = TableView(self.outgoing, outgoing, (1,), (3,), _WIDEST_PURPOSE)
        self.empty = Label("", "muted")
        self._body = QStackedWidget()
        self._lay_out()
        self.parts.chosen.connect(self.turn_to)
        self.observe(core.answered, self.show_requests)
        self.observe(core.outgoing, self.show_outgoing)
        self.observe(core.plugins.unwatched, lambda _: self.show_outgoing(core.outgoing.get()))
        self.observe(core.opened_at, lambda _: self.show_outgoing(core.outgoing.get()))
        self.observe(core.model, lambda _: self.show_outgoing(core.outgoing.get()))
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
        away = [use for use in uses if not is_here(use.host)]
        # Counts what the sentence above counts. A plugin's server on this computer is only listed.
        self.parts.set_text(_OUTGOING, f"{text} ({len(away)})" if away else text)
        unwatched = self.core.plugins.unwatched.get()
        summary = _summary(away, self.core.opened_at.get())
        if unwatched:
            # If a program ran without a sandbox, nobody knows what has left this computer.
            words = tr("Moat cannot monitor the programs of {count} plugins: {names}.")
            summary = words.format(count=len(unwatched), names=", ".join(unwatched))
        self.summary.setText(summary)
        hosts = find_away(self.core.model.get().hosts)
        self.detail.setText(_detail(away, self.core.settings.get(), hosts))
        is_news = bool(away or unwatched)
        self.mark.show_picture("info" if is_news else "check", "accent" if is_news else "good")
        self._show_empty()

    def _show_empty(self) -> None:
        part = self._body.currentIndex()
        shown = (self.requests, self.outgoing)[part]
        words = (tr("No requests yet."), tr("No outgoing connections."))[part]
        self.empty.tell("" if shown.rowCount() else words)
        self._body.setVisible(shown.rowCount() > 0)

    def _lay_out(self) -> None:
        self._body.addWidget(self.request_view)
        self._body.addWidget(self.outgoing_view)
        words = stack(self.summary, self.detail, spacing=2)
        sentence = row(self.mark, words, spacing=theme.MEDIUM, grows=words)
        parts = (Label(tr("Activity"), "title"), sentence, self.parts, self.empty, self._body)
        layout = stack(*parts, spacing=theme.MEDIUM, grows=self._body)
        layout.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        layout.addStretch(0)
        self.setLayout(layout)


def _summary(away: list[Use], opened_at: float) -> str:
    if not away:
        return tr("Nothing has left this computer since {time}.").format(time=_when(opened_at))
    hosts = sorted({use.host.removesuffix(":443") for use in away})
    if len(hosts) == 1:
        return tr("Moat has connected to {host} and nowhere else.").format(host=hosts[0])
    return tr("Moat has connected to {count} hosts.").format(count=len(hosts))


def _detail(away: list[Use], settings: Settings, hosts: tuple[str, ...]) -> str:
    """Describes what leaves the computer. `hosts` are the machines that run the current model."""
    if hosts and not settings.network.offline:
        words = tr("Prompts, documents and answers go to {hosts}, which runs the model.")
        return words.format(hosts=", ".join(hosts))
    if settings.server.listen == "network":
        return tr(
            "Other computers may connect to Moat; they receive the answers to their own questions."
        )
    if settings.network.offline:
        return tr("Offline mode is on: every outgoing connection is blocked.")
    if away:
        last = away[-1]
        return tr("Last at {time}: {why}.").format(time=_when(last.at), why=told(last.reason))
    return tr("Prompts, documents and answers are processed on this computer and stay on it.")


def _when(at: float) -> str:
    then, now = time.localtime(at), time.localtime()
    same_day = then[:3] == now[:3]
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)
