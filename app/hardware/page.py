"""Hardware: what this machine has, and how a model would sit in it, before it is loaded."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import QComboBox, QSizePolicy, QVBoxLayout

from app.hardware import load_sliders
from app.hardware.memory_bar import MemoryBar
from app.look.controls import Button, Card, Column, Label, row, short_name
from app.look.fit_label import FitLabel
from app.look.machine_card import MachineCard
from app.look.page import Page
from app.look.translate import tr
from server.errors import AppError, LinkLost
from server.face.core import Face
from server.face.models import Fit, Machine, Setup

_ESTIMATE_MS = 120
_FIELDS = (
    *("context_tokens", "gpu_layers", "gpu_split", "kv_type", "slots"),
    *("threads", "batch_tokens", "flash_attention"),
)


class HardwarePage(Page):
    title = "Hardware"
    icon = "hardware"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.machine = MachineCard()
        self._cores = 1
        self._layers = 0
        self._trained = 0
        self.model = QComboBox()
        self.sliders = load_sliders.build()
        self._cards = 0
        self._moved: dict[str, Any] = {}
        """What the person chose and does not use yet, by the names of the settings."""
        self.fit = FitLabel()
        self.bar = MemoryBar()
        self.apply = Button(tr("Use these settings"), "check", "primary")
        self.undo = Button(tr("Undo"), "reset")
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_ESTIMATE_MS)
        for name in ("gpu_layers", "gpu_split"):
            self.sliders[name].hide()
        self._lay_out()
        self._bind(core)

    def show_machine(self, machine: Machine) -> None:
        self._cores = machine.cores
        self.machine.show_machine(machine)
        self._cards = len(machine.devices)
        self.sliders["gpu_layers"].setVisible(self._cards > 0)
        self.sliders["gpu_split"].setVisible(self._cards > 1)
        self.show_settings(None)

    def show_models(self, _: object) -> None:
        chosen = self.model.currentData() or self.core.model.get().name
        with QSignalBlocker(self.model):
            self.model.clear()
            for card in self.core.models.get():
                self.model.addItem(short_name(card.name), card.name)
            self.model.setCurrentIndex(max(0, self.model.findData(chosen)))
        has_models = self.model.count() > 0
        self.model.setEnabled(has_models)
        self.bar.setVisible(has_models)
        if not has_models:
            self.fit.show_fit(Fit("unknown", tr("There is no model yet. Models has some to get.")))
        self.estimate_soon()

    def show_settings(self, _: object) -> None:
        """The sliders as the settings have them, except those that were moved."""
        now = self.core.settings.get().model
        self._moved = {
            name: value for name, value in self._moved.items() if value != getattr(now, name)
        }
        self._offer()
        self._changed()

    def go_back(self) -> None:
        self._moved.clear()
        self.show_settings(None)

    def chosen(self) -> dict[str, Any]:
        now = self.core.settings.get().model
        return {name: self._moved.get(name, getattr(now, name)) for name in _FIELDS}

    def estimate_soon(self) -> None:
        self._soon.start()

    async def estimate(self) -> None:
        """An answer that comes when something else is chosen is not shown."""
        name, setup = self.model.currentData(), self._setup()
        if not name:
            return
        try:
            fit = await self.core.estimate_model(name, setup)
        except LinkLost:
            return
        except AppError as error:
            fit = Fit("unknown", str(error))
        if (name, setup) == (self.model.currentData(), self._setup()):
            self._show_fit(fit)

    async def survey(self) -> None:
        try:
            self.show_machine(await self.core.survey_machine())
        except LinkLost:
            return
        except AppError as error:
            self.machine.show_nothing(str(error))

    async def use(self) -> None:
        changes = {f"model.{name}": value for name, value in self._moved.items()}
        await self.core.change_settings(changes)

    def _setup(self) -> Setup:
        chosen = self.chosen()
        return Setup(
            context_tokens=chosen["context_tokens"],
            slots=chosen["slots"],
            kv_type=chosen["kv_type"],
            gpu_layers=chosen["gpu_layers"],
            batch_tokens=chosen["batch_tokens"],
            flash_attention=load_sliders.FLASH[chosen["flash_attention"]],
            gpu_split=chosen["gpu_split"],
        )

    def _show_fit(self, fit: Fit) -> None:
        told = (fit.layers, fit.trained_context_tokens)
        # An estimate that failed says nothing about the model.
        if fit.layers and told != (self._layers, self._trained):
            self._layers, self._trained = told
            self._offer()
        self.fit.show_fit(fit)
        self.bar.show_fit(fit)

    def _offer(self) -> None:
        """What fits this machine and model, and whatever else is set or was chosen."""
        now, chosen = self.core.settings.get().model, self.chosen()
        usual: dict[str, Sequence[Any]] = {
            "context_tokens": load_sliders.contexts(self._trained),
            "gpu_layers": range(-1, self._layers + 1),
            "gpu_split": load_sliders.splits(self._cards),
            "kv_type": load_sliders.KV_TYPES,
            "slots": range(1, 17),
            "threads": range(self._cores + 1),
            "batch_tokens": load_sliders.BATCHES,
            "flash_attention": tuple(load_sliders.FLASH),
        }
        for name, values in usual.items():
            offered = load_sliders.including(values, getattr(now, name), chosen[name])
            self.sliders[name].offer(offered, chosen[name])

    def _move(self, name: str) -> None:
        value = self.sliders[name].value()
        if value == getattr(self.core.settings.get().model, name):
            self._moved.pop(name, None)
        else:
            self._moved[name] = value
        self._changed()

    def _changed(self) -> None:
        self.apply.setEnabled(bool(self._moved))
        self.undo.setEnabled(bool(self._moved))
        self.estimate_soon()

    def _bind(self, core: Face) -> None:
        for name, slider in self.sliders.items():
            slider.changed.connect(partial(self._move, name))
        self.model.currentIndexChanged.connect(self.estimate_soon)
        self._soon.timeout.connect(lambda: self.run(self.estimate()))
        self.apply.clicked.connect(lambda: self.run(self.use()))
        self.undo.clicked.connect(self.go_back)
        self.machine.again.clicked.connect(lambda: self.run(self.survey()))
        self.observe(core.models, self.show_models)
        self.observe(core.settings, self.show_settings)
        self.observe(core.server, lambda _: self.run(self.survey()))

    def _lay_out(self) -> None:
        self.model.setAccessibleName(tr("Model to judge"))
        self.model.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.model.setMinimumContentsLength(12)
        card = Card()
        card.column.addWidget(Label(tr("How a model would sit in it"), "headline"))
        card.column.addWidget(self.model)
        card.column.addWidget(self.fit)
        card.column.addWidget(self.bar)
        for slider in self.sliders.values():
            card.column.addWidget(slider)
        card.column.addLayout(row(self.apply, self.undo, 0))
        column = Column()
        column.body.addWidget(Label(tr("Hardware"), "title"))
        column.body.addWidget(self.machine)
        column.body.addWidget(card)
        column.body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(column)
