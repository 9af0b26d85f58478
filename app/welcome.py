"""The welcome page of the first start: the machine, two questions, and the first program."""

import os
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QRadioButton,
    QScrollBar,
    QWidget,
)

from app.desktop.autostart import Autostart
from app.desktop.probe import FirstClient
from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Card,
    Column,
    CopyButton,
    Label,
    Part,
    divider,
    line_to_copy,
    put,
    row,
    short_name,
    stack,
)
from app.look.icons import Picture
from app.look.machine import device_words
from app.look.model_rows import add_model_folder, download_size, speed_words
from app.look.page import Page
from app.look.summary import Summary, size, watch
from app.look.translate import join_sentences, told, tr
from server.errors import LinkLost
from server.face.core import Face, ServerStatus
from server.face.models import Machine, ModelCard, Suggestion


class WelcomePage(Page):
    title = "Welcome"
    icon = "moat"
    done = Signal()

    def __init__(self, core: Face, autostart: Autostart, models: Path) -> None:
        super().__init__(core)
        self._autostart = autostart
        self._models = models
        self._suggestion: Suggestion | None = None
        self._was_suggested = False
        self._listed: set[str] | None = None
        """The models that were listed when a folder was added, until those of the folder are."""
        self.failure = Banner("bad", closes=False)
        self.machine = Label(tr("Scanning this computer…"), wrap=True)
        self.starter = QRadioButton(tr("Start right away with the small starter model"))
        self.recommended = QRadioButton("")
        self.why = Label("", "small", wrap=True)
        self.present = QRadioButton(tr("Use a model that is already on this computer"))
        self.choice = QComboBox()
        self.at_login = QCheckBox(tr("Start Moat when I log in"))
        self.folder = Label(from_home(models), "small", wrap=True)
        self.add_folder = Button(tr("Use an existing folder…"), "folder")
        self.address = line_to_copy(
            tr("Address of the server"), tr("There is no address while Moat is stopped.")
        )
        self.copy = CopyButton(tr("the address"), self.address.text)
        self.client = FirstClient(core)
        self.begin = Button(tr("Get started"), kind="primary")
        self.begin.setProperty("scale", "big")
        self.first = self.begin
        self._prepare()
        self._lay_out()
        self._bind(core)

    def show_summary(self, summary: Summary) -> None:
        """Says why there is no server or no model: what asks them waits for ever then."""
        self.failure.setVisible(summary.look == "failed")
        self.failure.tell(summary.headline, summary.detail, summary.advice, summary.details)

    def show_machine(self, machine: Machine) -> None:
        memory = tr("{total} of memory, {free} free, {cores} processor cores.").format(
            total=size(machine.memory_bytes), free=size(machine.free_bytes), cores=machine.cores
        )
        self.machine.setText(f"{memory}\n{device_words(machine)}")

    def show_suggestions(self, suggested: list[Suggestion]) -> None:
        self._was_suggested = True
        best = next((one for one in suggested if one.recommended and not one.installed), None)
        self._suggestion = best
        self.recommended.setVisible(best is not None)
        self.why.setVisible(best is not None)
        if best:
            words = tr("Download {name} ({size}), recommended for this computer")
            self.recommended.setText(words.format(name=best.title, size=download_size(best)))
            self.recommended.setAccessibleName(self.recommended.text())
            parts = (told(best.good_at), told(best.fit.why), speed_words(best.fit), told(best.why))
            self.why.setText(join_sentences(parts))

    def show_cards(self, cards: tuple[ModelCard, ...]) -> None:
        """Offers the models whose files are here, but the starter. It keeps what was chosen."""
        here = [card for card in cards if not (card.starter or card.hosts)]
        chosen = self.choice.currentData()
        self.choice.clear()
        for card in here:
            self.choice.addItem(f"{short_name(card.name)} ({size(card.size_bytes)})", card.name)
        self.choice.setCurrentIndex(max(0, self.choice.findData(chosen)))
        self.present.setVisible(bool(here))
        self.choice.setVisible(bool(here))
        if not here and self.present.isChecked():
            self.starter.setChecked(True)
        known = self._listed
        added = [] if known is None else [card.name for card in here if card.name not in known]
        if added:
            self._listed = None
            self.choice.setCurrentIndex(self.choice.findData(added[0]))
            self.present.setChecked(True)

    async def finish(self) -> None:
        """Does what was chosen. A failure is shown, but the page is left all the same."""
        try:
            if self.at_login.isChecked() != self._autostart.is_on():
                self._autostart.turn(on=self.at_login.isChecked())
            if self.recommended.isChecked() and self._suggestion:
                await self.core.models.download(self._suggestion.repo, self._suggestion.file)
            if self.present.isChecked() and (name := self.choice.currentData()):
                await self.core.load_model(name)
        finally:
            self.done.emit()

    async def use_folder(self, path: str) -> None:
        self._listed = {card.name for card in self.core.models.cards.get()}
        await add_model_folder(self.core, path)
        self.folder.setText(f"{from_home(self._models)}\n{from_home(Path(path))}")

    async def _look(self) -> None:
        try:
            self.show_machine(await self.core.models.survey_machine())
            self.show_suggestions(await self.core.models.suggest())
        except LinkLost:
            return

    def _follow_pace(self, _: object) -> None:
        """Looks again after the speed was measured: another model may fit, other memory be free."""
        if self._was_suggested:
            self.run(self._look())

    def _pick_folder(self) -> None:
        if picked := QFileDialog.getExistingDirectory(self, tr("A folder with models")):
            self.run(self.use_folder(picked))

    def _bind(self, core: Face) -> None:
        self.begin.clicked.connect(lambda: self.run(self.finish()))
        self.add_folder.clicked.connect(self._pick_folder)
        self.client.came.connect(self._show_came)
        self.until_gone(watch(core, self.show_summary))
        self.observe(core.server, lambda _: self.run(self._look()))
        self.observe(core.models.pace, self._follow_pace)
        self.observe(core.server, self._show_address)
        self.observe(core.models.cards, self.show_cards)
        self.choice.activated.connect(lambda _: self.present.setChecked(True))

    def _show_address(self, server: ServerStatus) -> None:
        self.address.setText(server.address)
        self.copy.setEnabled(bool(server.address))

    def _show_came(self) -> None:
        self.begin.setText(tr("Done"))
        self.begin.setAccessibleName(self.begin.text())

    def _prepare(self) -> None:
        for control in (self.starter, self.recommended, self.present, self.at_login):
            control.setAccessibleName(control.text())
        self.choice.setAccessibleName(tr("Model on this computer"))
        self.choice.setMinimumContentsLength(12)
        self.starter.setChecked(True)
        self.recommended.hide()
        self.why.hide()
        self.at_login.setChecked(self._autostart.is_on())

    def _lay_out(self) -> None:
        column = Column()
        lead = tr("Run language models on this computer and use them in your programs.")
        greeting = stack(Label(tr("Welcome to Moat"), "title"), Label(lead, "muted"))
        picture = Picture("moat", theme.HERO_SIDE)
        which = tr("Which model do you want to use?")
        where = Card()
        folders = stack(Label(tr("Model folder"), "section"), self.folder)
        lived = row(folders, self.add_folder, spacing=theme.LARGE, grows=folders)
        put(where.column, lived, divider(), self.at_login)
        put(
            column.body,
            row(picture, greeting, spacing=theme.LARGE, grows=greeting),
            self.failure,
            _card(tr("This computer"), self.machine),
            _card(which, self.starter, self.recommended, self.why, self.present, self.choice),
            where,
            self._first_program(),
            0,
        )
        foot = self._foot(column.verticalScrollBar())
        layout = stack(column, foot, spacing=theme.SMALL, grows=column)
        layout.setContentsMargins(0, 0, 0, theme.LARGE)
        self.setLayout(layout)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def _foot(self, bar: QScrollBar) -> QHBoxLayout:
        """Returns the line below the column, which stays visible while the column scrolls."""
        foot = QWidget()
        foot.setMaximumWidth(theme.READING_WIDTH)
        foot.setLayout(row(0, self.begin))
        bottom = row(0, foot, 0)
        bottom.setStretch(1, 1000)

        def keep_in_line() -> None:
            """Adds the scroll bar's width, which narrows the column but not the line below it."""
            taken = bar.sizeHint().width() if bar.maximum() > 0 else 0
            bottom.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN + taken, 0)

        bar.rangeChanged.connect(keep_in_line)
        keep_in_line()
        return bottom

    def _first_program(self) -> Card:
        """Shows the address and the first program's progress. Nobody has to wait for it."""
        lead = tr(
            "Give this address to OpenBB Workspace, an editor or another program, and ask it a "
            "question. Or begin with a chat here."
        )
        address = row(self.address, self.copy)
        words = Label(lead, "small", wrap=True)
        return _card(tr("Connect a program"), words, address, self.client)


def from_home(path: Path) -> str:
    """Writes a folder in the person's home with ~, on systems that know it."""
    is_own = os.name == "posix" and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home())}" if is_own else str(path)


def _card(title: str, *parts: Part) -> Card:
    card = Card()
    put(card.column, Label(title, "section"), *parts)
    return card
