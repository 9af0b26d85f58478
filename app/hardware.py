"""The Hardware page: what this machine has, and how a model would fit, before it is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import zip_longest
from typing import Any

from PySide6.QtCore import QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import (
    Button,
    Card,
    Column,
    Label,
    Slider,
    delay,
    put,
    row,
    short_name,
    stack,
)
from app.look.layouts import Flow
from app.look.machine import BUSY, MachineCard
from app.look.model_rows import DownloadRow, FitLabel
from app.look.page import Page
from app.look.summary import size
from app.look.translate import join_sentences, numeral, tr
from server.errors import AppError, LinkLost
from server.face.core import Face
from server.face.models import (
    Building,
    Calibration,
    Download,
    Fit,
    GraphicsOffer,
    Machine,
    Pace,
    Setup,
    SpeedTrial,
)

KV_TYPES = ("f16", "q8_0", "q4_0")
BATCHES = (128, 256, 512, 1024, 2048, 4096)
FLASH: dict[str, bool | None] = {"auto": None, "on": True, "off": False}
"""The values of the setting, and what they mean for the engine."""
FIRST_PARTS = (9.0, 3.0, 2.0, 1.0, 0.5, 0.25)
"""The first card's share, from mostly on it to mostly on the others, which get one part each."""
LEAST_CONTEXT = 2048
MOST_CONTEXT = 131_072


def build() -> dict[str, Slider]:
    """Returns the sliders, by setting, in the order they are shown."""
    automatic = tr("Automatic")
    return {
        "context_tokens": Slider(
            tr("Context"),
            lambda value: (
                tr("{tokens} tokens").format(tokens=numeral(value)) if value else automatic
            ),
            tr("How many tokens the model can read and write in one conversation."),
        ),
        "gpu_layers": Slider(
            tr("GPU layers"),
            lambda value: automatic if value < 0 else str(value),
        ),
        "gpu_split": Slider(tr("Split across GPUs"), lambda value: split_words(value) or automatic),
        "kv_type": Slider(
            tr("Cache precision"),
            lambda value: {"f16": tr("Full"), "q8_0": tr("Half the memory")}.get(
                value, tr("A quarter of the memory")
            ),
        ),
        "slots": Slider(tr("Concurrent answers"), str),
        "threads": Slider(tr("CPU threads"), lambda value: str(value) if value else automatic),
        "batch_tokens": Slider(
            tr("Batch size (tokens)"),
            lambda value: tr("{tokens} tokens").format(tokens=numeral(value)),
            tr("A larger batch reads long prompts faster on a GPU and uses more memory."),
        ),
        "flash_attention": Slider(
            tr("Flash attention"),
            lambda value: {"on": tr("On"), "off": tr("Off")}.get(value, automatic),
        ),
    }


def contexts(trained: int) -> list[int]:
    """Returns 0 (automatic), then doublings up to the context that the model was trained for."""
    most = trained or MOST_CONTEXT
    found = [0]
    step = LEAST_CONTEXT
    while step < most:
        found.append(step)
        step *= 2
    return [*found, most]


def splits(cards: int) -> list[tuple[float, ...]]:
    """Returns () (automatic), then shares from mostly on the first card to mostly on the others."""
    others = (1.0,) * (cards - 1)
    return [(), *((first, *others) for first in FIRST_PARTS if others)]


def including(values: Sequence[Any], *own: Any) -> list[Any]:
    """Returns the values with the given ones among them: numbers sorted, others at the end."""
    missing = [one for one in dict.fromkeys(own) if one not in values]
    found = [*values, *missing]
    return sorted(found) if missing and isinstance(missing[0], int) else found


def split_words(value: Any) -> str:
    whole = sum(value) or 1.0
    return " : ".join(numeral(share / whole, ".0%") for share in value)


_HEIGHT = 14
_RADIUS = 5.0
_SWATCH = 10


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    size_bytes: int
    colour: str
    """The name of one of the theme's colours."""


def parts_of(fit: Fit) -> tuple[Part, ...]:
    memory = fit.memory
    weights = memory.weights + memory.repacked - memory.reclaimable
    found = (
        Part(tr("Weights"), weights, "accent"),
        Part(tr("Context"), memory.cache, "good"),
        Part(tr("Compute buffers"), memory.compute + memory.program, "warn"),
        Part(tr("On the graphics card"), memory.gpu, "muted"),
    )
    return tuple(part for part in found if part.size_bytes > 0)


