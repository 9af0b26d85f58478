"""Layouts that pages share: panels beside a page, a centred column, a strip that scrolls."""

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QWidget,
    QWidgetItem,
)

from app.look import theme
from app.look.controls import restyle, stack

_INSET = theme.PAGE_MARGIN - theme.MEDIUM


class Panel(QFrame):
    """A panel at the side of a page. Its property `over` is set while it covers the main part."""

    widened = Signal(int)
    """Emitted with the new width, in pixels, when its edge was dragged."""

    def __init__(self, content: QWidget, width: int) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.wide = width
        self.edge = Edge(self)
        self.edge.dragged.connect(self._widen)
        self.setLayout(stack(content))

    def widen(self, width: int) -> None:
        self.wide = max(theme.LEAST_PANEL, min(theme.MOST_PANEL, width))

    def _widen(self, by: int) -> None:
        self.widen(self.wide + by)
        self.widened.emit(self.wide)

    def show_over(self, *, over: bool) -> None:
        if self.property("over") != over:
            self.setProperty("over", over)
            restyle(self)


class Edge(QWidget):
    """The strip of a panel that is dragged to change its width."""

    dragged = Signal(int)
    """Emitted with the pixels that the pointer moved to the right; negative to the left."""

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFixedWidth(theme.SMALL)
        self._at = 0.0

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._at = event.globalPosition().x()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        before, self._at = self._at, event.globalPosition().x()
        self.dragged.emit(round(self._at - before))


class Beside(QWidget):
    """A main part with a panel on either side."""

    def __init__(self, main: QWidget, left: Panel, right: Panel) -> None:
        super().__init__()
        self.main, self.left, self.right = main, left, right
        for part in (main, left, right):
            part.setParent(self)
        for panel in (left, right):
            panel.hide()
        right.edge.hide()
        left.widened.connect(lambda _: self._place())

    def open(self, panel: Panel, *, shown: bool) -> None:
        panel.setVisible(shown)
        self._place()

    def fits(self, *panels: Panel) -> bool:
        """Whether the main part has enough space beside these panels."""
        taken = sum(panel.wide + _INSET for panel in panels)
        return self.width() - taken >= theme.LEAST_READING

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Places the parts. Panels cover the main part if it would become too narrow."""
        whole = self.rect()
        panels = [one for one in (self.left, self.right) if one.isVisibleTo(self)]
        over = not self.fits(*panels)
        free = QRect(whole)
        for panel in panels:
            wide = min(panel.wide, whole.width() - 2 * _INSET)
            is_left = panel is self.left
            x = _INSET if is_left else whole.width() - wide - _INSET
            panel.setGeometry(x, 0, wide, whole.height())
            panel.show_over(over=over)
            panel.edge.setGeometry(wide - panel.edge.width(), 0, panel.edge.width(), whole.height())
            panel.edge.raise_()
            panel.raise_()
            if not over and is_left:
                free.setLeft(x + wide)
            elif not over:
                free.setRight(x - 1)
        self.main.setGeometry(free)


def centred(part: QWidget) -> QHBoxLayout:
    part.setMaximumWidth(theme.READING_WIDTH)
    line = QHBoxLayout()
    line.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
    line.addStretch(1)
    line.addWidget(part, 1000)
    line.addStretch(1)
    return line


class Flow(QLayout):
    """A layout that places widgets side by side, in as many lines as they need."""

    def __init__(self, *parts: QWidget, at_right: bool = False) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._at_right = at_right
        self.setContentsMargins(0, 0, 0, 0)
        for part in parts:
            self.addWidget(part)

    def addWidget(self, widget: QWidget) -> None:  # noqa: N802
        # An item made here belongs to Python. Of one that Qt makes, Python may take the address
        # for that of an item which Qt deleted before, and call it deleted, too.
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    # Qt expects None at the end; not every version's stubs allow that.
    def itemAt(self, index: int) -> QLayoutItem:  # noqa: N802
        return cast("QLayoutItem", self._items[index] if 0 <= index < len(self._items) else None)

    def takeAt(self, index: int) -> QLayoutItem:  # noqa: N802
        found = self._items.pop(index) if 0 <= index < len(self._items) else None
        return cast("QLayoutItem", found)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._place(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._place(rect, moves=True)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802
        sizes = [item.minimumSize() for item in self._items]
        return QSize(
            max((size.width() for size in sizes), default=0),
            max((size.height() for size in sizes), default=0),
        )

    def _place(self, rect: QRect, *, moves: bool) -> int:
        """Places the items if `moves`. Returns the height that is needed."""
        y = rect.y()
        for line in self._lines(rect.width()):
            sizes = [item.sizeHint() for item in line]
            left = rect.width() - _wide(sizes) if self._at_right else 0
            x = rect.x() + max(0, left)
            for item, size in zip(line, sizes, strict=True):
                if moves:
                    item.setGeometry(QRect(QPoint(x, y), size))
                x += size.width() + theme.SMALL
            y += max(size.height() for size in sizes) + theme.SMALL
        return max(0, y - rect.y() - theme.SMALL)

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        for item in self._items:
            if item.isEmpty():  # hidden
                continue
            if not lines or _wide([one.sizeHint() for one in (*lines[-1], item)]) > width:
                lines.append([])
            lines[-1].append(item)
        return lines


def _wide(sizes: Sequence[QSize]) -> int:
    return sum(size.width() + theme.SMALL for size in sizes) - theme.SMALL


class ShortScroll(QScrollArea):
    """A scroll area that is as tall as its content, up to a limit."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        self._most = 0
        inner = QWidget()
        inner.setObjectName("column")
        self._column = stack(*parts, spacing=0)
        inner.setLayout(self._column)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_most(self, height: int) -> None:
        self._most = height
        self.updateGeometry()

    def show_top(self) -> None:
        self.verticalScrollBar().setValue(0)

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        needed = self._column.totalHeightForWidth(width)
        return min(needed if needed >= 0 else self._column.totalSizeHint().height(), self._most)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, 0)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return done
