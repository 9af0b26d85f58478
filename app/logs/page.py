"""Logs: live, filtered by level and text, to pause and to copy."""

from contextlib import suppress

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout

from app.logs.view import LogLines, LogView, as_text
from app.look import theme
from app.look.controls import Button, CopyButton, Label, row
from app.look.page import Page
from app.look.translate import tr
from server.errors import LinkLost
from server.face.core import Face

_RECENT = 5000
_TYPING_MS = 150
LEVEL_CHOICES = (
    ("Everything", "debug"),
    ("Info and above", "info"),
    ("Warnings and errors", "warning"),
    ("Errors only", "error"),
)


class LogsPage(Page):
    title = "Logs"
    icon = "logs"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.lines = LogLines(self)
        self.view = LogView(self.lines)
        self.level = QComboBox()
        self.search = QLineEdit()
        self.pause = Button(tr("Pause"), "pause")
        self.copy = CopyButton(tr("the visible or selected lines"), self._copied)
        self.clear = Button(tr("Clear"), "trash", name=tr("Clear the list"))
        self.count = Label("", "small")
        self.detail = Label("", "small", wrap=True)
        self._typing = QTimer(self)
        self._prepare()
        self._lay_out()
        self.observe(core.logged, self.lines.add)
        self.observe(core.server, lambda _: self.run(self._recall()))

    def show_count(self) -> None:
        shown = self.lines.rowCount()
        words = tr("1 line") if shown == 1 else tr("{count} lines")
        text = words.format(count=f"{shown:,}")
        if self.pause.isChecked():
            waiting = tr("{count} new").format(count=f"{self.lines.waiting:,}")
            text = f"{tr('Paused')}  ·  {waiting}  ·  {text}"
        self.count.setText(text)

    def show_detail(self) -> None:
        """The whole of a long line that the list cuts off."""
        chosen = self.view.selectionModel().selectedIndexes()
        self.detail.tell(as_text(self.view.chosen()) if len(chosen) == 1 else "")

    async def _recall(self) -> None:
        """What was logged before we listened; asked again whenever a core may be a new one."""
        with suppress(LinkLost):
            self.lines.recall(await self.core.recent_logs(_RECENT))

    def _copied(self) -> str:
        return as_text(self.view.chosen())

    def _filter(self) -> None:
        self.lines.filter(self.level.currentData(), self.search.text())
        self.view.scrollToBottom()

    def _paused(self, paused: bool) -> None:
        self.lines.pause(paused=paused)
        self.pause.setText(tr("Resume") if paused else tr("Pause"))
        self.pause.set_icon("play" if paused else "pause", self.pause.text())

    def _prepare(self) -> None:
        for words, level in LEVEL_CHOICES:
            self.level.addItem(tr(words), level)
        self.level.setCurrentIndex(1)
        self.level.setAccessibleName(tr("Minimum level"))
        self.level.currentIndexChanged.connect(self._filter)
        self.search.setPlaceholderText(tr("Filter by text"))
        self.search.setAccessibleName(tr("Filter by text"))
        self.search.setClearButtonEnabled(True)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._filter)
        self.search.textChanged.connect(lambda _: self._typing.start())
        self.pause.setCheckable(True)
        self.pause.toggled.connect(self._paused)
        self.clear.clicked.connect(self.lines.clear)
        self.lines.changed.connect(self.show_count)
        self.view.selectionModel().selectionChanged.connect(self.show_detail)
        copying = QAction(tr("Copy"), self)
        copying.setShortcut(QKeySequence.StandardKey.Copy)
        copying.triggered.connect(self.copy.click)
        self.view.addAction(copying)

    def _lay_out(self) -> None:
        self.detail.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(row(Label(tr("Logs"), "title"), 0, self.count))
        bar = row(self.search, self.level, self.pause, self.copy, self.clear)
        bar.setStretch(0, 1)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.detail)
