"""The base of all pages: a widget that observes the core and keeps no copy of its state.

`SafeKeyboard` is the base of all windows: the keyboard focus never moves by itself to a control
that nobody chose.
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
    """A page of the window. `title` also names it in `wants_page`."""

    title: ClassVar[str]
    icon: ClassVar[str]
    failed = Signal(object)
    """Emitted with the AppError of a command that failed."""
    wants_page = Signal(str)
    """Emitted with the title of a page that the window shall show."""

    def __init__(self, core: Face) -> None:
        super().__init__()
        self.core = core
        self.first: QWidget | None = None
        """The widget that gets the focus when this page is shown."""
        self._is_wanted: Callable[[Path], bool] = lambda _path: False
        self._take: Callable[[list[Path]], object] = lambda _paths: None
        self._ends: list[Disconnect] = []
        ends = self._ends
        self.destroyed.connect(lambda: [end() for end in ends])

    def close_something(self) -> None:
        """Closes what Esc closes on this page, if anything is open."""

    def remember(self, memory: QSettings) -> None:
        """Restores what was saved in `memory`, and saves later changes."""

    def take_drops(
        self, is_wanted: Callable[[Path], bool], take: Callable[[list[Path]], object]
    ) -> None:
        """Accepts files that are dropped on this page. Ignores those that are not wanted."""
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
        """Runs a command, and emits `failed` on an error. Does nothing while the program ends."""
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
else:  # At run time it is a mixin: a window has only one Qt base class.
    _Base = object


class SafeKeyboard(_Base):
    """A mixin for windows and dialogs, placed before their Qt class."""

    _is_tab_pressed = False
    _goes_on: QWidget | None = None
    """The widget that Tab goes to after the widget with the focus has disappeared."""

    def take_focus_itself(self) -> None:
        """Lets the window itself have the focus. Must be called once."""
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def event(self, event: QEvent) -> bool:
        """Distinguishes a Tab key from Qt's own moves. Checks the focus on activation."""
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
        """Takes the focus from a widget that disappeared while another program was in front.

        Qt would otherwise move the focus to the next widget when the window comes back.
        """
        holder = self.focusWidget()
        if holder is None or not _can_hold_focus(holder, self):
            self._goes_on = _next_in_chain(holder, self) if holder else None
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: N802, A002
        """Moves the focus. Qt calls this for Tab, and when the widget with the focus disappears.

        In the second case the next widget would get the focus, and the next press of Space would do
        something that nobody chose. So the window itself takes the focus, where keys do nothing.
        The next Tab continues from where the old widget was.
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
    """Returns the widget that Tab would have reached from `holder`."""
    widget = holder.nextInFocusChain()
    while widget is not holder and widget is not None:
        takes_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if takes_tab and widget is not window and _can_hold_focus(widget, window):
            return widget
        widget = widget.nextInFocusChain()
    return None
