"""What the engine is doing: a few figures, and the running requests with a way to end each."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.state import phase_of
from app.widgets.controls import Button, Card, Label, divider, stack
from server.face import Load, RunningRequest


class Activity(Card):
    cancelled = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[int, RequestRow] = {}
        self.speed, self.running, self.waiting, self.memory = (Figure() for _ in range(4))
        figures = QHBoxLayout()
        for figure in (self.speed, self.running, self.waiting, self.memory):
            figures.addWidget(figure, 1)
        self.empty = Label("No requests at the moment.", "muted")
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.SMALL)
        self.column.addWidget(Label("Activity", "section"))
        self.column.addLayout(figures)
        self.column.addWidget(divider())
        self.column.addWidget(self.empty)
        self.column.addLayout(self._list)

    def show_load(self, load: Load) -> None:
        self.speed.tell(f"{load.tokens_per_s:,.1f}", "tokens per second")
        self.running.tell(f"{load.running}", "running")
        self.waiting.tell(f"{load.waiting}", "waiting")
        self.memory.tell(_memory(load.memory_mb), "memory in use" if load.memory_mb else "")

    def show_requests(self, requests: tuple[RunningRequest, ...]) -> None:
        wanted = {request.id for request in requests}
        for gone in self._rows.keys() - wanted:
            row = self._rows.pop(gone)
            self._list.removeWidget(row)
            row.deleteLater()
        for request in requests:
            if request.id not in self._rows:
                self._add(request.id)
            self._rows[request.id].show_request(request)
        self.empty.setVisible(not requests)

    def _add(self, number: int) -> None:
        row = RequestRow(number)
        row.cancelled.connect(self.cancelled)
        self._rows[number] = row
        self._list.addWidget(row)


class RequestRow(QWidget):
    cancelled = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.who = Label()
        self.what = Label("", "small")
        self.cancel = Button("Cancel", "close", "icon", name="Cancel this request")
        self.cancel.clicked.connect(lambda: self._cancel(number))
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addLayout(stack(self.who, self.what, spacing=0), 1)
        line.addWidget(self.cancel)

    def show_request(self, request: RunningRequest) -> None:
        self.who.setText(f"{request.client or 'Unnamed client'}  ·  {request.route}")
        self.what.setText(f"{phase_of(request)}  ·  {request.model}")
        self.cancel.setAccessibleName(f"Cancel the request of {request.client or 'a client'}")

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
    return f"{megabytes:,.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"
