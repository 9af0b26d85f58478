"""Models: what is here, what could be, and what is on its way."""

from contextlib import suppress

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app.look import theme
from app.look.banner import Banner
from app.look.controls import Column, Label, row
from app.look.page import Page
from app.look.segments import Segments
from app.look.sentences import told
from app.look.summary import size
from app.look.translate import tr
from app.models.discover import Discover
from app.models.downloads import Downloads
from app.models.hub_token import HubToken
from app.models.installed import Installed, OtherFolders
from server.errors import AppError, LinkLost
from server.face.core import Face
from server.face.models import Download

HERE, DISCOVER, DOWNLOADS = range(3)


class ModelsPage(Page):
    title = "Models"
    icon = "models"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.parts = Segments(
            tr("Parts of this page"), (tr("On this computer"), tr("Discover"), tr("Downloads"))
        )
        self.installed = Installed()
        self.folders = OtherFolders()
        self.discover = Discover()
        self.downloads = Downloads()
        self.token = HubToken()
        self.freed = Banner("info")
        self.freed.hide()
        self._body = QStackedWidget()
        self._was_suggested = False
        self._listed: set[str] = set()
        """Where downloads are from: one that goes from here was cancelled, or cleared away."""
        self._lay_out()
        self._bind(core)

    def show_models(self, _: object) -> None:
        self.installed.show_models(self.core.models.get(), self.core.model.get())

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
        if part == DISCOVER and not self._was_suggested:
            self._was_suggested = True
            self.run(self._suggest())

    async def search(self, text: str) -> None:
        await self._looking(self._show_found(text))

    async def open(self, repo: str) -> None:
        self.discover.show_busy(tr("Reading the files of {repo}…").format(repo=repo))
        await self._looking(self._show_listing(repo))

    async def download(self, repo: str, file: str) -> None:
        try:
            await self.core.download_model(repo, file)
        except AppError:
            self.discover.offer_again(repo, file)
            raise
        self.parts.choose(DOWNLOADS)

    async def delete(self, name: str) -> None:
        freed = await self.core.delete_model(name)
        words = tr("{name} was deleted; {size} are free again.") if freed else (
            tr("{name} was taken off the list; its file stays where it is.")
        )  # fmt: skip
        self.freed.tell("", words.format(name=name, size=size(freed)))
        self.freed.show()

    async def describe(self, name: str) -> None:
        self.installed.show_detail(await self.core.describe_model(name))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.run(self._show_place_of_token())

    async def _show_place_of_token(self) -> None:
        with suppress(LinkLost):
            self.token.show_place(await self.core.plain_secrets_file())

    async def keep_token(self, token: str) -> None:
        await self.core.set_hub_token(token)
        self.token.show_saved(kept=bool(token))
        await self._show_place_of_token()

    async def import_file(self, path: str) -> None:
        await self.core.import_model(path)

    async def use_folder(self, path: str) -> None:
        folders = self.core.settings.get().model.folders
        await self.core.change_setting("model.folders", (*folders, path))
        await self._find_folders()

    async def _looking(self, work: object) -> None:
        try:
            await work  # type: ignore[misc]
        except AppError as error:
            self.discover.show_problem(told(str(error)))

    async def _show_found(self, text: str) -> None:
        self.discover.show_found(text, await self.core.search_models(text))

    async def _show_listing(self, repo: str) -> None:
        self.discover.show_listing(await self.core.list_repository(repo))

    async def _suggest(self) -> None:
        try:
            self.discover.show_suggestions(await self.core.suggest_models())
        except LinkLost:
            self._was_suggested = False

    def _look_again(self, _: object) -> None:
        """The page is there before its server is."""
        self.run(self._find_folders())
        self.turn_to(self._body.currentIndex())

    async def _find_folders(self) -> None:
        try:
            self.folders.show_folders(await self.core.find_model_folders())
        except LinkLost:
            return

    def _pick_file(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(
            self, tr("Add a GGUF file"), "", tr("Models (*.gguf)")
        )
        if picked:
            self.run(self.import_file(picked))

    def _bind(self, core: Face) -> None:
        self.parts.chosen.connect(self.turn_to)
        self.installed.loaded.connect(lambda name: self.run(core.load_model(name)))
        self.installed.deleted.connect(lambda name: self.run(self.delete(name)))
        self.installed.described.connect(lambda name: self.run(self.describe(name)))
        self.installed.wants_import.connect(self._pick_file)
        self.token.saved.connect(lambda token: self.run(self.keep_token(token)))
        self.installed.wants_models.connect(lambda: self.parts.choose(DISCOVER))
        self.folders.used.connect(lambda path: self.run(self.use_folder(path)))
        self.discover.searched.connect(lambda text: self.run(self.search(text)))
        self.discover.opened.connect(lambda repo: self.run(self.open(repo)))
        self.discover.wanted.connect(lambda repo, file: self.run(self.download(repo, file)))
        self.downloads.paused.connect(lambda number: self.run(core.pause_download(number)))
        self.downloads.resumed.connect(lambda number: self.run(core.resume_download(number)))
        self.downloads.cancelled.connect(lambda number: self.run(core.cancel_download(number)))
        self.freed.dismissed.connect(self.freed.hide)
        self.observe(core.models, self.show_models)
        self.observe(core.model, self.show_models)
        self.observe(core.downloads, self.show_downloads)
        self.observe(core.server, self._look_again)

    def _lay_out(self) -> None:
        for parts in (
            (self.freed, self.installed, self.folders),
            (self.discover, self.token),
            (self.downloads,),
        ):
            column = Column()
            column.body.setContentsMargins(
                theme.PAGE_MARGIN, theme.TINY, theme.PAGE_MARGIN, theme.PAGE_MARGIN
            )
            for part in parts:
                column.body.addWidget(part)
            column.body.addStretch(1)
            self._body.addWidget(column)
        head = QWidget()
        head.setMaximumWidth(theme.READING_WIDTH + 2 * theme.PAGE_MARGIN)
        inside = QVBoxLayout(head)
        inside.setContentsMargins(
            theme.PAGE_MARGIN, theme.PAGE_MARGIN, theme.PAGE_MARGIN, theme.MEDIUM
        )
        inside.setSpacing(theme.MEDIUM)
        inside.addWidget(Label(tr("Models"), "title"))
        inside.addWidget(self.parts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        centred = row(0)
        centred.addWidget(head, 1000)
        centred.addStretch(1)
        layout.addLayout(centred)
        layout.addWidget(self._body, 1)
