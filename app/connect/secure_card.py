"""HTTPS for browsers that insist on it: where it is, and how its certificate is trusted."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.look import theme
from app.look.code_box import CodeBox
from app.look.controls import Button, Card, CopyButton, Label, row, stack
from app.look.translate import tr
from server.face.core import ServerStatus


class SecureCard(Card):
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.switch_on = Button(tr("Serve HTTPS too"), "plus")
        self.switch_on.clicked.connect(self.wanted)
        self.address = QLineEdit()
        self.address.setReadOnly(True)
        self.address.setFont(theme.mono())
        self.address.setAccessibleName(tr("The address for HTTPS"))
        self.copy_address = CopyButton(tr("the address for HTTPS"), self.address.text, "icon")
        self.command = CodeBox(tr("The command that trusts the certificate"))
        self.copy_command = CopyButton(tr("the command"), self.command.toPlainText, "icon")
        self.file = Label("", "small", wrap=True)
        self.how = QWidget()
        self._lay_out()

    def show_server(self, server: ServerStatus) -> None:
        is_on = bool(server.secure_address)
        self.switch_on.setVisible(not is_on)
        self.switch_on.setEnabled(server.phase == "ready")
        self.how.setVisible(is_on)
        self.address.setText(server.secure_address)
        self.command.show_text(server.trust)
        self.file.tell(server.certificate)

    def _lay_out(self) -> None:
        why = tr(
            "Safari lets a page reach this machine by HTTPS only. The certificate is made here, "
            "holds for localhost alone, and is renewed by itself."
        )
        once = tr("Trust it once, in a terminal. In Firefox import the file as an authority:")
        self.column.addLayout(row(Label("HTTPS", "headline"), 0, self.switch_on))
        self.column.addWidget(Label(why, "muted", wrap=True))
        inside = stack(Label(once, "muted", wrap=True), spacing=theme.MEDIUM)
        inside.insertLayout(0, row(self.address, self.copy_address))
        inside.addLayout(row(self.command, self.copy_command))
        inside.addWidget(self.file)
        self.how.setLayout(inside)
        self.column.addWidget(self.how)
