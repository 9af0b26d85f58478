"""This machine in words: memory, processor, graphics, and a warning when one is not used."""

from PySide6.QtWidgets import QWidget

from app.look.banner import Banner
from app.look.controls import Button, Card, Label, hint, row
from app.look.engine_activity import Figure
from app.look.sentences import told
from app.look.summary import size
from app.look.translate import tr
from server.face.models import Device, Machine


class MachineCard(Card):
    def __init__(self) -> None:
        super().__init__()
        self.memory, self.free, self.cores = Figure(), Figure(), Figure()
        self.again = Button(tr("Rescan"), "reset", name=tr("Rescan this computer"))
        self.devices = Label(tr("Scanning this computer…"), wrap=True)
        self.backends = Label("", "small", wrap=True)
        self.warning = Banner("warn", closes=False)
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
        self.column.addWidget(self.backends)
        self.column.addWidget(self.warning)

    def show_nothing(self, why: str) -> None:
        self._figures.hide()
        self.devices.setText(told(why))

    def show_machine(self, machine: Machine) -> None:
        self._figures.show()
        self.memory.tell(size(machine.memory_bytes), tr("memory"))
        self.free.tell(size(machine.free_bytes), tr("free now"))
        self.cores.tell(str(machine.cores), tr("processor cores"))
        self.devices.setText(device_words(machine))
        added = tr("Support for graphics cards added: {names}")
        names = ", ".join(machine.backends)
        self.backends.tell(added.format(names=names) if names else "")
        self.cores.setToolTip(hint(", ".join(machine.features)))
        expected = bool(machine.note) or bool(machine.devices and not machine.engine_uses_gpu)
        note = told(machine.note) or tr("This build of the engine cannot use it.")
        self.warning.tell(tr("The graphics card is not used"), note if expected else "")
        self.warning.setVisible(expected)


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
