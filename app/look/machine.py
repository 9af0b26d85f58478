"""This machine and its engine: memory, processor, graphics, figures with plots, and requests."""

from collections import deque
from datetime import datetime

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import Banner, Button, Card, Label, Remark, divider, hint, row, stack
from app.look.summary import phase_of, size
from app.look.translate import join_sentences, numeral, told, tr
from server.errors import AppError
from server.face.core import Load, RunningRequest
from server.face.models import Device, Machine, Pace

KEPT = 240
"""Two minutes at the pace of the core's measurements."""
_HEIGHT = 44
_HEADROOM = 1.15
BUSY = 0.3
"""Cores that other programs used: with more, figures are worth a second try."""


class Plot(QWidget):
    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role
        self.values: deque[float] = deque(maxlen=KEPT)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def add(self, value: float, name: str) -> None:
        self.values.append(value)
        most = max(self.values)
        self.setAccessibleName(name)
        self.setAccessibleDescription(f"{numeral(value, ',.1f')} / {numeral(most, ',.1f')}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.colours_of(QGuiApplication.palette())
        colour = QColor(getattr(colours, self._role))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(ground, theme.CODE_RADIUS, theme.CODE_RADIUS)
        line = self._line(ground)
        if line is not None:
            clip = QPainterPath()
            clip.addRoundedRect(ground, theme.CODE_RADIUS, theme.CODE_RADIUS)
            painter.setClipPath(clip)
            area = QPainterPath(line)
            area.lineTo(ground.right(), ground.bottom())
            area.lineTo(line.pointAtPercent(0).x(), ground.bottom())
            fill = QColor(colour)
            fill.setAlpha(48)
            painter.fillPath(area, fill)
            painter.strokePath(line, QPen(colour, 1.6))
        painter.end()

    def _line(self, ground: QRectF) -> QPainterPath | None:
        """The newest value stands at the right edge."""
        most = max(self.values, default=0.0) * _HEADROOM
        if len(self.values) < 2 or most <= 0:
            return None
        step = ground.width() / (KEPT - 1)
        left = ground.right() - step * (len(self.values) - 1)
        path = QPainterPath()
        for number, value in enumerate(self.values):
            point = QPointF(left + number * step, ground.bottom() - ground.height() * value / most)
            if number:
                path.lineTo(point)
            else:
                path.moveTo(point)
        return path


class Activity(Card):
    cancelled = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[int, RequestRow] = {}
        self.speed, self.running, self.waiting, self.memory = (Figure() for _ in range(4))
        figures = QHBoxLayout()
        for figure in (self.speed, self.running, self.waiting, self.memory):
            figures.addWidget(figure, 1)
        self.empty = Label(tr("No requests at the moment."), "muted")
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.SMALL)
        self.column.addWidget(Label(tr("Activity"), "section"))
        self.plots = (Plot("accent"), Plot("good"))
        self.speed_plot, self.memory_plot = self.plots
        self.column.addLayout(figures)
        self.column.addLayout(row(*self.plots, spacing=theme.LARGE))
        self.column.addWidget(divider())
        self.column.addWidget(self.empty)
        self.column.addLayout(self._list)

    def show_load(self, load: Load) -> None:
        self.speed_plot.add(load.tokens_per_s, tr("Tokens per second in the last minutes"))
        self.memory_plot.add(load.memory_mb, tr("Memory in the last minutes"))
        self.speed.tell(numeral(load.tokens_per_s, ",.1f"), tr("tokens per second"))
        self.running.tell(f"{load.running}", tr("running"))
        self.waiting.tell(f"{load.waiting}", tr("waiting"))
        self.memory.tell(_memory(load.memory_mb), tr("memory in use") if load.memory_mb else "")

    def show_requests(self, requests: tuple[RunningRequest, ...]) -> None:
        wanted = {request.id for request in requests}
        for gone in self._rows.keys() - wanted:
            line = self._rows.pop(gone)
            self._list.removeWidget(line)
            line.deleteLater()
        for request in requests:
            if request.id not in self._rows:
                self._add(request.id)
            self._rows[request.id].show_request(request)
        self.empty.setVisible(not requests)

    def _add(self, number: int) -> None:
        line = RequestRow(number)
        line.cancelled.connect(self.cancelled)
        self._rows[number] = line
        self._list.addWidget(line)


class RequestRow(QWidget):
    cancelled = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.who = Label()
        self.what = Label("", "small")
        self.cancel = Button(tr("Cancel"), "close", "icon", name=tr("Cancel this request"))
        self.cancel.clicked.connect(lambda: self._cancel(number))
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addLayout(stack(self.who, self.what, spacing=0), 1)
        line.addWidget(self.cancel)

    def show_request(self, request: RunningRequest) -> None:
        who = request.client or tr("Unnamed client")
        self.who.setText(f"{who}  ·  {request.route}")
        self.what.setText(f"{phase_of(request)}  ·  {request.model}")
        self.cancel.setAccessibleName(tr("Cancel the request of {who}").format(who=who))

    def _cancel(self, number: int) -> None:
        self.cancel.setEnabled(False)
        self.cancelled.emit(number)