class _Bar(QWidget):
    """A bar of the memory that a model needs; a red line marks what is free."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[Part, ...] = ()
        self._free = 1
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: tuple[Part, ...], free_bytes: int) -> None:
        self._parts, self._free = parts, free_bytes
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.colours_of(QGuiApplication.palette())
        needed = sum(part.size_bytes for part in self._parts)
        scale = self.width() / max(needed, self._free, 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.border))
        painter.drawRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        left = 0.0
        for part in self._parts:
            wide = part.size_bytes * scale
            painter.setBrush(QColor(getattr(colours, part.colour)))
            painter.drawRoundedRect(QRectF(left, 0, max(wide, 2), _HEIGHT), _RADIUS, _RADIUS)
            left += wide
        if needed > self._free:
            painter.fillRect(QRectF(self._free * scale - 1, 0, 2, _HEIGHT), QColor(colours.bad))
        painter.end()


class _Swatch(QWidget):
    """A small square in a colour of the theme."""

    def __init__(self) -> None:
        super().__init__()
        self.colour = "accent"
        self.setFixedSize(_SWATCH, _SWATCH)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(theme.colours_of(QGuiApplication.palette()), self.colour)))
        painter.drawRoundedRect(self.rect(), 3, 3)
        painter.end()


class _Entry(QWidget):
    """A part of the memory in the legend: its colour, name and size."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("entry")
        self._swatch, self._label = _Swatch(), Label("", "small")
        line = row(self._swatch, self._label)
        line.setContentsMargins(0, 0, theme.SMALL, 0)
        self.setLayout(line)
        self.hide()

    def show_part(self, part: Part | None) -> None:
        if part is not None:
            self._swatch.colour = part.colour
            self._swatch.update()
            self._label.setText(_words(part))
        self.setVisible(part is not None)


def _words(part: Part) -> str:
    return f"{part.name} {size(part.size_bytes)}"


