"""The first thing on Home: how it stands, in words, and one big button."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar

from app.look import theme
from app.look.controls import Button, Card, Label, restyle, stack
from app.look.picture import LookPicture
from app.look.summary import Summary
from app.look.translate import tr
from server.face.core import ModelStatus, ServerStatus


class Hero(Card):
    switched = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.picture = LookPicture(theme.HERO_SIDE)
        self.headline = Label("", "headline", wrap=True)
        self.detail = Label("", "muted", wrap=True)
        self.facts = Label("", "small", wrap=True)
        self.switch = Button(tr("Start"), kind="primary")
        self.switch.setProperty("scale", "big")
        self.switch.clicked.connect(self._switch)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Loading the model"))
        line = QHBoxLayout()
        line.setSpacing(theme.LARGE)
        line.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(stack(self.headline, self.detail, self.facts), 1)
        line.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(line)
        self.column.addWidget(self.progress)

    def show_summary(self, summary: Summary, facts: str) -> None:
        self.picture.show_look(summary.look)
        self.headline.setText(summary.headline)
        # A failure is told at length in its banner.
        self.detail.tell("" if summary.look == "failed" else summary.detail)
        self.facts.tell(facts)

    def show_server(self, server: ServerStatus) -> None:
        serving = server.phase == "ready"
        words = {"ready": tr("Stop"), "starting": tr("Starting"), "hung": tr("Restart")}
        self.switch.setText(words.get(server.phase, tr("Start")))
        self.switch.setAccessibleName(tr("{do} serving").format(do=self.switch.text()))
        self.switch.setEnabled(server.phase != "starting")
        self.switch.setProperty("kind", "" if serving else "primary")
        restyle(self.switch)

    def show_model(self, model: ModelStatus) -> None:
        self.progress.setVisible(model.phase == "loading")
        self.progress.setRange(0, 100 if model.progress else 0)
        self.progress.setValue(round(model.progress * 100))

    def _switch(self) -> None:
        self.switch.setEnabled(False)
        self.switched.emit()
