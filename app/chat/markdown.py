"""Markdown as a read-only text that is as tall as its content, with real code blocks and tables."""

from PySide6.QtCore import QEvent, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser

from app.chat import no_images
from app.chat.code_colours import Span, spans
from app.look import theme
from app.look.controls import CopyButton
from app.look.theme import Colours
from app.look.translate import tr

_LINE_HEIGHT = 140.0
_DIALECT = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class MarkdownView(QTextBrowser):
    def __init__(self) -> None:
        super().__init__()
        self._source = ""
        self.copies: list[CopyButton] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(_open)
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        # Told in the middle of setMarkdown: to resize there would lay out, and look through, a
        # document that is half written. That crashed; so it waits for the event loop.
        self.document().documentLayout().documentSizeChanged.connect(
            self._fit, Qt.ConnectionType.QueuedConnection
        )

    def markdown(self) -> str:
        return self._source

    def show_markdown(self, source: str) -> None:
        self._source = source
        document = self.document()
        document.setDefaultFont(self.font())
        document.setMarkdown(source, _DIALECT)
        no_images.tell_pictures(document)
        _restyle(document, theme.colours_of(QGuiApplication.palette()))
        self._fit()
        # Only now: half-way through, the document has no code and the buttons would flicker.
        self._place_copies()

    def loadResource(self, _kind: int, _address: QUrl | str) -> QImage:  # noqa: N802
        """Nothing that an answer names is opened."""
        return no_images.nothing()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.colours_of(QGuiApplication.palette()).code))
        for box in _code_boxes(self.document()):
            painter.drawRoundedRect(
                QRectF(0, box.top(), self.viewport().width(), box.height()),
                theme.CODE_RADIUS,
                theme.CODE_RADIUS,
            )
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()
        self._place_copies()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # The transcript scrolls, not one message.
        event.ignore()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in theme.LOOK_CHANGES and self._source:
            self.show_markdown(self._source)

    def _fit(self, _: object = None) -> None:
        height = round(self.document().size().height()) + 2
        if height != self.height():
            self.setFixedHeight(height)

    def _place_copies(self) -> None:
        """A button in the corner of each block of code."""
        boxes = _code_boxes(self.document())
        while len(self.copies) < len(boxes):
            self.copies.append(self._copy_of(len(self.copies)))
        for number, button in enumerate(self.copies):
            button.setVisible(number < len(boxes))
            if number < len(boxes):
                left = self.width() - button.sizeHint().width() - 2
                button.move(left, round(boxes[number].top()) + 2)

    def _copy_of(self, number: int) -> CopyButton:
        button = CopyButton(tr("this code"), lambda: self._code(number), "icon")
        button.setParent(self.viewport())
        return button

    def _code(self, number: int) -> str:
        blocks = code_blocks(self.document())
        return blocks[number] if number < len(blocks) else ""


def _open(address: QUrl) -> None:
    """Only web pages, and only by the user's click: a model's answer may name anything."""
    if address.scheme() in ("http", "https"):
        QDesktopServices.openUrl(address)


def _restyle(document: QTextDocument, colours: Colours) -> None:
    mono = theme.mono().families() or [theme.mono().family()]
    # As one change: the text is laid out once, not once for each of its lines.
    whole = QTextCursor(document)
    whole.beginEditBlock()
    block = document.begin()
    while block.isValid():
        _space(block)
        _restyle_code_words(block, mono, colours)
        block = block.next()
    for start, language, code in code_at(document):
        _colour(document, start, spans(code, language), colours)
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _restyle_table(frame, colours)
    whole.endEditBlock()


def _colour(document: QTextDocument, start: int, parts: list[Span], colours: Colours) -> None:
    cursor = QTextCursor(document)
    for at, length, part in parts:
        style = QTextCharFormat()
        style.setForeground(QColor(getattr(colours, f"code_{part}")))
        cursor.setPosition(start + at)
        cursor.setPosition(start + at + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)