class MemoryBar(QWidget):
    """The memory bar with its legend."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = _Bar()
        self._entries = [_Entry() for _ in range(4)]
        self.setLayout(stack(self.bar, Flow(*self._entries), spacing=theme.SMALL))

    def show_fit(self, fit: Fit) -> None:
        parts = parts_of(fit)
        self.bar.show_parts(parts, fit.free_bytes)
        for entry, part in zip_longest(self._entries, parts):
            entry.show_part(part)
        self.setAccessibleName(", ".join(map(_words, parts)))


_ESTIMATE_MS = 120
"""Milliseconds after the last change before an estimate is requested."""
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
        self.graphics = GraphicsCard(self)
        self.speed = SpeedCard()
        self._cores = 1
        self._layers = 0
        self._trained = 0
        self.model = QComboBox()
        self.sliders = build()
        self._cards = 0
        self._found: Machine | None = None
        self._moved: dict[str, Any] = {}
        """The values that the person chose but does not use yet, by setting."""
        self.fit = FitLabel()
        self.bar = MemoryBar()
        self.apply = Button(tr("Use these settings"), "check", "primary")
        self.undo = Button(tr("Undo"), "reset")
        self._soon = delay(self, _ESTIMATE_MS, lambda: self.run(self.estimate()))
        for name in ("gpu_layers", "gpu_split"):
            self.sliders[name].hide()
        self._lay_out()
        self._bind(core)

    def show_machine(self, machine: Machine) -> None:
        self._found = machine
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
            for card in (one for one in self.core.models.cards.get() if not one.hosts):
                self.model.addItem(short_name(card.name), card.name)
            self.model.setCurrentIndex(max(0, self.model.findData(chosen)))
        has_models = self.model.count() > 0
        self.model.setEnabled(has_models)
        self.bar.setVisible(has_models)
        if not has_models:
            self.fit.show_fit(Fit("unknown", tr("No model yet. Get one on the Models page.")))
        self.show_speed(None)
        self.estimate_soon()

    def show_settings(self, _: object) -> None:
        """Sets the sliders to the settings, except those that were moved."""
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
        """Asks for an estimate. Drops the answer if another model or setup is chosen by then."""
        name, setup = self.model.currentData(), self._setup()
        if not name:
            return
        found: Fit | AppError
        try:
            found = await self.core.models.estimate(name, setup)
        except LinkLost:
            return
        except AppError as error:
            found = error
        if (name, setup) != (self.model.currentData(), self._setup()):
            return
        if isinstance(found, Fit):
            self._show_fit(found)
        else:
            self._show_fit(Fit("unknown", ""))
            self.fit.show_problem(found)

    async def survey(self) -> None:
        try:
            self.show_machine(await self.core.models.survey_machine())
        except LinkLost:
            return
        except AppError as error:
            self.machine.show_problem(error)

    async def measure_pace(self) -> None:
        """Measures the machine's speed. The predictions for models follow from it."""
        self.machine.show_measuring()
        try:
            self.machine.show_machine(await self.core.models.measure_pace())
        finally:
            self.machine.offer_measuring()
        self.estimate_soon()

    def _follow_pace(self, pace: Pace) -> None:
        """Shows a new measurement, which was made because other programs disturbed the last one."""
        if self._found is not None and self._found.pace != pace:
            self._found = replace(self._found, pace=pace)
            self.machine.show_machine(self._found)
            self.estimate_soon()

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
            flash_attention=FLASH[chosen["flash_attention"]],
            gpu_split=chosen["gpu_split"],
        )

    def _show_fit(self, fit: Fit) -> None:
        told = (fit.layers, fit.trained_context_tokens)
        # A failed estimate says nothing about the model.
        if fit.layers and told != (self._layers, self._trained):
            self._layers, self._trained = told
            self._offer()
        self.fit.show_fit(fit)
        self.bar.show_fit(fit)

    def _offer(self) -> None:
        """Offers the values that suit this machine and model, and those that are set or chosen."""
        now, chosen = self.core.settings.get().model, self.chosen()
        usual: dict[str, Sequence[Any]] = {
            "context_tokens": contexts(self._trained),
            "gpu_layers": range(-1, self._layers + 1),
            "gpu_split": splits(self._cards),
            "kv_type": KV_TYPES,
            "slots": range(1, 17),
            "threads": range(self._cores + 1),
            "batch_tokens": BATCHES,
            "flash_attention": tuple(FLASH),
        }
        for name, values in usual.items():
            offered = including(values, getattr(now, name), chosen[name])
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
        self.apply.clicked.connect(lambda: self.run(self.use()))
        self.undo.clicked.connect(self.go_back)
        self.machine.again.clicked.connect(lambda: self.run(self.survey()))
        self.machine.measure.clicked.connect(lambda: self.run(self.measure_pace()))
        self.observe(core.graphics.offer, self.graphics.show_offer)
        self.speed.measure.clicked.connect(lambda: self.run(self.measure()))
        self.model.currentIndexChanged.connect(self.show_speed)
        self.observe(core.speeds.results, self.show_speed)
        self.observe(core.models.cards, self.show_models)
        self.observe(core.models.pace, self._follow_pace)
        self.observe(core.settings, self.show_settings)
        self.observe(core.server, lambda _: self.run(self.survey()))

    def show_speed(self, _: object) -> None:
        name = self.model.currentData()
        found = next((one for one in self.core.speeds.results.get() if one.model == name), None)
        self.speed.setVisible(bool(name))
        self.speed.show_result(found)

    async def measure(self) -> None:
        self.speed.show_measuring()
        try:
            await self.core.speeds.measure(self.model.currentData())
        finally:
            self.show_speed(None)

    def _lay_out(self) -> None:
        self.model.setAccessibleName(tr("Model to check"))
        self.model.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.model.setMinimumContentsLength(12)
        card, column = Card(), Column()
        put(card.column, Label(tr("Memory use"), "headline"), self.model, self.fit, self.bar)
        put(card.column, *self.sliders.values(), row(self.apply, self.undo, 0))
        put(column.body, Label(tr("Hardware"), "title"), self.machine, self.graphics, card)
        put(column.body, self.speed)
        column.fill(self)


class GraphicsCard(Card):
    """Offers CUDA support for a graphics card, and shows its download or compilation."""

    def __init__(self, page: Page) -> None:
        super().__init__("info")
        self._page, room = page, page.core.graphics
        self.title = Label("", "headline", wrap=True)
        self.text = Label("", wrap=True)
        self.privacy = Label("", "small", wrap=True)
        self.check = Button(tr("Check the download size"), "search")
        self.fetch = Button("", "download", "primary", tr("Download"))
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.stop = Button(tr("Stop compiling"), "close")
        self.row: DownloadRow | None = None
        self._place = QVBoxLayout()
        self._buttons = QWidget()
        self._buttons.setLayout(row(self.check, self.fetch, self.stop, 0))
        put(self.column, self.title, self.text, self.privacy, self._place)
        put(self.column, self.progress, self._buttons)
        self.check.clicked.connect(lambda: page.run(room.check()))
        self.fetch.clicked.connect(lambda: page.run(room.fetch()))
        self.stop.clicked.connect(lambda: page.run(room.stop_building()))
        self.hide()

    def show_offer(self, offer: GraphicsOffer) -> None:
        download, building = offer.download, offer.building
        self.setVisible(bool(offer.kind) or download is not None or building is not None)
        for part in (self.progress, self.stop):
            part.setVisible(building is not None)
        if building is not None:
            self._show_building(building)
            return
        self.title.setText(tr("Faster with CUDA"))
        self.text.tell(gain_words(offer) if offer.kind else "")
        self.privacy.tell(
            tr("It comes from the address of the releases, and is used only if it is signed.")
            if offer.kind and download is None
            else ""
        )
        self._show_download(download)
        self._buttons.setVisible(bool(offer.kind) and download is None)
        self.check.setVisible(not offer.size_bytes)
        self.fetch.setVisible(bool(offer.size_bytes))
        self.fetch.setText(tr("Download ({size})").format(size=size(offer.size_bytes)))
        self.fetch.setAccessibleName(self.fetch.text())

    def _show_building(self, building: Building) -> None:
        """Shows the compilation. A download is not offered until it has ended."""
        kind = {"cuda": "CUDA", "vulkan": "Vulkan"}.get(building.kind, building.kind)
        self.title.setText(tr("Support for {kind} is being compiled").format(kind=kind))
        done = tr("{percent} done. Moat serves on the processor meanwhile.")
        self.text.tell(done.format(percent=f"{building.percent}%"))
        self.progress.setValue(building.percent)
        self.progress.setAccessibleName(self.text.text())
        self.privacy.tell("")
        self._show_download(None)
        self._buttons.show()
        self.check.hide()
        self.fetch.hide()

    def _show_download(self, download: Download | None) -> None:
        if self.row is not None and (download is None or self.row.number != download.id):
            self.row.setParent(None)
            self.row.deleteLater()
            self.row = None
        if download is None:
            return
        if self.row is None:
            self.row = DownloadRow(download, self._page, self._page.core.graphics)
            self._place.addWidget(self.row)
        self.row.show_download(download)


