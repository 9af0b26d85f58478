"""The offer to fetch support for a graphics card: what it gains, its size, how far it is."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import Button, Card, Label, row
from app.look.model_rows import DownloadRow
from app.look.summary import size
from app.look.translate import tr
from server.face.models import Building, Download, GraphicsOffer


class GraphicsCard(Card):
    checked = Signal()
    fetched = Signal()
    paused = Signal(str)
    resumed = Signal(str)
    cancelled = Signal(str)
    stopped = Signal()

    def __init__(self) -> None:
        super().__init__("info")
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
        for part in (self.title, self.text, self.privacy):
            self.column.addWidget(part)
        self.column.addLayout(self._place)
        self.column.addWidget(self.progress)
        self._buttons = QWidget()
        buttons = row(self.check, self.fetch, self.stop, 0, spacing=theme.SMALL)
        buttons.setContentsMargins(0, 0, 0, 0)
        self._buttons.setLayout(buttons)
        self.column.addWidget(self._buttons)
        self.check.clicked.connect(self.checked)
        self.fetch.clicked.connect(self.fetched)
        self.stop.clicked.connect(self.stopped)
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
        """Fetching can wait until it is seen what comes of it."""
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
            self.row = DownloadRow(download)
            self.row.paused.connect(self.paused)
            self.row.resumed.connect(self.resumed)
            self.row.cancelled.connect(self.cancelled)
            self._place.addWidget(self.row)
        self.row.show_download(download)


def gain_words(offer: GraphicsOffer) -> str:
    """What the card would gain, with the figure of the releases where there is one."""
    if offer.times_vulkan:
        gain = tr("Answers were measured to come {times} times as fast as by Vulkan ({card}).")
        gain = gain.format(times=f"{offer.times_vulkan:.1f}", card=offer.measured_on)
    elif offer.uses_vulkan:
        gain = tr("It is used by Vulkan now; CUDA is usually faster, which was not measured here.")
    else:
        gain = tr("Models run on the processor now, and would run on the card.")
    found = tr("{card} and its driver were found, without support for CUDA.")
    return f"{found.format(card=offer.card)} {gain}"