def _space(block: QTextBlock) -> None:
    style = block.blockFormat()
    if _is_code(block):
        style.setLeftMargin(theme.CODE_PADDING)
        style.setRightMargin(theme.CODE_PADDING + theme.CONTROL_HEIGHT)
        style.setNonBreakableLines(False)
        style.setTopMargin(
            0 if _is_code(block.previous()) else theme.CODE_PADDING + theme.PARAGRAPH_GAP / 2
        )
        style.setBottomMargin(
            0 if _is_code(block.next()) else theme.CODE_PADDING + 2 * theme.PARAGRAPH_GAP
        )
    else:
        style.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        heading = style.headingLevel() > 0
        last = not block.next().isValid()
        inside_table = QTextCursor(block).currentTable() is not None
        style.setTopMargin(theme.PARAGRAPH_GAP if heading and block.position() else 0)
        gap = theme.PARAGRAPH_GAP / 2 if block.textList() or heading else theme.PARAGRAPH_GAP
        style.setBottomMargin(0 if last or inside_table else gap)
    QTextCursor(block).setBlockFormat(style)


def _restyle_code_words(block: QTextBlock, mono: list[str], colours: Colours) -> None:
    """Runs of code, alone or in a sentence, in the system's own monospaced font."""
    code_block = _is_code(block)
    runs = []
    iterator = block.begin()
    while not iterator.atEnd():
        run = iterator.fragment()
        if code_block or run.charFormat().fontFixedPitch():
            runs.append((run.position(), run.length()))
        iterator += 1  # type: ignore[operator,unused-ignore]
    style = QTextCharFormat()
    style.setFontFamilies(mono)
    if not code_block:
        style.setBackground(QColor(colours.raised))
    cursor = QTextCursor(block)
    for position, length in runs:
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)


def _restyle_table(table: QTextTable, colours: Colours) -> None:
    style = table.format()
    style.setBorder(0)
    style.setCellPadding(theme.SMALL)
    style.setCellSpacing(0)
    style.setTopMargin(theme.PARAGRAPH_GAP / 2)
    style.setBottomMargin(2 * theme.PARAGRAPH_GAP)
    style.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    table.setFormat(style)
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            look = cell.format().toTableCellFormat()
            look.setBottomBorder(1)
            look.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            look.setBottomBorderBrush(QColor(colours.border if row else colours.strong_border))
            cell.setFormat(look)


def _is_code(block: QTextBlock) -> bool:
    style = block.blockFormat()
    return block.isValid() and (
        style.hasProperty(QTextFormat.Property.BlockCodeFence)
        or style.hasProperty(QTextFormat.Property.BlockCodeLanguage)
    )


def code_blocks(document: QTextDocument) -> list[str]:
    """The text of each block of code."""
    return [code for _, _, code in code_at(document)]


def code_at(document: QTextDocument) -> list[tuple[int, str, str]]:
    """Where each block of code begins, its language, and its text."""
    found: list[tuple[int, str, list[str]]] = []
    block = document.begin()
    while block.isValid():
        if _is_code(block):
            if not (found and _is_code(block.previous())):
                named = block.blockFormat().property(QTextFormat.Property.BlockCodeLanguage)
                found.append((block.position(), str(named or ""), []))
            found[-1][2].append(block.text())
        block = block.next()
    return [(start, language, "\n".join(lines)) for start, language, lines in found]


def _code_boxes(document: QTextDocument) -> list[QRectF]:
    boxes: list[QRectF] = []
    layout = document.documentLayout()
    block = document.begin()
    while block.isValid():
        if _is_code(block):
            lines = layout.blockBoundingRect(block)
            if boxes and _is_code(block.previous()):
                boxes[-1].setBottom(lines.bottom())
            else:
                boxes.append(QRectF(lines))
        block = block.next()
    return [box.adjusted(0, -theme.CODE_PADDING, 0, theme.CODE_PADDING) for box in boxes]
