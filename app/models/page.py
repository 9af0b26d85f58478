"""The Models page: installed models, engines elsewhere, new models, and downloads."""

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QStackedWidget, QWidget

from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Card,
    Column,
    Label,
    Rows,
    SecretsPlace,
    Segments,
    field,
    put,
    row,
    stack,
)
from app.look.model_rows import DownloadRow, add_model_folder
from app.look.page import Page
from app.look.summary import is_heard, size
from app.look.translate import tr
from app.models.discover import Discover
from app.models.elsewhere import EngineForm, Engines
from app.models.installed import Installed, OtherFolders
from server.errors import LinkLost
from server.face.core import Face
from server.face.models import Download


class Downloads(Card):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.empty = Label(tr("Nothing is being downloaded."), "muted")
        self.list: Rows[Download, DownloadRow] = Rows(
            lambda one: one.id,
            lambda one: DownloadRow(one, page, page.core.models),
            DownloadRow.show_download,
        )
        put(self.column, self.empty, self.list.layout)

    def show_downloads(self, downloads: tuple[Download, ...]) -> None:
        self.list.show(downloads)
        self.empty.setVisible(not downloads)


class HubToken(Card):
    saved = Signal(str)
    """Emitted with the token; empty to delete it."""
    login_used = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.login = Banner("info", closes=False)
        self.use = Button(tr("Use it"), name=tr("Use the token of this computer"))
        self.use.clicked.connect(self.login_used)
        self.login.add_button(self.use)
        self.login.hide()
        self.edit = field(tr("Hugging Face token"), tr("Hugging Face token"))
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep = Button(tr("Save"), name=tr("Save the token"))
        self.forget = Button(tr("Remove"), name=tr("Remove the token"))
        self.state = Label("", "small", wrap=True)
        self.place = SecretsPlace()
        why = tr("Accept the terms on the model's page, then paste a token with read access.")
        put(self.column, Label(tr("Gated models"), "headline"), Label(why, "small", wrap=True))
        line = row(self.edit, self.keep, self.forget, grows=self.edit)
        put(self.column, self.login, line, self.place, self.state)
        self.state.hide()
        self.edit.returnPressed.connect(self._save)
        self.keep.clicked.connect(self._save)
        self.forget.clicked.connect(lambda: self.saved.emit(""))

    def show_login(self, place: str) -> None:
        words = tr("You are signed in to Hugging Face on this computer ({place}).")
        self.login.tell("", words.format(place=place))
        self.login.setVisible(bool(place))

    def show_saved(self, *, kept: bool) -> None:
        self.edit.clear()
        self.state.tell(
            tr("The token is saved with your secrets.") if kept else tr("The token was removed.")
        )

    def _save(self) -> None:
        if text := self.edit.text().strip():
            self.saved.emit(text)


HERE, ELSEWHERE, DISCOVER, DOWNLOADS = range(4)


