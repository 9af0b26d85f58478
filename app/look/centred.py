"""A part of a page in its middle, as wide as one reads well."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.look import theme


def centred(part: QWidget) -> QHBoxLayout:
    part.setMaximumWidth(theme.READING_WIDTH)
    line = QHBoxLayout()
    line.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
    line.addStretch(1)
    line.addWidget(part, 1000)
    line.addStretch(1)
    return line
