"""Drops files on a page."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from app.look.page import Page


def drop(page: Page, *paths: Path) -> bool:
    """Drops the files. Returns whether the page accepts them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, button, keys)
    enter.ignore()
    page.dragEnterEvent(enter)
    page.dropEvent(QDropEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, button, keys))
    return enter.isAccepted()
