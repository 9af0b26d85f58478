"""Which model answers: a list of what is on this machine, and a button to unload."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy

from app.look.controls import Button, Card, Label, row, short_name
from app.look.sentences import told
from app.look.summary import sentence, size
from app.look.translate import tr
from server.face.core import ModelCard, ModelStatus

NO_MODEL = "No model is on this computer yet. Put a GGUF file into the models folder."


class ModelPicker(Card):
    picked = Signal(str)
    unloaded = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.choice = QComboBox()
        self.choice.setAccessibleName(tr("Model that answers"))
        self.choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.choice.setMinimumContentsLength(12)
        self.choice.activated.connect(self._pick)
        self._lines: list[tuple[str, str]] = []
        self.unload = Button(tr("Unload"), "unload")
        self.unload.clicked.connect(self.unloaded)
        self.note = Label("", "small", wrap=True)
        self.column.addWidget(Label(tr("Model"), "section"))
        self.column.addLayout(row(self.choice, self.unload))
        self.column.addWidget(self.note)

    def show_models(self, cards: tuple[ModelCard, ...], model: ModelStatus) -> None:
        lines = [(_line(card), card.name) for card in cards]
        with QSignalBlocker(self.choice):
            # Only then: while a model loads this comes often, and the list may be open.
            if lines != self._lines:
                self._lines = lines
                self.choice.clear()
                for text, name in lines:
                    self.choice.addItem(short_name(text), name)
            self.choice.setCurrentIndex(self.choice.findData(model.name))
            self.choice.setPlaceholderText(tr("Pick a model") if cards else tr("None"))
        self.choice.setEnabled(bool(cards))
        loads = model.phase == "loading"
        self.unload.setText(tr("Stop loading") if loads else tr("Unload"))
        self.unload.setAccessibleName(
            tr("Stop loading") if loads else tr("Unload the model and free its memory")
        )
        self.unload.setEnabled(loads or model.phase == "ready")
        chosen = next((card for card in cards if card.name == model.name), None)
        label = sentence(told(chosen.label)) if chosen else ""
        self.note.tell(label if cards else tr(NO_MODEL))

    def _pick(self, index: int) -> None:
        self.picked.emit(self.choice.itemData(index))


def _line(card: ModelCard) -> str:
    facts = [card.name, card.quantisation, size(card.size_bytes)]
    return "  ·  ".join(fact for fact in facts if fact)
