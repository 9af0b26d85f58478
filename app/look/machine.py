"""This machine and its engine: memory, processor, graphics, plots of the load, and requests."""

from collections import deque
from datetime import datetime

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Card,
    Label,
    Remark,
    Rows,
    divider,
    hint,
    put,
    row,
    stack,
)
from app.look.page import Page
from app.look.summary import phase_of, size
from app.look.translate import join_sentences, numeral, told, tr
from server.errors import AppError
from server.face.core import Load, RunningRequest
from server.face.models import Device, Machine, Pace

KEPT = 240
"""The values of a plot: two minutes, with two values per second."""
_HEIGHT = 44
_HEADROOM = 1.15
BUSY = 0.3
"""The processor cores used by other programs above which a measurement should be repeated."""


class Plot(QWidget):
    """A small plot of the last values."""

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
        """Returns the line through the values, with the newest at the right edge."""
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
    """The load of the engine: figures, plots, and the running requests."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.list: Rows[RunningRequest, RequestRow] = Rows(
            lambda request: request.id,
            lambda request: RequestRow(request.id, page),
            RequestRow.show_request,
            lined=False,
        )
        self.list.layout.setSpacing(theme.SMALL)
        self.speed, self.running, self.waiting, self.memory = (Figure() for _ in range(4))
        figures = _side_by_side(self.speed, self.running, self.waiting, self.memory)
        self.empty = Label(tr("No requests at the moment."), "muted")
        self.plots = (Plot("accent"), Plot("good"))
        self.speed_plot, self.memory_plot = self.plots
        heading, plots = Label(tr("Activity"), "section"), row(*self.plots, spacing=theme.LARGE)
        put(self.column, heading, figures, plots, divider(), self.empty, self.list.layout)

    def show_load(self, load: Load) -> None:
        self.speed_plot.add(load.tokens_per_s, tr("Tokens per second in the last minutes"))
        self.memory_plot.add(load.memory_mb, tr("Memory in the last minutes"))
        self.speed.tell(numeral(load.tokens_per_s, ",.1f"), tr("tokens per second"))
        self.running.tell(f"{load.running}", tr("running"))
        self.waiting.tell(f"{load.waiting}", tr("waiting"))
        self.memory.tell(_memory(load.memory_mb), tr("memory in use") if load.memory_mb else "")

    def show_requests(self, requests: tuple[RunningRequest, ...]) -> None:
        self.list.show(requests)
        self.empty.setVisible(not requests)


class RequestRow(QWidget):
    def __init__(self, number: int, page: Page) -> None:
        super().__init__()
        self.who = Label()
        self.what = Label("", "small")
        self.cancel = Button(tr("Cancel"), "close", "icon", name=tr("Cancel this request"))
        self.cancel.clicked.connect(lambda: self.cancel.setEnabled(False))
        self.cancel.clicked.connect(lambda: page.run(page.core.cancel_request(number)))
        words = stack(self.who, self.what, spacing=0)
        self.setLayout(row(words, self.cancel, grows=words))

    def show_request(self, request: RunningRequest) -> None:
        who = request.client or tr("Unnamed client")
        self.who.setText(f"{who}  ·  {request.route}")
        self.what.setText(f"{phase_of(request)}  ·  {request.model}")
        self.cancel.setAccessibleName(tr("Cancel the request of {who}").format(who=who))


class Figure(QWidget):
    """A number with its unit below it."""

    def __init__(self) -> None:
        super().__init__()
        self._figure = Label("", "figure")
        self._unit = Label("", "small")
        self.setLayout(stack(self._figure, self._unit, spacing=0))

    def tell(self, figure: str, unit: str) -> None:
        self._figure.setText(figure)
        self._unit.setText(unit)
        self.setAccessibleName(f"{figure} {unit}")


def _side_by_side(*figures: Figure) -> QHBoxLayout:
    """Places figures side by side with equal widths."""
    made = row()
    for figure in figures:
        made.addWidget(figure, 1)
    return made


def _memory(megabytes: float) -> str:
    if not megabytes:
        return ""
    return (
        f"{numeral(megabytes, ',.0f')} MB"
        if megabytes < 1000
        else f"{numeral(megabytes / 1000, '.1f')} GB"
    )


class MachineCard(Card):
    """The machine: its memory, processor and graphics cards, and its measured speed."""

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
        self._is_measured = False
        for empty in (self.backends, self.warning):
            empty.hide()
        self._figures = QWidget()
        self._figures.setLayout(_side_by_side(self.memory, self.free, self.cores))
        self._figures.hide()
        put(
            self.column,
            row(Label(tr("This computer"), "headline"), 0, self.again),
            self._figures,
            self.devices,
            self.problem,
            self.backends,
            self.warning,
            row(self.pace, self.measure, spacing=theme.LARGE, grows=self.pace),
        )

    def show_problem(self, error: AppError) -> None:
        """Shows why the machine could not be examined."""
        self._figures.hide()
        self.devices.hide()
        self.problem.fail(error)

    def show_measuring(self) -> None:
        self.measure.setEnabled(False)
        self.measure.setText(tr("Measuring…"))

    def offer_measuring(self) -> None:
        self.measure.setEnabled(True)
        self.measure.setText(tr("Measure again") if self._is_measured else tr("Measure"))

    def show_pace(self, pace: Pace) -> None:
        self._is_measured = bool(pace.rates)
        self.offer_measuring()
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
