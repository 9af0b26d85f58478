"""The icon in the formats of the desktops: PNG in all sizes, .ico for Windows, .icns for macOS."""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from scripts.package import product

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def png(size: int) -> bytes:
    """Draws the icon with Qt, which is a requirement anyway. It needs no screen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice  # noqa: PLC0415 - needs the variable
    from PySide6.QtGui import QImage, QImageWriter, QPainter  # noqa: PLC0415
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(product.ICON)).render(painter)
    painter.end()
    kept = QByteArray()
    buffer = QBuffer(kept)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    return bytes(kept.data())


def write_pngs(folder: Path) -> None:
    """Writes the icons as the icon theme specification requires: 48x48/apps/moat.png."""
    for size in SIZES:
        path = folder / f"{size}x{size}" / "apps" / f"{product.NAME}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(size))
    scalable = folder / "scalable" / "apps" / f"{product.NAME}.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    scalable.write_bytes(product.ICON.read_bytes())


def ico(pictures: Iterable[tuple[int, bytes]]) -> bytes:
    """Returns an .ico with the PNG pictures. Windows can read those since Vista."""
    entries = list(pictures)
    offset = 6 + 16 * len(entries)
    table, bodies = b"", b""
    for size, body in entries:
        side = size % 256
        start = offset + len(bodies)
        table += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(body), start)
        bodies += body
    return struct.pack("<HHH", 0, 1, len(entries)) + table + bodies


def icns(pictures: Iterable[tuple[int, bytes]]) -> bytes:
    body = b"".join(
        ICNS_KINDS[size] + struct.pack(">I", len(picture) + 8) + picture
        for size, picture in pictures
    )
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def write_ico(path: Path) -> None:
    path.write_bytes(ico((size, png(size)) for size in ICO_SIZES))


def write_icns(path: Path) -> None:
    path.write_bytes(icns((size, png(size)) for size in ICNS_KINDS))
