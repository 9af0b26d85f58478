"""Markdown as read-only text that is as tall as its content, with coloured code and tables.

Pictures are never loaded: Qt would read any file, and on Windows any network share, that an answer
names.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QEvent, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser

from app.look import theme
from app.look.controls import CopyButton, delay
from app.look.theme import Colours
from app.look.translate import tr

Part = Literal["word", "text", "number", "name", "comment"]
Span = tuple[int, int, Part]

BUTTONS_AT_ONCE = 10
"""The most copy buttons that are made before the window answers again."""
LONGEST = 50_000
"""The most characters of code that are coloured, since that is repeated with each new piece."""
_PYTHON = (
    "and as assert async await break class continue def del elif else except False finally for from"
    " global if import in is lambda match None nonlocal not or pass raise return True try while"
    " with yield case self"
)
_C_LIKE = (
    "abstract as async await bool boolean break byte case catch char class const continue default"
    " defer delete do double else enum export extends extern false final finally float fn for"
    " foreach func function go if impl implements import in instanceof int interface internal is"
    " let long loop match mod module mut namespace new nil null override package private protected"
    " public pub readonly ref return short sizeof static string struct super switch this throw"
    " throws trait true try type typeof undefined unsafe unsigned use using var virtual void"
    " volatile where while yield"
)
_SQL = (
    "add all alter and as asc begin between by case cast check commit create cross database delete"
    " desc distinct drop else end except exists false foreign from full group having if in index"
    " inner insert intersect into is join key left like limit not null offset on or order outer"
    " over partition primary references right rollback select set table then true union unique"
    " update values view when where with"
)
_SHELL = (
    "case do done elif else esac export fi for function if in local read return set shift source"
    " then unset until while echo cd exit"
)
_HASH = r"#[^\n]*"
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_DASHES = r"--[^\n]*|/\*.*?(?:\*/|\Z)"
_STRINGS = (
    r'"""(?:.*?)(?:"""|\Z)|\'\'\'(?:.*?)(?:\'\'\'|\Z)'
    r'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|`(?:\\.|[^`\\])*`?'
)
_NUMBER = r"\b(?:0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"
_NAME = r"\b[A-Za-z_]\w*(?=\s*\()"
_WORD = r"\b[A-Za-z_]\w*\b"
_PLAIN = frozenset({"text", "txt", "plain", "plaintext", "csv", "tsv", "markdown", "md", "log"})
_SHELLS = frozenset({"sh", "bash", "zsh", "shell", "console", "powershell", "ps1", "bat", "cmd"})
_HASHED = frozenset({"python", "py", "python3", "yaml", "yml", "toml", "ini", "r", "ruby", "rb"})
_JSON = frozenset({"json", "jsonc", "json5"})


def spans(code: str, language: str) -> list[Span]:
    """Returns the start, the length and the kind of each coloured part of the code."""
    language = language.lower().strip()
    if language in _PLAIN or len(code) > LONGEST:
        return []
    comments, words, fold = _rules(language)
    pattern = re.compile(
        rf"(?P<comment>{comments})|(?P<text>{_STRINGS})|(?P<number>{_NUMBER})"
        rf"|(?P<name>{_NAME})|(?P<word>{_WORD})",
        re.DOTALL,
    )
    found: list[Span] = []
    for match in pattern.finditer(code):
        part = match.lastgroup
        is_word = (match[0].lower() if fold else match[0]) in words
        if part in ("name", "word"):
            if not is_word and part == "word":
                continue
            part = "word" if is_word else "name"
        found.append((match.start(), len(match[0]), part))  # type: ignore[arg-type]
    return found


def _rules(language: str) -> tuple[str, frozenset[str], bool]:
    """Returns the pattern of comments, the keywords, and whether keywords ignore case."""
    if language == "sql" or language.endswith("sql"):
        return _DASHES, frozenset(_SQL.split()), True
    if language in _SHELLS:
        return _HASH, frozenset(_SHELL.split()), False
    if language in _HASHED or not language:
        return _HASH, frozenset([*_PYTHON.split(), "true", "false", "null"]), False
    if language in _JSON:
        return _SLASHES, frozenset(["true", "false", "null"]), False
    return _SLASHES, frozenset(_C_LIKE.split()), False


def nothing() -> QImage:
    """Returns an empty image in place of a picture. For a null value Qt would look for the file."""
    empty = QImage(1, 1, QImage.Format.Format_ARGB32)
    empty.fill(0)
    return empty


def tell_pictures(document: QTextDocument) -> None:
    """Replaces each picture by its description and address."""
    for position in reversed(_places(document)):
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        picture = cursor.charFormat().toImageFormat()
        words: Any = picture.property(QTextFormat.Property.ImageAltText)
        address = picture.name()
        cursor.insertText(f"{words} ({address})" if words else address, QTextCharFormat())


def _places(document: QTextDocument) -> list[int]:
    return [
        place
        for block in _blocks(document)
        for run in _runs(block)
        if run.charFormat().isImageFormat()
        for place in range(run.position(), run.position() + run.length())
    ]


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _runs(block: QTextBlock) -> Iterator[QTextFragment]:
    """Yields the fragments of a block; each has one format."""
    iterator = block.begin()
    while not iterator.atEnd():
        yield iterator.fragment()
        iterator += 1  # type: ignore[operator,unused-ignore]


_LINE_HEIGHT = 140.0
_DIALECT = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class MarkdownView(QTextBrowser):
    """A read-only view of Markdown that is as tall as its content."""

    def __init__(self) -> None:
        super().__init__()
        self._source = ""
        self._is_fitted = False
        self.copies: list[CopyButton] = []
        self._more_copies = delay(self, 0, self._place_copies)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(_open)
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        # Qt emits this in the middle of setMarkdown. Resizing at that moment would lay out a
        # document that is half written, which crashed. So it waits for the event loop.
        self.document().documentLayout().documentSizeChanged.connect(
            self._fit, Qt.ConnectionType.QueuedConnection
        )

    def markdown(self) -> str:
        return self._source

    def show_markdown(self, source: str) -> None:
        # Otherwise Qt does it while the text is laid out, and `changeEvent` draws everything again.
        self.ensurePolished()
        self._source = source
        document = self.document()
        document.setDefaultFont(self.font())
        document.setMarkdown(source, _DIALECT)
        if "![" in source:
            tell_pictures(document)
        _restyle(document, theme.colours_of(QGuiApplication.palette()))
        # A view that is not shown may have another width later: it would be laid out twice.
        self._is_fitted = False
        if self.isVisible():
            self._arrange()

    def loadResource(self, _kind: int, _address: QUrl | str) -> QImage:  # noqa: N802
        """Returns an empty image. Nothing that an answer names is opened."""
        return nothing()

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
        if event.oldSize().width() != event.size().width():
            self._arrange()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if not self._is_fitted:
            self._arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # The transcript scrolls, not a single message.
        event.ignore()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in theme.LOOK_CHANGES and self._source:
            self.show_markdown(self._source)

    def _arrange(self) -> None:
        """Fits the height. Buttons come after the text, as they would flicker while it changes."""
        self._is_fitted = True
        self._fit()
        self._place_copies()

    def _fit(self, _: object = None) -> None:
        # Qt leaves out the margin below the last block, where the ground of code ends.
        below = theme.CODE_PADDING if _is_code(self.document().lastBlock()) else 0
        height = round(self.document().size().height()) + below + 2
        if height != self.height():
            self.setFixedHeight(height)

    def _place_copies(self) -> None:
        """Puts a copy button into the corner of each code block, of many a few at a time."""
        boxes = _code_boxes(self.document())
        now = len(self.copies) + BUTTONS_AT_ONCE
        if len(boxes) > now:
            del boxes[now:]
            self._more_copies.start()
        while len(self.copies) < len(boxes):
            code = partial(self._code, len(self.copies))
            button = CopyButton(tr("this code"), code, "icon")
            button.setParent(self.viewport())
            self.copies.append(button)
        for number, button in enumerate(self.copies):
            button.setVisible(number < len(boxes))
            if number < len(boxes):
                left = self.width() - button.sizeHint().width() - 2
                button.move(left, round(boxes[number].top()) + 2)

    def _code(self, number: int) -> str:
        blocks = code_blocks(self.document())
        return blocks[number] if number < len(blocks) else ""


def _open(address: QUrl) -> None:
    """Opens web pages only, and only on a click: an answer may name anything."""
    if address.scheme() in ("http", "https"):
        QDesktopServices.openUrl(address)


def _restyle(document: QTextDocument, colours: Colours) -> None:
    mono = theme.mono().families() or [theme.mono().family()]
    blocks = list(_blocks(document))
    is_code = [_is_code(block) for block in blocks]
    tables = [one for one in document.rootFrame().childFrames() if isinstance(one, QTextTable)]
    # Make it one change, so that the text is laid out once instead of once per line.
    whole = QTextCursor(document)
    whole.beginEditBlock()
    whole.select(QTextCursor.SelectionType.Document)
    whole.mergeBlockFormat(_paragraph(theme.PARAGRAPH_GAP))
    for table in tables:
        _restyle_table(table, colours)
    for number, block in enumerate(blocks):
        if is_code[number]:
            below = number + 1 < len(blocks) and is_code[number + 1]
            _space_code(block, above=number > 0 and is_code[number - 1], below=below)
        elif block.blockFormat().headingLevel() or block.textList():
            _space(block)
        _restyle_code_words(block, mono, None if is_code[number] else QColor(colours.raised))
    if not is_code[-1]:
        QTextCursor(blocks[-1]).mergeBlockFormat(_paragraph(0))
    for start, language, code in code_at(document):
        _colour(document, start, spans(code, language), colours)
    whole.endEditBlock()


def _paragraph(below: float) -> QTextBlockFormat:
    style = QTextBlockFormat()
    style.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    style.setTopMargin(0)
    style.setBottomMargin(below)
    return style


def _colour(document: QTextDocument, start: int, parts: list[Span], colours: Colours) -> None:
    cursor = QTextCursor(document)
    for at, length, part in parts:
        style = QTextCharFormat()
        style.setForeground(QColor(getattr(colours, f"code_{part}")))
        cursor.setPosition(start + at)
        cursor.setPosition(start + at + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)


def _space_code(block: QTextBlock, *, above: bool, below: bool) -> None:
    """Sets a code line's margins; `above` and `below` say if its neighbours are code, too."""
    style = QTextBlockFormat()
    style.setLineHeight(0, QTextBlockFormat.LineHeightTypes.SingleHeight.value)
    style.setLeftMargin(theme.CODE_PADDING)
    style.setRightMargin(theme.CODE_PADDING + theme.CONTROL_HEIGHT)
    style.setNonBreakableLines(False)
    style.setTopMargin(0 if above else theme.CODE_PADDING + theme.PARAGRAPH_GAP / 2)
    style.setBottomMargin(0 if below else theme.CODE_PADDING + 2 * theme.PARAGRAPH_GAP)
    QTextCursor(block).mergeBlockFormat(style)


def _space(block: QTextBlock) -> None:
    """Sets the margins of a heading or of a list's line."""
    style = _paragraph(theme.PARAGRAPH_GAP / 2)
    if block.blockFormat().headingLevel() and block.position():
        style.setTopMargin(theme.PARAGRAPH_GAP)
    QTextCursor(block).mergeBlockFormat(style)


def _restyle_code_words(block: QTextBlock, mono: list[str], ground: QColor | None) -> None:
    """Sets code in the system's monospaced font: a line of it, or inline on a ground."""
    style = QTextCharFormat()
    style.setFontFamilies(mono)
    cursor = QTextCursor(block)
    if ground is None:
        # Not `movePosition`, which would lay the text out in the middle of the change.
        end = block.position() + block.length() - 1
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)
        return
    style.setBackground(ground)
    runs = [
        (run.position(), run.length()) for run in _runs(block) if run.charFormat().fontFixedPitch()
    ]
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
    cells = table.firstCursorPosition()
    cells.setPosition(table.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    cells.mergeBlockFormat(_paragraph(0))
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
    """Returns the text of each code block."""
    return [code for _, _, code in code_at(document)]


def code_at(document: QTextDocument) -> list[tuple[int, str, str]]:
    """Returns the position, the language and the text of each code block."""
    found: list[tuple[int, str, list[str]]] = []
    for block in filter(_is_code, _blocks(document)):
        if not (found and _is_code(block.previous())):
            named = block.blockFormat().property(QTextFormat.Property.BlockCodeLanguage)
            found.append((block.position(), str(named or ""), []))
        found[-1][2].append(block.text())
    return [(start, language, "\n".join(lines)) for start, language, lines in found]


def _code_boxes(document: QTextDocument) -> list[QRectF]:
    boxes: list[QRectF] = []
    layout = document.documentLayout()
    for block in filter(_is_code, _blocks(document)):
        lines = layout.blockBoundingRect(block)
        if boxes and _is_code(block.previous()):
            boxes[-1].setBottom(lines.bottom())
        else:
            boxes.append(QRectF(lines))
    return [box.adjusted(0, -theme.CODE_PADDING, 0, theme.CODE_PADDING) for box in boxes]
