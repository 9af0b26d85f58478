"""Requests and connections as tables: newest first, a few columns, nothing to edit."""

import time
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.look.controls import hint, short_name
from app.look.sentences import told
from app.look.summary import size
from app.look.translate import tr
from server.face.core import AnsweredRequest, Use

Index = QModelIndex | QPersistentModelIndex
Row = tuple[str, ...]
_ROOMY = 740
_WIDEST = 170


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
    """`wide` is the column that takes the room that is left, `spare` goes when there is little."""

    def __init__(self, model: Table, name: str, wide: int, spare: int) -> None:
        super().__init__()
        self._spare = spare
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(32)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)

    def sizeHintForColumn(self, column: int) -> int:  # noqa: N802
        """A long name is cut; the whole of it is its tool tip."""
        return min(super().sizeHintForColumn(column), _WIDEST)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.setColumnHidden(self._spare, event.size().width() < _ROOMY)


def request_heads() -> tuple[str, ...]:
    return (
        tr("Time"),
        tr("Client"),
        tr("Route"),
        tr("Model"),
        tr("Tokens"),
        tr("Took"),
        tr("Ended"),
    )


def request_row(one: AnsweredRequest) -> Row:
    tokens = f"{one.prompt_tokens:,} → {one.tokens:,}" if one.prompt_tokens or one.tokens else ""
    took = f"{one.took_s:.1f} s" if one.took_s >= 0.05 else ""
    return (
        clock(one.started_at), one.client or tr("unnamed"), one.route, one.model, tokens, took,
        outcome_words(one.outcome),
    )  # fmt: skip


def use_heads() -> tuple[str, ...]:
    return (tr("Time"), tr("Host"), tr("Why"), tr("Answer"), tr("Received"))


def use_row(use: Use) -> Row:
    received = size(use.bytes_received) if use.bytes_received else ""
    answer = str(use.status) if use.status else tr("No answer")
    return clock(use.at), use.host, told(use.reason), answer, received


def outcome_words(outcome: str) -> str:
    known = {
        "stop": tr("Answered"),
        "length": tr("Cut at the limit"),
        "tool_calls": tr("Asked for a tool"),
        "left": tr("Client left"),
        "cancelled": tr("Cancelled"),
        "server_stopping": tr("Moat stopped"),
        "engine_crashed": tr("Engine stopped"),
        "server_busy": tr("Queue was full"),
        "context_length_exceeded": tr("Prompt too long"),
        "invalid_request": tr("Refused"),
        "invalid_schema": tr("Refused"),
        "request_too_large": tr("Refused"),
        "request_timeout": tr("Took too long"),
        "template_failed": tr("Chat template failed"),
        "model_not_found": tr("Unknown model"),
        "no_model": tr("No model is installed"),
        "model_load_failed": tr("Model not loaded"),
        "out_of_memory": tr("Too little memory"),
        "model_damaged": tr("Model is damaged"),
        "not_supported": tr("Not supported"),
        "egress_refused": tr("Not let out"),
        "agent_not_found": tr("Unknown agent"),
        "remote_agent_failed": tr("Agent failed"),
        "flow_failed": tr("Flow failed"),
        "topic_refused": tr("Topic refused"),
    }
    return known.get(outcome) or tr("Failed")


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
