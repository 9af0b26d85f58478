"""What every page is: a widget bound to the core that keeps no copy of its state."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import QMimeData, QSettings, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from server import tasks
from server.errors import AppError
from server.face.core import Face
from server.observe import Disconnect, Value
from server.observe import Signal as Event

T = TypeVar("T")


class Page(QWidget):
    title: ClassVar[str]
    icon: ClassVar[str]
    failed = Signal(object)
    """A command did not work: the AppError that says why."""
    wants_page = Signal(str)
    """Ask the window to turn to the page with this title."""

    def __init__(self, core: Face) -> None:
        super().__init__()
        self.core = core
        self.first: QWidget | None = None
        """Where the keyboard goes when one turns to this page."""
        self._is_wanted: Callable[[Path], bool] = lambda _path: False
        self._take: Callable[[list[Path]], object] = lambda _paths: None
        self._ends: list[Disconnect] = []
        ends = self._ends
        self.destroyed.connect(lambda: [end() for end in ends])

    def close_something(self) -> None:
        """What Esc closes on this page, if anything is open."""

    def remember(self, memory: QSettings) -> None:
        """Restores what a restart must not change, and keeps what changes from now on."""

    def take_drops(
        self, is_wanted: Callable[[Path], bool], take: Callable[[list[Path]], object]
    ) -> None:
        """Let files be dropped on this page. Those that are not wanted are passed over."""
        self._is_wanted, self._take = is_wanted, take
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if self._dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        if found := self._dropped(event.mimeData()):
            event.acceptProposedAction()
            self._take(found)

    def _dropped(self, data: QMimeData) -> list[Path]:
        paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
        return [path for path in paths if self._is_wanted(path)]

    def observe(self, source: Value[T] | Event[T], show: Callable[[T], None]) -> None:
        self._ends.append(source.connect(show))

    def until_gone(self, end: Disconnect) -> None:
        self._ends.append(end)

    def run(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a command; say it when it fails. While the program ends there is none to run it."""
        if tasks.can_spawn():
            tasks.spawn(self._guarded(work), f"{self.title}: command")
        else:
            work.close()

    async def _guarded(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except AppError as error:
            self.failed.emit(error)
