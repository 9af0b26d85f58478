"""The tray: an icon that shows the state, and a menu that is rebuilt each time it opens."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.look import icons
from app.look.controls import for_menu
from app.look.summary import Look, Summary, phase_of, summarise, watch
from app.look.translate import told, tr
from app.plugins.questions import name_plugin
from server import tasks
from server.errors import AppError
from server.face.core import Face, ModelStatus
from server.face.models import Download, ModelCard
from server.face.plugins import FormCard
from server.observe import Disconnect, Value
from server.system.limits import one_line, printable

T = TypeVar("T")


class News(Generic[T]):
    """Calls `tell` for items that are new or whose `phase` has changed.

    Items have an `id`; those that exist at first are not news. With `arrivals=False` a new item is
    not news either: while there is no server the list is empty, and what comes then may be a week
    old.
    """

    def __init__(
        self, source: Value[tuple[T, ...]], tell: Callable[[T], None], *, arrivals: bool = True
    ) -> None:
        self._known = _phases(source.get())
        self._tell = tell
        self._arrivals = arrivals
        self.end: Disconnect = source.connect(self._hear)

    def _hear(self, items: tuple[Any, ...]) -> None:
        before, now = self._known, _phases(items)
        self._known = now if self._arrivals else {**before, **now}
        for item in items:
            if before[item.id] != now[item.id] if item.id in before else self._arrivals:
                self._tell(item)


def _phases(items: tuple[Any, ...]) -> dict[Any, Any]:
    return {item.id: getattr(item, "phase", "") for item in items}


KEPT = 20
"""How many models are remembered."""
_KEY = "models/recent"


class RecentModels:
    """The models that were used last. Without `memory` only those of this run are known."""

    def __init__(self, core: Face, memory: QSettings | None = None) -> None:
        self._memory = memory
        kept = memory.value(_KEY) if memory else None
        # QSettings returns a list with one name as a text.
        self._names = [kept] if isinstance(kept, str) else []
        if isinstance(kept, list):
            self._names = [str(one) for one in kept]
        self.end: Disconnect = core.model.connect(self._see)

    def ordered(self, cards: tuple[ModelCard, ...]) -> list[ModelCard]:
        """Returns the cards, the most recently used first, the others by name."""
        places = {name: place for place, name in enumerate(self._names)}
        return sorted(
            cards, key=lambda card: (places.get(card.name, len(places)), card.name.casefold())
        )

    def count(self, cards: tuple[ModelCard, ...]) -> int:
        """Returns how many of these models were ever used."""
        return sum(card.name in self._names for card in cards)

    def _see(self, model: ModelStatus) -> None:
        if model.phase != "ready" or not model.name or self._names[:1] == [model.name]:
            return
        others = [name for name in self._names if name != model.name]
        self._names = [model.name, *others][:KEPT]
        if self._memory is not None:
            self._memory.setValue(_KEY, self._names)


_NOTICE_MS = 10_000
"""Milliseconds that a notification is shown."""


class Tray(QObject):
    """The tray icon with its menu and notifications."""

    wants_window = Signal()
    wants_logs = Signal()
    wants_quit = Signal()

    def __init__(self, core: Face, memory: QSettings | None = None) -> None:
        super().__init__()
        self._core = core
        self._look: Look | None = None
        self._recent = RecentModels(core, memory)
        self.menu = QMenu()
        self._models = QMenu(tr("Model"), self.menu)
        self._requests = QMenu(self.menu)
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(self.wants_window)
        self.menu.aboutToShow.connect(self.build)
        self._ends = [
            watch(core, self.show_summary),
            News(core.models.downloads, self._tell_download, arrivals=False).end,
            News(
                core.plugins.approvals,
                lambda one: self.tell(tr("A plugin asks for your permission"), one.title),
            ).end,
            News(core.plugins.forms, self._tell_form).end,
            self._recent.end,
        ]
        self.build()

    def show(self) -> None:
        self.icon.show()

    def close(self) -> None:
        for end in self._ends:
            end()
        self.icon.hide()

    def tell(self, title: str, text: str) -> None:
        # Pass our icon: with one of Qt's the panel would show that instead of ours for a while.
        self.icon.showMessage(one_line(title), printable(text), self.icon.icon(), _NOTICE_MS)

    def show_summary(self, summary: Summary) -> None:
        lines = (f"Moat: {summary.headline}", summary.away)
        self.icon.setToolTip("\n".join(filter(None, lines)))
        if summary.look == self._look:
            return
        self.icon.setIcon(icons.tray_icon(summary.look))
        if summary.look == "failed" and self.icon.isVisible():
            self.tell(summary.headline, summary.detail)
        self._look = summary.look

    def build(self) -> None:
        server, model = self._core.server.get(), self._core.model.get()
        summary = summarise(server, model, self._core.requests.get())
        self.menu.clear()
        self._add(summary.headline).setEnabled(False)
        if summary.away:
            self._add(for_menu(summary.away)).setEnabled(False)
        self.menu.addSeparator()
        if server.phase == "ready":
            self._add(tr("Stop"), lambda: self._run(self._core.stop()))
        else:
            starting = server.phase == "starting"
            words = tr("Restart") if server.phase == "hung" else tr("Start")
            start = self._add(words, lambda: self._run(self._core.start()))
            start.setEnabled(not starting)
        self._build_models()
        self._build_requests()
        self._build_plugins()
        copy = partial(QGuiApplication.clipboard().setText, server.address)
        self._add(tr("Copy address"), copy).setEnabled(bool(server.address))
        self.menu.addSeparator()
        self._add(tr("Open Moat"), self.wants_window.emit)
        self._add(tr("Logs"), self.wants_logs.emit)
        self.menu.addSeparator()
        self._add(tr("Quit Moat"), self.wants_quit.emit)

    def _build_models(self) -> None:
        core = self._core
        model = core.model.get()
        self._models.clear()
        cards = core.models.cards.get()
        used = self._recent.count(cards)
        for place, card in enumerate(self._recent.ordered(cards)):
            if 0 < used == place:
                self._models.addSeparator()
            action = self._models.addAction(for_menu(card.name))
            action.setCheckable(True)
            action.setChecked(card.name == model.name and model.phase in ("ready", "loading"))
            action.triggered.connect(lambda _, name=card.name: self._run(core.load_model(name)))
        if self._models.isEmpty():
            self._models.addAction(tr("No model installed")).setEnabled(False)
        if model.phase in ("ready", "loading"):
            self._models.addSeparator()
            loads = model.phase == "loading"
            unload = self._models.addAction(tr("Stop loading") if loads else tr("Unload"))
            unload.triggered.connect(lambda: self._run(core.unload_model()))
        self.menu.addMenu(self._models)

    def _build_requests(self) -> None:
        running = self._core.requests.get()
        self._requests.clear()
        self._requests.setTitle(tr("Running requests ({count})").format(count=len(running)))
        for request in running:
            who = request.client or tr("Unnamed client")
            text = tr("Cancel {who}: {what}").format(who=who, what=phase_of(request))
            action = self._requests.addAction(for_menu(text))
            action.triggered.connect(
                lambda _, number=request.id: self._run(self._core.cancel_request(number))
            )
        if running:
            self.menu.addMenu(self._requests)

    def _build_plugins(self) -> None:
        core = self._core
        if core.settings.get().plugins.paused:
            words, paused = tr("Resume plugins"), False
        elif any(card.enabled for card in core.plugins.cards.get()):
            words, paused = tr("Pause plugins"), True
        else:
            return
        self._add(words, lambda: self._run(core.change_setting("plugins.paused", paused)))

    def _tell_download(self, download: Download) -> None:
        if download.phase == "done":
            self.tell(tr("Download finished"), download.name)
        elif download.phase == "failed":
            self.tell(tr("Download failed"), f"{download.name}: {told(download.reason)}")

    def _tell_form(self, form: FormCard) -> None:
        words = tr("{plugin} needs more information")
        named = name_plugin(form, self._core.plugins.cards.get())
        self.tell(words.format(plugin=named.plugin), tr("Open Moat to fill in its form."))

    def _add(self, text: str, act: Callable[[], object] | None = None) -> QAction:
        action = self.menu.addAction(text)
        if act:
            action.triggered.connect(lambda: act())
        return action

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        tasks.spawn(self._guarded(work), "tray: command")

    async def _guarded(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except AppError as error:
            self.tell(tr("Something went wrong"), told(str(error)))

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        clicks = (
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        )
        if reason in clicks:
            self.wants_window.emit()
