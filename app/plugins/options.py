"""What a person sets for a plugin: texts, files, folders, and whether it may change things."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.look import theme
from app.look.controls import Button, Label, row, stack
from app.look.translate import tr
from server.face.plugins import OptionCard, PluginCard

CHANGING = "changing_methods"


class PluginOptions(QWidget):
    option_set = Signal(str, str)

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self.fields: dict[str, OptionField] = {}
        self.changing = QCheckBox(tr("It may also change and delete (PUT, PATCH, DELETE)"))
        self.changing.setAccessibleName(self.changing.text())
        self.changing.toggled.connect(
            lambda on: self.option_set.emit(CHANGING, "true" if on else "false")
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        for option in card.options:
            field = OptionField(option)
            field.changed.connect(self.option_set)
            self.fields[option.name] = field
            column.addWidget(field)
        column.addWidget(self.changing)
        self.changing.setVisible(_has_changing(card))
        self.is_empty = not card.options and not _has_changing(card)

    def show_card(self, card: PluginCard) -> None:
        for option in card.options:
            if field := self.fields.get(option.name):
                field.show_value(option.value)
        with QSignalBlocker(self.changing):
            self.changing.setChecked(card.changing_methods)


class OptionField(QWidget):
    """One option. Of folders there may be several, one in a line."""

    changed = Signal(str, str)

    def __init__(self, option: OptionCard) -> None:
        super().__init__()
        self._name, self._kind = option.name, option.kind
        label = tr(option.label)
        self._shown = option.value
        self.edit: QLineEdit | QPlainTextEdit
        if option.kind == "folders":
            self.edit = QPlainTextEdit()
            self.edit.setTabChangesFocus(True)
            self.edit.setFixedHeight(theme.LINES_HEIGHT)
            self.edit.setPlaceholderText(tr("One in a line"))
        else:
            self.edit = QLineEdit()
            self.edit.editingFinished.connect(self._finish)
        self.edit.setAccessibleName(label)
        words = tr("Choose a file") if option.kind == "file" else tr("Choose a folder")
        self.pick = Button(words, name=f"{words}: {label}")
        self.pick.clicked.connect(self._pick)
        self.keep = Button(tr("Apply"), name=f"{tr('Apply')}: {label}")
        self.keep.clicked.connect(self._finish)
        line = row()
        line.addWidget(self.edit, 1)
        line.addWidget(self.pick)
        line.addWidget(self.keep)
        column = stack(Label(label))
        column.addLayout(line)
        self.setLayout(column)
        self.pick.setHidden(option.kind == "text")
        self.keep.setHidden(option.kind != "folders")
        self.show_value(option.value)

    def show_value(self, value: str) -> None:
        self._shown = value
        if value != self.text() and not self.edit.hasFocus():
            self._write(value)

    def text(self) -> str:
        if isinstance(self.edit, QLineEdit):
            return self.edit.text()
        return self.edit.toPlainText()

    def take(self, path: str) -> None:
        """A file or folder was picked; of folders it comes to those before."""
        several = self._kind == "folders" and self.text().strip()
        self._write(f"{self.text().strip()}\n{path}" if several else path)
        self._finish()

    def _write(self, text: str) -> None:
        if isinstance(self.edit, QLineEdit):
            self.edit.setText(text)
        else:
            self.edit.setPlainText(text)

    def _finish(self) -> None:
        value = self.text().strip()
        if value != self._shown:
            self._shown = value
            self.changed.emit(self._name, value)

    def _pick(self) -> None:
        if self._kind == "file":
            picked, _ = QFileDialog.getOpenFileName(self, tr("Choose a file"))
        else:
            picked = QFileDialog.getExistingDirectory(self, tr("Choose a folder"))
        if picked:
            self.take(picked)


def _has_changing(card: PluginCard) -> bool:
    return any(one.key.split(" ")[0] in ("PUT", "PATCH", "DELETE") for one in card.operations)
