"""The token for models whose makers want to know who downloads; kept like other secrets."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit

from app.look.controls import Button, Card, Label, restyle, row, secrets_words
from app.look.translate import tr


class HubToken(Card):
    saved = Signal(str)
    """An empty one: forget it."""

    def __init__(self) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setPlaceholderText(tr("Token of Hugging Face"))
        self.edit.setAccessibleName(tr("Token of Hugging Face"))
        self.keep = Button(tr("Save"), name=tr("Save the token"))
        self.forget = Button(tr("Forget"), name=tr("Forget the token"))
        self.state = Label("", "small", wrap=True)
        self.column.addWidget(Label(tr("Models with terms"), "headline"))
        why = tr("Accept the terms on the model's page, then paste a token with the right to read.")
        self.column.addWidget(Label(why, "small", wrap=True))
        line = row(self.edit, self.keep, self.forget)
        line.setStretch(0, 1)
        self.column.addLayout(line)
        self.place = Label("", "small", wrap=True)
        self.column.addWidget(self.place)
        self.column.addWidget(self.state)
        self.state.hide()
        self.edit.returnPressed.connect(self._save)
        self.keep.clicked.connect(self._save)
        self.forget.clicked.connect(lambda: self.saved.emit(""))

    def show_place(self, plain_file: str) -> None:
        self.place.setText(secrets_words(plain_file))
        self.place.setProperty("role", "warn" if plain_file else "small")
        restyle(self.place)

    def show_saved(self, *, kept: bool) -> None:
        self.edit.clear()
        self.state.tell(
            tr("The token is kept with your secrets.") if kept else tr("The token is forgotten.")
        )

    def _save(self) -> None:
        if text := self.edit.text().strip():
            self.saved.emit(text)
