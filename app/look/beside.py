"""A page's main part with panels at its sides: next to it where there is room, else over it."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import restyle

_INSET = theme.PAGE_MARGIN - theme.MEDIUM


class Panel(QFrame):
    """Holds what stands at a side; `over` when it covers the main part."""

    def __init__(self, content: QWidget, width: int) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.wide = width
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(content)

    def show_over(self, *, over: bool) -> None:
        if self.property("over") != over:
            self.setProperty("over", over)
            restyle(self)


class Beside(QWidget):
    def __init__(self, main: QWidget, left: Panel, right: Panel) -> None:
        super().__init__()
        self.main, self.left, self.right = main, left, right
        for part in (main, left, right):
            part.setParent(self)
        for panel in (left, right):
            panel.hide()

    def open(self, panel: Panel, *, shown: bool) -> None:
        panel.setVisible(shown)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Over the main part rather than squeezing it to nothing."""
        whole = self.rect()
        panels = [one for one in (self.left, self.right) if one.isVisibleTo(self)]
        taken = sum(one.wide + _INSET for one in panels)
        over = whole.width() - taken < theme.LEAST_READING
        free = QRect(whole)
        for panel in panels:
            wide = min(panel.wide, whole.width() - 2 * _INSET)
            is_left = panel is self.left
            x = _INSET if is_left else whole.width() - wide - _INSET
            panel.setGeometry(x, 0, wide, whole.height())
            panel.show_over(over=over)
            panel.raise_()
            if not over and is_left:
                free.setLeft(x + wide)
            elif not over:
                free.setRight(x - 1)
        self.main.setGeometry(free)
