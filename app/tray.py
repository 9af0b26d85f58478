"""The tray: an icon that tells the state, and a menu made from the state each time it opens."""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app import icons, state
from app.state import Look, Summary
from server import tasks
from server.errors import AppError
from server.face import Face

_NOTICE_MS = 10_000


class Tray(QObject):
    wants_window = Signal()
    wants_logs = Signal()
    wants_quit = Signal()

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core
        self._look: Look | None = None
        self.menu = QMenu()
        self._models = QMenu("Model", self.menu)
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(self.wants_window)
        self.menu.aboutToShow.connect(self.build)
        self._end = state.watch(core, self.show_summary)
        self.build()

    def show(self) -> None:
        self.icon.show()

    def close(self) -> None:
        self._end()
        self.icon.hide()

    def tell(self, title: str, text: str) -> None:
        kind = QSystemTrayIcon.MessageIcon.Information
        self.icon.showMessage(title, text, kind, _NOTICE_MS)

    def show_summary(self, summary: Summary) -> None:
        self.icon.setToolTip(f"Moat: {summary.headline}")
        if summary.look == self._look:
            return
        self.icon.setIcon(icons.tray_icon(summary.look))
        if summary.look == "failed" and self.icon.isVisible():
            kind = QSystemTrayIcon.MessageIcon.Critical
            self.icon.showMessage(summary.headline, summary.detail, kind, _NOTICE_MS)
        self._look = summary.look

    def build(self) -> None:
        server, model = self._core.server.get(), self._core.model.get()
        summary = state.summarise(server, model, self._core.requests.get())
        self.menu.clear()
        self._add(summary.headline).setEnabled(False)
        self.menu.addSeparator()
        if server.phase == "ready":
            self._add("Stop", lambda: self._run(self._core.stop()))
        else:
            starting = server.phase == "starting"
            start = self._add("Start", lambda: self._run(self._core.start()))
            start.setEnabled(not starting)
        self._build_models()
        self._add("Copy address", self._copy_address).setEnabled(bool(server.address))
        self.menu.addSeparator()
        self._add("Open Moat", self.wants_window.emit)
        self._add("Logs", self.wants_logs.emit)
        self.menu.addSeparator()
        self._add("Quit Moat", self.wants_quit.emit)

    def _build_models(self) -> None:
        core = self._core
        model = core.model.get()
        self._models.clear()
        for card in core.models.get():
            action = self._models.addAction(card.name)
            action.setCheckable(True)
            action.setChecked(card.name == model.name and model.phase in ("ready", "loading"))
            action.triggered.connect(lambda _, name=card.name: self._run(core.load_model(name)))
        if self._models.isEmpty():
            self._models.addAction("No model is installed").setEnabled(False)
        if model.phase == "ready":
            self._models.addSeparator()
            unload = self._models.addAction("Unload")
            unload.triggered.connect(lambda: self._run(core.unload_model()))
        self._models.setEnabled(model.phase != "loading")
        self.menu.addMenu(self._models)

    def _add(self, text: str, act: Callable[[], object] | None = None) -> QAction:
        action = self.menu.addAction(text)
        if act:
            action.triggered.connect(lambda: act())
        return action

    def _copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._core.server.get().address)

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        tasks.spawn(self._guarded(work), "tray: command")

    async def _guarded(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except AppError as error:
            self.tell("That did not work", str(error))

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        clicks = (
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        )
        if reason in clicks:
            self.wants_window.emit()
