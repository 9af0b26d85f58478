"""Fields of a form, by what their schema asks for: a choice, a switch, a number, a text, a file."""

import json
import math
import re
from typing import Any, Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from app.look import theme
from app.look.controls import Button, Label, row, short_name
from app.look.translate import tr
from server.chat import Json

_DECIMAL_COMMA = re.compile(r"[^.,]*,(?!\d{3}$)[^.,]*")
"""A comma alone and before other than three digits: those may be thousands."""


class Unfit(Exception):
    """What stands in a field is not what it asks for; the message says so."""


class AnswerField(Protocol):
    changed: Any

    def value(self) -> Any:
        """None: nothing was filled in."""
        ...


def field_for(name: str, part: Json) -> "QWidget":
    """The control for one property; its accessible name is the property's."""
    made: QWidget
    if part.get("enum"):
        made = ChoiceField(part["enum"])
    elif part.get("format") == "binary":
        made = FileField(name)
    elif part.get("type") == "array" and part.get("items", {}).get("format") == "binary":
        made = FilesField(name)
    elif part.get("type") == "boolean":
        made = SwitchField()
    elif part.get("type") in ("integer", "number"):
        made = NumberField(whole=part["type"] == "integer")
    elif part.get("type") in ("array", "object"):
        made = JsonField(part["type"])
    else:
        made = TextField()
    made.setAccessibleName(name)
    made.setAccessibleDescription(str(part.get("description") or ""))
    return made


class TextField(QLineEdit):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.textChanged.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.text().strip() or None


class NumberField(TextField):
    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole

    def value(self) -> Any:
        text = self.text().strip()
        if not text:
            return None
        if _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        if "," in text:
            raise Unfit(tr("a number without thousands separators, such as 10000"))
        words = tr("a whole number") if self._whole else tr("a number")
        try:
            number = int(text) if self._whole else float(text)
        except ValueError:
            raise Unfit(words) from None
        if not math.isfinite(number):
            raise Unfit(words)
        return number


class ChoiceField(QComboBox):
    changed = Signal()

    def __init__(self, choices: list[Any]) -> None:
        super().__init__()
        self.addItem(tr("Choose"), None)
        for choice in choices:
            self.addItem(short_name(str(choice)), choice)
        self.currentIndexChanged.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.currentData()


class SwitchField(QCheckBox):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Yes"))
        self.toggled.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.isChecked()


class JsonField(QPlainTextEdit):
    """Lists and objects as they are written; a list may also be one thing in each line."""

    changed = Signal()

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self.setTabChangesFocus(True)
        self.setFixedHeight(theme.LINES_HEIGHT)
        self.setPlaceholderText(tr("One per line") if kind == "array" else "{}")
        self.textChanged.connect(self.changed)

    def value(self) -> Any:
        text = self.toPlainText().strip()
        if not text:
            return None
        if self._kind == "array" and not text.startswith("["):
            return [line.strip() for line in text.splitlines() if line.strip()]
        try:
            found = json.loads(text)
            json.dumps(found, allow_nan=False)
        except ValueError:
            raise Unfit("JSON") from None
        if not isinstance(found, list if self._kind == "array" else dict):
            raise Unfit("JSON")
        return found


class FileField(QWidget):
    """A file that the person picks; nothing else names it."""

    changed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.path = ""
        self.pick = Button(tr("Choose a file"), "plus", name=f"{tr('Choose a file')}: {name}")
        self.chosen = Label("", "small", wrap=True)
        self.pick.clicked.connect(self._pick)
        line = row(self.pick)
        line.addWidget(self.chosen, 1)
        self.setLayout(line)

    def take(self, path: str) -> None:
        self.path = path
        self.chosen.setText(path)
        self.changed.emit()

    def value(self) -> Any:
        return self.path or None

    def _pick(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(self, tr("Choose a file"))
        if picked:
            self.take(picked)


class FilesField(FileField):
    """Several files, picked at once or one after the other."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.paths: list[str] = []

    def take(self, path: str) -> None:
        self.paths = [*dict.fromkeys((*self.paths, path))]
        self.chosen.setText("\n".join(self.paths))
        self.changed.emit()

    def value(self) -> Any:
        return self.paths or None

    def _pick(self) -> None:
        picked, _ = QFileDialog.getOpenFileNames(self, tr("Choose a file"))
        for path in picked:
            self.take(path)