class ModelsPage(Page):
    title = "Models"
    icon = "models"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.take_drops(
            lambda path: path.suffix.lower() == ".gguf" or path.is_dir(),
            lambda found: self.run(self.take_files(found)),
        )
        self.parts = Segments(
            tr("Sections of this page"),
            (tr("On this computer"), tr("Remote"), tr("Discover"), tr("Downloads")),
        )
        self.installed = Installed(self)
        self.folders = OtherFolders()
        self.engines = Engines(self)
        self.engine_form = EngineForm(self)
        self.discover = Discover(self)
        self.downloads = Downloads(self)
        self.token = HubToken()
        self.freed = Banner("info")
        self.freed.hide()
        self._body = QStackedWidget()
        self._listed: set[str] = set()
        """The repositories of the downloads. One that goes was cancelled or cleared away."""
        self._lay_out()
        self._bind(core)

    def show_models(self, _: object) -> None:
        here = tuple(card for card in self.core.models.cards.get() if not card.hosts)
        is_known = is_heard(self.core.server.get())
        self.installed.show_models(here, self.core.model.get(), is_known=is_known)
        self.engines.show_engines(self.core.engines.states.get(), self.core.model.get())

    def show_downloads(self, downloads: tuple[Download, ...]) -> None:
        self.downloads.show_downloads(downloads)
        listed = {one.repo for one in downloads}
        for repo in self._listed - listed:
            self.discover.offer_again(repo)
        self._listed = listed
        open_ones = sum(one.phase != "done" for one in downloads)
        text = tr("Downloads")
        self.parts.set_text(DOWNLOADS, f"{text} ({open_ones})" if open_ones else text)

    def turn_to(self, part: int) -> None:
        self._body.setCurrentIndex(part)
        if part == DISCOVER:
            self.discover.begin()

    async def delete(self, name: str) -> None:
        freed = await self.core.models.delete(name)
        words = tr("{name} was deleted; {size} freed.") if freed else (
            tr("{name} was removed from the list; its file was not deleted.")
        )  # fmt: skip
        self.freed.tell("", words.format(name=name, size=size(freed)))
        self.freed.show()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.run(self._show_place_of_token())
        self.run(self._show_login())

    async def _show_place_of_token(self) -> None:
        with suppress(LinkLost):
            plain_file = await self.core.plain_secrets_file()
            self.token.place.show_place(plain_file)
            self.engine_form.place.show_place(plain_file)

    async def _show_login(self) -> None:
        with suppress(LinkLost):
            self.token.show_login(await self.core.models.find_hub_login())

    async def use_login(self) -> None:
        await self.core.models.use_hub_login()
        self.token.show_saved(kept=True)
        await self._show_place_of_token()
        await self._show_login()

    async def download_newer(self, name: str) -> None:
        await self.core.models.download_newer(name)
        self.parts.choose(DOWNLOADS)

    async def keep_token(self, token: str) -> None:
        await self.core.models.set_hub_token(token)
        self.token.show_saved(kept=bool(token))
        await self._show_place_of_token()
        await self._show_login()

    async def take_files(self, found: list[Path]) -> None:
        """Adds the model files and folders that were dropped."""
        self.parts.choose(0)
        for path in found:
            await (self.use_folder(str(path)) if path.is_dir() else self.import_file(str(path)))

    async def import_file(self, path: str) -> None:
        await self.core.models.import_file(path)

    async def use_folder(self, path: str) -> None:
        await add_model_folder(self.core, path)
        await self._find_folders()

    def _look_again(self, _: object) -> None:
        """Looks for folders and shows the current part again, once the server has started."""
        self.run(self._find_folders())
        self.turn_to(self._body.currentIndex())

    def _show_refreshing(self, words: str) -> None:
        if words:
            self.discover.show_refreshing(words)

    async def _find_folders(self) -> None:
        with suppress(LinkLost):
            self.folders.show_folders(await self.core.models.find_folders())

    def _pick_file(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(
            self, tr("Add a GGUF file"), "", tr("Models (*.gguf)")
        )
        if picked:
            self.run(self.import_file(picked))

    def _bind(self, core: Face) -> None:
        self.parts.chosen.connect(self.turn_to)
        self.installed.deleted.connect(lambda name: self.run(self.delete(name)))
        self.installed.wants_import.connect(self._pick_file)
        self.installed.newer_wanted.connect(lambda name: self.run(self.download_newer(name)))
        self.installed.wants_models.connect(lambda: self.parts.choose(DISCOVER))
        self.discover.began.connect(lambda: self.parts.choose(DOWNLOADS))
        self.observe(core.models.refreshing, self._show_refreshing)
        self.observe(core.models.pace, self.discover.follow_pace)
        self.token.saved.connect(lambda token: self.run(self.keep_token(token)))
        self.token.login_used.connect(lambda: self.run(self.use_login()))
        self.folders.used.connect(lambda path: self.run(self.use_folder(path)))
        self.engine_form.kept.connect(lambda: self.run(self._show_place_of_token()))
        self.freed.dismissed.connect(self.freed.hide)
        self.observe(core.settings, lambda now: self.installed.show_settings(now.model))
        self.observe(core.models.cards, self.show_models)
        self.observe(core.model, self.show_models)
        self.observe(core.engines.states, self.show_models)
        self.observe(core.models.downloads, self.show_downloads)
        self.observe(core.server, self._look_again)
        self.observe(core.server, self.show_models)

    def _lay_out(self) -> None:
        for parts in (
            (self.freed, self.installed, self.folders),
            (self.engines, self.engine_form),
            (self.discover, self.token),
            (self.downloads,),
        ):
            column = Column()
            column.body.setContentsMargins(
                theme.PAGE_MARGIN, theme.TINY, theme.PAGE_MARGIN, theme.PAGE_MARGIN
            )
            put(column.body, *parts, 0)
            self._body.addWidget(column)
        head = QWidget()
        head.setMaximumWidth(theme.READING_WIDTH + 2 * theme.PAGE_MARGIN)
        inside = stack(Label(tr("Models"), "title"), self.parts, spacing=theme.MEDIUM)
        inside.setContentsMargins(
            theme.PAGE_MARGIN, theme.PAGE_MARGIN, theme.PAGE_MARGIN, theme.MEDIUM
        )
        head.setLayout(inside)
        centred = row(0, head, 0)
        centred.setStretch(1, 1000)
        self.setLayout(stack(centred, self._body, spacing=0, grows=self._body))
