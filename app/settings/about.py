"""About Moat: its version, the engine in it, a newer version if one is known, the licences."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QPlainTextEdit, QWidget

from app.look import theme
from app.look.controls import Button, Card, Label, row
from app.look.safe_keyboard import SafeKeyboard
from app.look.translate import tr
from server import VERSION
from server.face.core import Update
from server.system import licenses
from server.system.licenses import Component


class AboutCard(Card):
    check = Signal()
    """The person asks whether there is a newer version."""

    def __init__(self) -> None:
        super().__init__()
        self.version = Label(tr("Version {version}").format(version=VERSION))
        self.engine = Label("", "small", wrap=True)
        self.update_line = Label("", wrap=True)
        self.look = Button(tr("Look for a new version"), "reset")
        self.licences = Button(tr("Licences"), "info")
        self.look.clicked.connect(self.check)
        self.licences.clicked.connect(self._show_licences)
        for label in (self.version, self.engine, self.update_line):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(Label(tr("About Moat"), "headline"))
        self.column.addLayout(row(self.version, 0, self.look, self.licences))
        self.column.addWidget(self.engine)
        self.column.addWidget(self.update_line)

    def show_update(self, update: Update) -> None:
        text = tr("This is the newest version that was announced.") if update.checked_at else ""
        if update.version:
            text = tr("Version {version} is there: {page}").format(
                version=update.version, page=update.page
            )
        self.update_line.tell(text)

    def show_engine(self, build: str) -> None:
        self.engine.tell(build)

    def _show_licences(self) -> None:
        LicencesDialog(licenses.find(), self).open()


class LicencesDialog(SafeKeyboard, QDialog):
    """Everything inside on the left, the text of the chosen one on the right."""

    def __init__(self, components: list[Component], parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Licences"))
        self.resize(*theme.DIALOG_SIZE)
        self._components = components
        self.names = QListWidget()
        self.names.setAccessibleName(tr("Licences"))
        self.names.addItems([one.title for one in components])
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Text of the licence"))
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        layout = QHBoxLayout(self)
        layout.addWidget(self.names, 1)
        layout.addWidget(self.text, 2)
        self.names.currentRowChanged.connect(self._show)
        self.names.setCurrentRow(0)

    def _show(self, number: int) -> None:
        one = self._components[number]
        self.text.setPlainText(f"{one.licence}\n\n{one.text}")
