"""What every page is: a widget bound to the core that keeps no copy of its state.

And what every window is: one in which the keyboard never falls on a control that nobody chose.
"""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import shiboken6
from PySide6.QtCore import QEvent, QMimeData, QSettings, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
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


if TYPE_CHECKING:
    _Base = QWidget
else:  # Of Qt's classes a window has one; this only stands before it.
    _Base = object


class SafeKeyboard(_Base):
    """For every window and dialog, before the class of Qt's that it is."""

    _is_tab_pressed = False
    _goes_on: QWidget | None = None
    """Where Tab leads after the widget with the keyboard went away."""

    def take_focus_itself(self) -> None:
        """Called once: a window that takes no focus cannot keep the keyboard."""
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def event(self, event: QEvent) -> bool:
        """Tells a Tab key from what Qt does by itself, and looks where the keyboard comes back."""
        if event.type() == QEvent.Type.WindowActivate:
            self._keep_keyboard_safe()
        is_key = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        keys = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        self._is_tab_pressed = is_key and event.key() in keys  # type: ignore[attr-defined]
        try:
            return super().event(event)
        finally:
            self._is_tab_pressed = False

    def _keep_keyboard_safe(self) -> None:
        """While another program is in front, Qt leaves the keyboard with what went away.

        It would move on when the window comes back, so this happens first.
        """
        holder = self.focusWidget()
        if holder is None or not _can_hold_focus(holder, self):
            self._goes_on = _next_in_chain(holder, self) if holder else None
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: N802, A002
        """Qt calls this for the Tab key, and also when the widget with the keyboard goes away.

        Then the widget after it would get the keyboard, and the next press of Space would do
        something nobody chose. The window itself takes the keyboard instead: it does nothing with
        it. The next Tab goes on from where the old widget was.
        """
        holder = self.focusWidget()
        if holder and holder is not self and not _can_hold_focus(holder, self):
            self._goes_on = _next_in_chain(holder, self)
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        if holder is self and not self._is_tab_pressed:
            return True
        goes_on, self._goes_on = self._goes_on, None
        is_there = goes_on is not None and shiboken6.isValid(goes_on)
        if holder is self and next and goes_on and is_there and _can_hold_focus(goes_on, self):
            goes_on.setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return super().focusNextPrevChild(next)


def _can_hold_focus(widget: QWidget, window: QWidget) -> bool:
    return widget.isVisibleTo(window) and widget.isEnabled()


def _next_in_chain(holder: QWidget, window: QWidget) -> QWidget | None:
    """The widget that Tab would have reached from `holder`."""
    widget = holder.nextInFocusChain()
    while widget is not holder and widget is not None:
        takes_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if takes_tab and widget is not window and _can_hold_focus(widget, window):
            return widget
        widget = widget.nextInFocusChain()
    return None
