"""An image that went along with a question, small."""

from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt
from PySide6.QtGui import QImageReader, QPixmap

from app.chat.attachments import Attachment
from app.look.controls import Label, hint
from server.system.limits import one_line

_SIDE = 132
"""Two fit side by side into the bubble of the smallest window."""


class Thumbnail(Label):
    """The picture where Qt can read it, else its name."""

    def __init__(self, attached: Attachment) -> None:
        super().__init__(attached.name, "small")
        self.setAccessibleName(one_line(attached.name))
        self.setToolTip(hint(attached.name))
        picture = _small(attached.image.data if attached.image else b"", self.devicePixelRatioF())
        if not picture.isNull():
            self.setPixmap(picture)


def _small(data: bytes, scale: float) -> QPixmap:
    """Scaled by its reader, which for some kinds need not read all of it."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    most = QSize(_SIDE, _SIDE) * scale
    size = reader.size()
    if size.width() > most.width() or size.height() > most.height():
        kept = size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
        reader.setScaledSize(kept.expandedTo(QSize(1, 1)))
    picture = QPixmap.fromImage(reader.read())
    picture.setDevicePixelRatio(scale)
    return picture
