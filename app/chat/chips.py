"""Files and folders as chips, with a name, a description and a button to remove them."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.chat.attachments import IMAGES, Attachment
from app.look import theme
from app.look.controls import Button, Label, hint, row, shortened, stack
from app.look.icons import Picture
from app.look.translate import numeral, told, tr
from server.chat import DOCUMENTS, TEXTS
from server.face.core import SourceCard
from server.system.limits import one_line

_LONGEST = 36
"""The most characters of a name."""
_KB, _MB = 1000, 1_000_000


def size_words(size: int) -> str:
    if size < _KB:
        return tr("{count} bytes").format(count=size)
    if size < _MB:
        return f"{numeral(size / _KB, '.0f')} kB"
    return f"{numeral(size / _MB, ',.1f')} MB"


def kind_words(name: str) -> str:
    """Returns the kind of a file, by its name."""
    kind = Path(name).suffix.lower()
    if kind in IMAGES:
        return tr("Image")
    return DOCUMENTS.get(kind) or TEXTS.get(kind) or tr("Text")


def file_words(attached: Attachment) -> str:
    words = [kind_words(attached.name)]
    if attached.size:
        words.append(size_words(attached.size))
    return "  ·  ".join(words)


def source_words(path: Path, card: SourceCard | None) -> str:
    """Returns what a source is, and how far it can be searched."""
    kind = tr("Folder") if path.is_dir() else kind_words(path.name)
    if card is None:
        return kind
    match card.phase:
        case "reading" if card.total:
            words = tr("{done} of {all} files read")
            state = words.format(done=numeral(card.done), all=numeral(card.total))
        case "reading":
            state = tr("Reading…")
        case "stopped":
            state = tr("Not read to the end")
        case "failed":
            state = tr("Cannot be searched")
        case "ready" if not card.passages:
            state = tr("Contains no text")
        case "ready":
            state = tr("Searched for each question")
            if path.is_dir():
                state = tr("{count} files searched").format(count=numeral(card.files))
    if card.notes:
        state += f"  ·  {tr('Not everything could be read')}"
    return f"{kind}  ·  {state}"


class Chip(QFrame):
    """A chip. `removed` is emitted when its ✕ is pressed. Without `closes` it has no ✕."""

    removed = Signal()

    def __init__(self, name: str, words: str, picture: str = "logs", *, closes: bool) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.name = name
        self.title = Label(shortened(one_line(name), _LONGEST))
        self.words = Label("", "small")
        self.close_button = Button(
            "", "close", "icon", name=tr("Remove {name}").format(name=one_line(name))
        )
        self.close_button.setProperty("scale", "small")
        self.close_button.clicked.connect(self.removed)
        words_below = stack(self.title, self.words, spacing=0)
        line = row(Picture(picture, theme.ICON, "muted"), words_below, self.close_button)
        line.setContentsMargins(theme.SMALL, theme.TINY, theme.TINY, theme.TINY)
        self.setLayout(line)
        self.setToolTip(hint(name))
        self.close_button.setVisible(closes)
        self.show_words(words)

    def show_words(self, words: str) -> None:
        self.words.setText(words)
        self.setAccessibleName(f"{self.title.text()}, {words}")

    def show_source(self, path: Path, card: SourceCard | None) -> None:
        """Shows a source's state. The tooltip lists what could not be read."""
        self.show_words(source_words(path, card))
        notes = [told(note) for note in card.notes] if card else []
        self.setToolTip(hint("\n".join([str(path), *notes])))
        self.setAccessibleDescription("\n".join(notes))