def gain_words(offer: GraphicsOffer) -> str:
    """Describes the gain, with the measured figure of the release if there is one."""
    if offer.times_vulkan:
        gain = tr("In measurements, answers came {times} times as fast as with Vulkan ({card}).")
        gain = gain.format(times=numeral(offer.times_vulkan, ".1f"), card=offer.measured_on)
    elif offer.uses_vulkan:
        gain = tr("Vulkan uses it now. CUDA is usually faster, but that was not measured here.")
    else:
        gain = tr("Models run on the processor now, and would run on the card.")
    found = tr("{card} and its driver were found, without support for CUDA.")
    return join_sentences((found.format(card=offer.card), gain))


class SpeedCard(Card):
    """The measured speed of a model with different settings."""

    def __init__(self) -> None:
        super().__init__()
        self.best = Label("", wrap=True)
        self.others = Label("", "small", wrap=True)
        self.note = Label("", "small", wrap=True)
        self.measure = Button(tr("Measure now"), "reset")
        self.column.addLayout(row(Label(tr("Measured speed"), "headline"), 0, self.measure))
        put(self.column, self.best, self.others, self.note)

    def show_measuring(self) -> None:
        self.measure.setEnabled(False)
        self.measure.setText(tr("Measuring…"))

    def show_result(self, found: Calibration | None) -> None:
        self.measure.setEnabled(True)
        if found is None:
            self.measure.setText(tr("Measure now"))
            self.best.tell(tr("Not measured yet. Moat measures it when idle."))
            self.others.tell("")
            self.note.tell("")
            return
        self.measure.setText(tr("Measure again"))
        is_best = {trial: _is_chosen(trial, found) for trial in found.trials}
        self.best.tell("\n".join(trial_words(trial) for trial in found.trials if is_best[trial]))
        self.others.tell(
            "\n".join(trial_words(trial) for trial in found.trials if not is_best[trial])
        )
        self.note.tell(_speed_note(found))


def _is_chosen(trial: SpeedTrial, found: Calibration) -> bool:
    chosen = (found.flash_attention, found.batch_tokens, found.threads)
    return (trial.flash_attention, trial.batch_tokens, trial.threads) == chosen


def trial_words(trial: SpeedTrial) -> str:
    text = (
        tr("Flash attention on, batches of {batch}, {threads} threads: ")
        if trial.flash_attention
        else tr("Flash attention off, batches of {batch}, {threads} threads: ")
    )
    speed = tr("reads {read} and writes {write} tokens per second")
    numbers = {"read": numeral(trial.read, ",.0f"), "write": numeral(trial.write, ",.1f")}
    text = text.format(batch=trial.batch_tokens, threads=trial.threads)
    return text + speed.format(**numbers)


def _speed_note(found: Calibration) -> str:
    day = datetime.fromtimestamp(found.measured_at).astimezone().strftime("%Y-%m-%d")
    note = tr("Measured on {day} in {seconds} seconds.")
    parts = [note.format(day=day, seconds=numeral(found.took_s, ".0f"))]
    if not found.is_used:
        parts.append(tr("Used from the next start, for settings that are automatic."))
    if found.others > BUSY:
        parts.append(tr("Other programs were busy meanwhile: measure again when they are not."))
    return join_sentences(parts)
