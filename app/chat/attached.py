"""The files that go along with the next question, and those that are still being read."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chat import attachments
from app.chat.attachments import Attachment
from app.look import theme
from app.look.controls import Button, Label, reveal, row
from app.look.sentences import told
from app.look.translate import tr
from server.errors import AppError
from server.face.core import Face


@dataclass(slots=True, eq=False)
class _Picked:
    """Files picked together, without those that were read. Each is only equal to itself."""

    waiting: list[Path]


class AttachedFiles(QWidget):
    changed = Signal()

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core
        self._picked: list[_Picked] = []
        self.files: list[Attachment] = []
        self.words = Label("", "small", wrap=True)
        self.remove = Button("", "close", "icon", name=tr("Remove the attached files"))
        self.remove.clicked.connect(self.clear)
        self.setLayout(row(self.words, self.remove, 0))
        self.words.hide()
        self.remove.hide()

    @property
    def is_reading(self) -> bool:
        return bool(self._picked)

    def add(self, found: list[Attachment]) -> None:
        self.files = [*self.files, *found]
        self._show()

    def clear(self) -> None:
        """Also what is still being read: it is not wanted any more."""
        self._picked.clear()
        self.files = []
        self._show()

    def take(self) -> list[Attachment]:
        """They go along once."""
        taken = self.files
        self.clear()
        return taken

    async def read(self, paths: list[Path]) -> None:
        """Those before a file that cannot be read stay attached."""
        picked = _Picked(list(paths))
        self._picked.append(picked)
        self._show()
        try:
            for path in paths:
                found = await attachments.read(path, self._core)
                if picked not in self._picked:
                    return
                picked.waiting.remove(path)
                self.add([found])
        except Exception as error:
            # Nobody waits any more for what was removed.
            if self._end(picked) or not isinstance(error, AppError):
                raise
        else:
            self._end(picked)

    def _end(self, picked: _Picked) -> bool:
        """Whether it was still wanted."""
        if picked not in self._picked:
            return False
        self._picked.remove(picked)
        self._show()
        return True

    def _show(self) -> None:
        names = ", ".join(one.name for one in self.files)
        words = [tr("With {names}").format(names=names)] if names else []
        words += [told(note) for one in self.files for note in one.notes]
        waiting = ", ".join(path.name for one in self._picked for path in one.waiting)
        words += [tr("Reading {name}…").format(name=waiting)] if waiting else []
        # A label that wraps asks for little width and would wrap short names.
        widest = max(map(self.words.fontMetrics().horizontalAdvance, words), default=0)
        self.words.setMinimumWidth(min(widest + theme.TINY, theme.SURE_WIDTH))
        self.words.tell("\n".join(words))
        reveal(self.remove, shown=bool(words))
        self.changed.emit()
