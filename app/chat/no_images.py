"""Pictures in a model's answer: never opened, told in words.

Qt would read any file, and on Windows any machine's share, that an answer names as a picture.
"""

from typing import Any

from PySide6.QtGui import QImage, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat


def nothing() -> QImage:
    """What is shown for a picture: a null value would let Qt look for the file by itself."""
    empty = QImage(1, 1, QImage.Format.Format_ARGB32)
    empty.fill(0)
    return empty


def tell_pictures(document: QTextDocument) -> None:
    """Each picture becomes its description and its address."""
    for position in reversed(_places(document)):
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.movePosition(
            QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor
        )
        picture = cursor.charFormat().toImageFormat()
        words: Any = picture.property(QTextFormat.Property.ImageAltText)
        address = picture.name()
        cursor.insertText(f"{words} ({address})" if words else address, QTextCharFormat())


def _places(document: QTextDocument) -> list[int]:
    places: list[int] = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            run = iterator.fragment()
            if run.charFormat().isImageFormat():
                places += range(run.position(), run.position() + run.length())
            iterator += 1  # type: ignore[operator,unused-ignore]
        block = block.next()
    return places
