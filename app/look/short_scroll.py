"""What stands above a page: as tall as it is, up to a limit, and from there on it scrolls."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from app.look.controls import stack


class ShortScroll(QScrollArea):
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
