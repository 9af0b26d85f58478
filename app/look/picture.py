"""A picture from our icons that follows the theme."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel

from app.look import icons, theme
from app.look.summary import Look, look_words


class Picture(QLabel):
    """`role` names a colour of the theme."""

    def __init__(self, name: str, side: int, role: str = "text") -> None:
        super().__init__()
        self._name = name
        self._side = side
        self._role = role
        self.setFixedSize(side, side)
        self._draw()

    def show_picture(self, name: str, role: str) -> None:
        self._name, self._role = name, role
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in theme.LOOK_CHANGES:
            self._draw()

    def _draw(self) -> None:
        colour = getattr(theme.colours_of(QGuiApplication.palette()), self._role)
        scale = self.devicePixelRatioF()
        self.setPixmap(icons.pixmap(self._name, colour, self._side, scale))


class LookPicture(QLabel):
    """The mark of the tray in the window, so that one explains the other."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side
        self.setFixedSize(side, side)

    def show_look(self, look: Look) -> None:
        colour = theme.LOOK_COLOURS[look]
        scale = self.devicePixelRatioF()
        self.setPixmap(icons.pixmap(f"tray-{look}", colour, self._side, scale))
        self.setAccessibleName(look_words(look))
