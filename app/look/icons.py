"""Icons from our SVG files, drawn in the colour and sharpness asked for."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.look import theme
from app.look.summary import Look
from app.look.theme import RESOURCES

_SCALES = (1.0, 1.5, 2.0, 3.0)
_TRAY_SIZES = (16, 22, 24, 32, 48, 64)


def icon(name: str, colour: str, side: int) -> QIcon:
    made = QIcon()
    for scale in _SCALES:
        made.addPixmap(pixmap(name, colour, side, scale))
    return made


def tray_icon(look: Look) -> QIcon:
    made = QIcon()
    for side in _TRAY_SIZES:
        made.addPixmap(pixmap(f"tray-{look}", theme.LOOK_COLOURS[look], side, 1.0))
    return made


def app_icon() -> QIcon:
    made = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        made.addPixmap(pixmap("moat", "", side, 1.0))
    return made


@lru_cache(maxsize=256)
def pixmap(name: str, colour: str, side: int, scale: float) -> QPixmap:
    source = _source(name).replace("currentColor", colour or "black")
    picture = QPixmap(round(side * scale), round(side * scale))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(scale)
    return picture


@lru_cache
def _source(name: str) -> str:
    return (RESOURCES / "icons" / f"{name}.svg").read_text(encoding="utf-8")
