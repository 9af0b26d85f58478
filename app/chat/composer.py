"""The composer: a field that grows with its text, and the files to send. Enter sends."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QWidget

from app.chat import attachments
from app.chat.attachments import Attachment
from app.chat.chips import Chip, file_words
from app.look import theme
from app.look.controls import Button, Label, drop, restyle, stack
from app.look.layouts import Flow
from app.look.translate import told, tr
from server import tasks
from server.errors import AppError
from server.face.core import Face, SourceCard


@dataclass(slots=True, eq=False)
class _Picked:
    """Files that were picked together and are not read yet. Each object equals only itself."""

    waiting: list[Path]


class AttachedFiles(QWidget):
    """The chips of the files for the next question, and of the sources of the chat.

    Each chip has its own ✕.
    """

    changed = Signal()
    sources_changed = Signal()
    source_dropped = Signal(str)

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core
        self._picked: list[_Picked] = []
        self.files: list[Attachment] = []
        self.sources: list[str] = []
        self.chips: list[Chip] = []
        self._flow = Flow()
        self.words = Label("", "small", wrap=True)
        self.setLayout(stack(self._flow, self.words, spacing=theme.SMALL))
        self.words.hide()

    @property
    def is_reading(self) -> bool:
        return bool(self._picked)

    def names(self) -> list[str]:
        return [chip.name for chip in self.chips]

    def add(self, found: list[Attachment]) -> None:
        self.files = [*self.files, *(one for one in found if not one.is_searched)]
        for one in found:
            if one.is_searched:
                self.add_source(Path(one.path))
        self._show()

    def add_source(self, path: Path) -> None:
        """Searches a file or folder for the questions of this chat from now on."""
        if str(path) not in self.sources:
            self.sources = [*self.sources, str(path)]
            self._index(str(path))
            self.sources_changed.emit()
        self._show()

    def show_sources(self, sources: list[str]) -> None:
        """Shows the sources of the chat that was opened. Reads again what has changed in them."""
        self.sources = list(sources)
        for path in sources:
            if Path(path).exists():
                self._index(path)
        self._show()

    def show_cards(self, cards: tuple[SourceCard, ...]) -> None:
        known = {card.path: card for card in cards}
        for chip in self.chips:
            path = chip.property("source")
            if path in self.sources:
                chip.show_source(Path(path), known.get(path))

    def clear(self) -> None:
        """Removes the files. Drops those that are still being read."""
        self._picked.clear()
        self.files = []
        self._show()

    def take(self) -> list[Attachment]:
        """Returns the files and removes them. Sources stay."""
        taken = self.files
        self.clear()
        return taken

    async def read(self, paths: list[Path]) -> None:
        """Reads files; folders become sources. Files before an unreadable one stay attached."""
        picked = _Picked([path for path in paths if not path.is_dir()])
        for path in paths:
            if path.is_dir():
                self.add_source(path)
        self._picked.append(picked)
        self._show()
        try:
            for path in list(picked.waiting):
                if path not in picked.waiting:
                    continue
                found = await attachments.read(path, self._core)
                if picked not in self._picked:
                    return
                if path in picked.waiting:
                    picked.waiting.remove(path)
                    self.add([found])
        except Exception as error:
            # The error is of no interest once its file was removed.
            if self._end(picked) or not isinstance(error, AppError):
                raise
        else:
            self._end(picked)

    def _end(self, picked: _Picked) -> bool:
        """Ends the reading of these files. Returns whether they were still wanted."""
        if picked not in self._picked:
            return False
        self._picked.remove(picked)
        self._show()
        return True

    def _index(self, path: str) -> None:
        """Indexes a source. A failure is shown when the source is searched."""

        async def index() -> None:
            with suppress(AppError):
                await self._core.sources.index(path)

        tasks.spawn(index(), "index a source")

    def _drop_waiting(self, picked: _Picked, path: Path) -> None:
        if path in picked.waiting:
            picked.waiting.remove(path)
        if not picked.waiting and picked in self._picked:
            self._picked.remove(picked)
        self._show()

    def _drop_file(self, file: Attachment) -> None:
        self.files = [one for one in self.files if one is not file]
        self._show()

    def _drop_source(self, path: str) -> None:
        self.sources = [one for one in self.sources if one != path]
        self.sources_changed.emit()
        self.source_dropped.emit(path)
        self._show()

    def _show(self) -> None:
        made = [
            (
                Chip(path.name, tr("Reading…"), closes=True),
                partial(self._drop_waiting, picked, path),
            )
            for picked in self._picked
            for path in picked.waiting
        ]
        made += [
            (Chip(file.name, file_words(file), closes=True), partial(self._drop_file, file))
            for file in self.files
        ]
        made += [
            (self._source_chip(path), partial(self._drop_source, path)) for path in self.sources
        ]
        for chip in self.chips:
            drop(self._flow, chip)
        self.chips = [chip for chip, _ in made]
        for chip, remove in made:
            chip.removed.connect(remove)
            self._flow.addWidget(chip)
        notes = [told(note) for one in self.files for note in one.notes]
        if any(not Path(path).is_dir() for path in self.sources):
            notes.append(
                tr("A long file is not read whole. Moat finds the passages that fit each question.")
            )
        self.words.tell("\n".join(notes))
        self.updateGeometry()
        self.changed.emit()

    def _source_chip(self, path: str) -> Chip:
        cards = {card.path: card for card in self._core.sources.cards.get()}
        chip = Chip(Path(path).name or path, "", "search", closes=True)
        chip.setProperty("source", path)
        chip.show_source(Path(path), cards.get(path))
        return chip


_MOST_LINES = 8
"""The most lines before the field scrolls."""


class Composer(QFrame):
    """The field for a message, with buttons to attach files and to send or stop."""

    sent = Signal(str)
    stopped = Signal()
    escaped = Signal()
    """Emitted for Esc when there is nothing to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._answering = False
        self._open = False
        self._held = False
        self.editor = _Editor()
        self.editor.setAccessibleName(tr("Your message"))
        self.button = Button(tr("Send"), "send", "round", name=tr("Send"))
        self.button.clicked.connect(self._press)
        self.attach = Button("", "plus", "icon", name=tr("Attach files"))
        self.editor.entered.connect(self._send)
        self.editor.escaped.connect(self._escape)
        self.editor.textChanged.connect(self._update)
        self.editor.focused.connect(self._mark)
        line = QHBoxLayout(self)
        line.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        line.addWidget(self.attach, 0, Qt.AlignmentFlag.AlignBottom)
        line.addWidget(self.editor, 1)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self._update()

    def show_open(self, hint: str, *, is_open: bool) -> None:
        """Sets whether a message can be sent now, and the hint in the empty field."""
        self._open = is_open
        self.editor.setPlaceholderText(hint)
        self._update()

    def hold(self, *, held: bool) -> None:
        """Keeps messages from being sent while files are being read."""
        self._held = held
        self._update()

    def show_answering(self, *, answering: bool) -> None:
        self._answering = answering
        self.button.set_icon(
            *(("stop", tr("Stop the answer")) if answering else ("send", tr("Send")))
        )
        self._update()

    @property
    def _can_send(self) -> bool:
        return self._open and not self._held

    def _press(self) -> None:
        if self._answering:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        text = self.editor.toPlainText().strip()
        if text and self._can_send and not self._answering:
            self.editor.clear()
            self.sent.emit(text)

    def _escape(self) -> None:
        if self._answering:
            self.stopped.emit()
        else:
            self.escaped.emit()

    def _update(self) -> None:
        self.editor.fit()
        has_text = bool(self.editor.toPlainText().strip())
        self.button.setEnabled(self._answering or (self._can_send and has_text))

    def _mark(self, active: bool) -> None:
        self.setProperty("active", active)
        restyle(self)


class _Editor(QPlainTextEdit):
    entered = Signal()
    escaped = Signal()
    focused = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(theme.SMALL)
        self.document().documentLayout().documentSizeChanged.connect(self.fit)

    def fit(self, _: object = None) -> None:
        lines = min(max(1, round(self.document().size().height())), _MOST_LINES)
        height = lines * self.fontMetrics().lineSpacing() + 2 * theme.SMALL + 2
        self.setFixedHeight(max(theme.CONTROL_HEIGHT, height))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        """Lets the page take files. The field takes text."""
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.focused.emit(True)  # noqa: FBT003

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.focused.emit(False)  # noqa: FBT003
