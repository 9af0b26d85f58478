"""Named system prompts: saved on this computer, chosen again and deleted."""

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app.look.controls import Button, field, reveal, row, short_name, stack
from app.look.translate import tr
from server.system.files import JsonFile
from server.system.limits import one_line

_MOST = 200
_LEAST_LIST = 96
"""Its buttons have room beside it where the options scroll, in every language."""


class PresetStore:
    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, "The saved system prompts", is_precious=True)

    def all(self) -> dict[str, str]:
        """Returns the texts by name, sorted by name."""
        found = self._file.read().items()
        texts = {name: text for name, text in found if isinstance(text, str) and text.strip()}
        return dict(sorted(texts.items(), key=lambda item: item[0].casefold()))

    def keep(self, name: str, text: str) -> None:
        """Saves a text. Replaces the text if the name exists."""
        self._file.write({**self._file.read(), name: text})

    def forget(self, name: str) -> None:
        self._file.write({key: text for key, text in self._file.read().items() if key != name})


class Presets(QWidget):
    """The controls for saved system prompts. `chosen` carries the text that was picked."""

    chosen = Signal(str)

    def __init__(self, store: PresetStore) -> None:
        super().__init__()
        self._store = store
        self._text = ""
        self.list = QComboBox()
        self.list.setAccessibleName(tr("Saved system prompts"))
        self.list.setPlaceholderText(tr("Not saved"))
        self.list.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.list.setMinimumWidth(_LEAST_LIST)
        self.save = Button(tr("Save"), name=tr("Save this system prompt"))
        self.forget = Button("", "trash", "icon", name=tr("Delete this saved system prompt"))
        self.name = field(tr("Name of the system prompt"), tr("Name"))
        self.name.setMaxLength(_MOST)
        self.keep = Button(tr("Save"), name=tr("Save under this name"))
        self.naming = QWidget()
        self._lay_out()
        self.list.activated.connect(self._choose)
        self.save.clicked.connect(lambda: self._begin_naming(shown=True))
        self.name.returnPressed.connect(self._keep)
        self.name.textChanged.connect(lambda text: self.keep.setEnabled(bool(text.strip())))
        self.keep.clicked.connect(self._keep)
        self.forget.clicked.connect(self._forget)
        self.keep.setEnabled(False)
        self.show_text("")

    def _lay_out(self) -> None:
        self.naming.setLayout(row(self.name, self.keep))
        choice = row(self.list, self.save, self.forget, grows=self.list)
        self.setLayout(stack(choice, self.naming))
        self.naming.hide()

    def show_text(self, text: str) -> None:
        """Selects the preset with this text, if there is one."""
        self._text = text
        known = self._store.all()
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItem(tr("None"), "")
            for name in known:
                self.list.addItem(short_name(name), name)
            named = next((name for name, kept in known.items() if kept == text), None)
            place = 0 if not text.strip() else self.list.findData(named) if named else -1
            self.list.setCurrentIndex(place)
        self.save.setEnabled(place < 0)
        self.forget.setEnabled(place > 0)
        if place >= 0:
            self._begin_naming(shown=False)

    def _choose(self, _: int) -> None:
        text = self._store.all().get(str(self.list.currentData()), "")
        self.show_text(text)
        self.chosen.emit(text)

    def _begin_naming(self, *, shown: bool) -> None:
        reveal(self.naming, shown=shown)
        if shown:
            self.name.setFocus()
        else:
            self.name.clear()

    def _keep(self) -> None:
        name = one_line(self.name.text()).strip()
        if name and self._text.strip():
            self._store.keep(name, self._text)
            self.show_text(self._text)

    def _forget(self) -> None:
        self._store.forget(str(self.list.currentData()))
        self.show_text(self._text)