class Figure(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._figure = Label("", "figure")
        self._unit = Label("", "small")
        self.setLayout(stack(self._figure, self._unit, spacing=0))

    def tell(self, figure: str, unit: str) -> None:
        self._figure.setText(figure)
        self._unit.setText(unit)
        self.setAccessibleName(f"{figure} {unit}")


def _memory(megabytes: float) -> str:
    if not megabytes:
        return ""
    return (
        f"{numeral(megabytes, ',.0f')} MB"
        if megabytes < 1000
        else f"{numeral(megabytes / 1000, '.1f')} GB"
    )


class MachineCard(Card):
    def __init__(self) -> None:
        super().__init__()
        self.memory, self.free, self.cores = Figure(), Figure(), Figure()
        self.again = Button(tr("Rescan"), "reset", name=tr("Rescan this computer"))
        self.devices = Label(tr("Scanning this computer…"), wrap=True)
        self.problem = Remark()
        self.backends = Label("", "small", wrap=True)
        self.warning = Banner("warn", closes=False)
        self.pace = Label("", "small", wrap=True)
        self.measure = Button(tr("Measure"), name=tr("Measure the speed of this computer"))
        for empty in (self.backends, self.warning):
            empty.hide()
        self.column.addLayout(row(Label(tr("This computer"), "headline"), 0, self.again))
        self._figures = QWidget()
        figures = row()
        figures.setContentsMargins(0, 0, 0, 0)
        for figure in (self.memory, self.free, self.cores):
            figures.addWidget(figure, 1)
        self._figures.setLayout(figures)
        self._figures.hide()
        self.column.addWidget(self._figures)
        self.column.addWidget(self.devices)
        self.column.addWidget(self.problem)
        self.column.addWidget(self.backends)
        self.column.addWidget(self.warning)
        speed = row(spacing=theme.LARGE)
        speed.addWidget(self.pace, 1)
        speed.addWidget(self.measure)
        self.column.addLayout(speed)

    def show_problem(self, error: AppError) -> None:
        """The machine could not be looked at."""
        self._figures.hide()
        self.devices.hide()
        self.problem.fail(error)

    def show_measuring(self) -> None:
        self.measure.setEnabled(False)
        self.measure.setText(tr("Measuring…"))

    def show_pace(self, pace: Pace) -> None:
        self.measure.setEnabled(True)
        self.measure.setText(tr("Measure again") if pace.rates else tr("Measure"))
        parts = [pace_words(pace)]
        if pace.others > BUSY:
            parts.append(tr("Other programs were busy meanwhile: measure again when they are not."))
        self.pace.tell(join_sentences(parts))

    def show_machine(self, machine: Machine) -> None:
        self._figures.show()
        self.memory.tell(size(machine.memory_bytes), tr("memory"))
        self.free.tell(size(machine.free_bytes), tr("free now"))
        self.cores.tell(str(machine.cores), tr("processor cores"))
        self.problem.tell("")
        self.devices.tell(device_words(machine))
        added = tr("Support for graphics cards added: {names}")
        names = ", ".join(machine.backends)
        self.backends.tell(added.format(names=names) if names else "")
        self.show_pace(machine.pace)
        self.cores.setToolTip(hint(", ".join(machine.features)))
        expected = bool(machine.note) or bool(machine.devices and not machine.engine_uses_gpu)
        note = told(machine.note) or tr("This build of the engine cannot use it.")
        self.warning.tell(tr("The graphics card is not used"), note if expected else "")
        self.warning.setVisible(expected)


def pace_words(pace: Pace) -> str:
    if not pace.rates:
        return tr("How fast it computes is measured when models are suggested.")
    usual = pace.rates[0]
    day = datetime.fromtimestamp(pace.measured_at).astimezone().strftime("%Y-%m-%d")
    words = tr(
        "The processor reads {gigabytes} GB of weights and computes {billions} billion products "
        "per second (measured on {day}). Speeds of models are estimated from this."
    )
    return words.format(
        gigabytes=numeral(usual.bytes_per_s / 1e9, ".1f"),
        billions=numeral(usual.values_per_s / 1e9, ".0f"),
        day=day,
    )


def device_words(machine: Machine) -> str:
    if not machine.devices:
        return tr("No usable graphics card found: models run on the processor.")
    return "\n".join(_device(device) for device in machine.devices)


def _device(device: Device) -> str:
    return tr("{name} ({backend}): {free} of {total} free").format(
        name=device.name,
        backend=device.backend,
        free=size(device.free_bytes),
        total=size(device.total_bytes),
    )
