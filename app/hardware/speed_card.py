"""The measured speed of a model: the fastest way to compute it here, and what it beat."""

from datetime import datetime

from PySide6.QtCore import Signal

from app.look.controls import Button, Card, Label, row
from app.look.machine import BUSY
from app.look.translate import join_sentences, tr
from server.face.models import Calibration, SpeedTrial


class SpeedCard(Card):
    measured = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.best = Label("", wrap=True)
        self.others = Label("", "small", wrap=True)
        self.note = Label("", "small", wrap=True)
        self.measure = Button(tr("Measure now"), "reset")
        self.column.addLayout(row(Label(tr("Measured speed"), "headline"), 0, self.measure))
        for part in (self.best, self.others, self.note):
            self.column.addWidget(part)
        self.measure.clicked.connect(self.measured)

    def show_measuring(self) -> None:
        self.measure.setEnabled(False)
        self.measure.setText(tr("Measuring…"))

    def show_result(self, found: Calibration | None) -> None:
        self.measure.setEnabled(True)
        if found is None:
            self.measure.setText(tr("Measure now"))
            self.best.tell(tr("Not measured yet. That happens while nobody asks anything."))
            self.others.tell("")
            self.note.tell("")
            return
        self.measure.setText(tr("Measure again"))
        is_best = {trial: _is(trial, found) for trial in found.trials}
        self.best.tell("\n".join(words(trial) for trial in found.trials if is_best[trial]))
        self.others.tell("\n".join(words(trial) for trial in found.trials if not is_best[trial]))
        self.note.tell(_note(found))


def _is(trial: SpeedTrial, found: Calibration) -> bool:
    chosen = (found.flash_attention, found.batch_tokens, found.threads)
    return (trial.flash_attention, trial.batch_tokens, trial.threads) == chosen


def words(trial: SpeedTrial) -> str:
    text = (
        tr("Flash attention on, batches of {batch}, {threads} threads: ")
        if trial.flash_attention
        else tr("Flash attention off, batches of {batch}, {threads} threads: ")
    )
    speed = tr("reads {read} and writes {write} tokens per second")
    numbers = {"read": f"{trial.read:,.0f}", "write": f"{trial.write:,.1f}"}
    text = text.format(batch=trial.batch_tokens, threads=trial.threads)
    return text + speed.format(**numbers)


def _note(found: Calibration) -> str:
    day = datetime.fromtimestamp(found.measured_at).astimezone().strftime("%Y-%m-%d")
    note = tr("Measured on {day} in {seconds} seconds.")
    parts = [note.format(day=day, seconds=f"{found.took_s:.0f}")]
    if not found.is_used:
        parts.append(tr("Used from the next start on, where the settings leave it to Moat."))
    if found.others > BUSY:
        parts.append(tr("Other programs were busy meanwhile: measure again when they are not."))
    return join_sentences(parts)
