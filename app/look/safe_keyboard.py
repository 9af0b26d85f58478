"""A window in which the keyboard never falls on a control that nobody chose."""

from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

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
