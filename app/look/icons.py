"""Icons from SVG files, drawn in the wanted colour and resolution, and labels that show them."""

from collections.abc import Iterable
from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from app.look import theme
from app.look.summary import Look, look_words
from app.look.theme import RESOURCES

_SCALES = (1.0, 1.5, 2.0, 3.0)
_TRAY_SIZES = (16, 22, 24, 32, 48, 64)


def icon(name: str, colour: str, side: int) -> QIcon:
    return _joined(pixmap(name, colour, side, scale) for scale in _SCALES)


def tray_icon(look: Look) -> QIcon:
    colour = theme.LOOK_COLOURS[look]
    return _joined(pixmap(f"tray-{look}", colour, side, 1.0) for side in _TRAY_SIZES)


def app_icon() -> QIcon:
    return _joined(pixmap("moat", "", side, 1.0) for side in (16, 24, 32, 48, 64, 128, 256))


def _joined(pixmaps: Iterable[QPixmap]) -> QIcon:
    made = QIcon()
    for found in pixmaps:
        made.addPixmap(found)
    return made


@lru_cache(maxsize=256)
def pixmap(name: str, colour: str, side: int, scale: float) -> QPixmap:
    source = (RESOURCES / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    source = source.replace("currentColor", colour or "black")
    picture = QPixmap(round(side * scale), round(side * scale))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(scale)
    return picture


class Picture(QLabel):
    """A label with an icon. `role` names a colour of the theme."""

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
        self.setPixmap(pixmap(self._name, colour, self._side, scale))


class LookPicture(QLabel):
    """The tray's icon in the window, so that people recognise it in the tray."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side
        self.setFixedSize(side, side)

    def show_look(self, look: Look) -> None:
        colour = theme.LOOK_COLOURS[look]
        scale = self.devicePixelRatioF()
        self.setPixmap(pixmap(f"tray-{look}", colour, self._side, scale))
        self.setAccessibleName(look_words(look))
