"""One program to connect: its address, what to paste, and a test that says what happened."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.connect.clients import KEY_PLACE, NO_KEY, Client, Here
from app.desktop.probe import Outcome
from app.look import theme
from app.look.code_box import CodeBox
from app.look.controls import Button, Card, CopyButton, Label, restyle, row
from app.look.translate import tr


class ClientCard(Card):
    tested = Signal()

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self._filled = ""
        name = client.name
        self.test = Button(tr("Test"), "play", name=tr("Test {name}").format(name=name))
        self.test.clicked.connect(self._start)
        self.address = QLineEdit()
        self.address.setReadOnly(True)
        self.address.setFont(theme.mono())
        self.address.setAccessibleName(tr("Address for {name}").format(name=name))
        self.address.setPlaceholderText(tr("There is no address while Moat is stopped."))
        self.copy_address = CopyButton(
            tr("the address for {name}").format(name=name), self.address.text, "icon"
        )
        self.snippet = CodeBox(tr("What to paste for {name}").format(name=name))
        self.copy = CopyButton(
            tr("what to paste for {name}").format(name=name), lambda: self._filled, "icon"
        )
        self.outcome = Label("", "small", wrap=True)
        self.outcome.hide()
        self.column.addLayout(row(Label(name, "headline"), 0, self.test))
        self.column.addWidget(Label(client.advice, "muted", wrap=True))
        self.column.addLayout(row(self.address, self.copy_address))
        self.paste = QWidget()
        self.paste.setLayout(row(self.snippet, self.copy))
        self.column.addWidget(self.paste)
        self.older = OlderForm(client) if client.older else None
        if self.older:
            self.column.addWidget(Label(client.older_advice, "muted", wrap=True))
            self.column.addWidget(self.older)
        self.column.addWidget(self.outcome)

    def show_here(self, address: str, model: str, key: str) -> None:
        """The key itself is only ever copied, not shown."""
        self.address.setText(f"{address}{self.client.path}" if address else "")
        self._filled, shown = _filled(self.client.snippet, address, model, key)
        self.snippet.show_text(shown)
        # One line says no more than the address above it.
        self.paste.setVisible("\n" in shown)
        if self.older:
            self.older.show_here(address, model, key)
        for part in (self.test, self.copy_address, self.copy):
            part.setEnabled(bool(address))

    def show_outcome(self, outcome: Outcome) -> None:
        self.outcome.setProperty("role", "good" if outcome.ok else "bad")
        restyle(self.outcome)
        self.outcome.tell(("✓  " if outcome.ok else "") + outcome.text)
        self.test.setEnabled(bool(self.address.text()))
        self.test.setText(tr("Test again"))

    def _start(self) -> None:
        self.test.setEnabled(False)
        self.test.setText(tr("Testing…"))
        self.outcome.hide()
        self.tested.emit()


class OlderForm(QWidget):
    """What to paste into a program that does not have the newest form of the client yet."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._older = client.older
        self._filled = ""
        self.snippet = CodeBox(tr("What to paste for an older {name}").format(name=client.name))
        self.copy = CopyButton(
            tr("what to paste for an older {name}").format(name=client.name),
            lambda: self._filled,
            "icon",
        )
        self.setLayout(row(self.snippet, self.copy))

    def show_here(self, address: str, model: str, key: str) -> None:
        self._filled, shown = _filled(self._older, address, model, key)
        self.snippet.show_text(shown)
        self.copy.setEnabled(bool(address))


def _filled(snippet: str, address: str, model: str, key: str) -> tuple[str, str]:
    """What is copied, and what is shown of it."""
    snippet = snippet if key else _without_key(snippet)
    copied = Here(address, model, key or NO_KEY).fill(snippet)
    return copied, Here(address, model, KEY_PLACE if key else NO_KEY).fill(snippet)


def _without_key(snippet: str) -> str:
    """Lines that only carry a header for the key say nothing when there is none."""
    kept = [line for line in snippet.split("\n") if "Bearer" not in line and "Header" not in line]
    return "\n".join(kept)
