from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QBuffer
from PySide6.QtGui import QImage

from app.chat.attachments import Attachment
from app.chat.transcript import Thumbnail
from server.chat import Image

Shown = Callable[[Any], Any]


def png(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill("steelblue")
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


async def test_a_large_image_is_shown_small_in_its_own_shape(shown: Shown) -> None:
    made = shown(Thumbnail(Attachment("chart.png", image=Image("image/png", png(800, 400)))))
    size = made.pixmap().deviceIndependentSize()
    assert size.width() == 2 * size.height() < 200
    assert made.accessibleName() == "chart.png"


async def test_an_image_that_cannot_be_read_is_named(shown: Shown) -> None:
    made = shown(Thumbnail(Attachment("chart.png", image=Image("image/png", b"\x89PNG broken"))))
    assert made.text() == "chart.png"
