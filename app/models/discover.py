"""The search for a model: suggestions for this machine, a search, and a repository's files."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import (
    Button,
    Card,
    Label,
    Remark,
    Rows,
    drop_all,
    put,
    row,
    search_field,
    stack,
    text_to_read,
)
from app.look.model_rows import FitLabel, download_size, facts, parameters
from app.look.page import Page
from app.look.summary import size
from app.look.translate import numeral, told, tr
from server.errors import AppError, LinkLost
from server.face.models import HubCard, HubFile, HubListing, HubModel, Suggestion

T = TypeVar("T")
_LINES = 14
"""The height of a model's card, in lines."""
_USES: dict[str, Callable[[], str]] = {
    "tools": lambda: tr("calls tools"),
    "thinking": lambda: tr("thinks"),
    "vision": lambda: tr("reads images"),
    "embeddings": lambda: tr("embeddings"),
}
_MOST_ISSUES = 5
"""The most files with issues that are named."""


class FileRow(QWidget):
    """A file to download: its name, facts, whether it runs here, and a button."""

    wanted = Signal()

    def __init__(self, title: str, about: str, item: HubFile | Suggestion) -> None:
        super().__init__()
        self.title = Label(title, "section", wrap=True)
        self.fit = FitLabel(item.fit)
        chips = [Label(tr("Recommended"), "chip")] if item.recommended else []
        self.reason = Label("", "small", wrap=True)
        self.reason.tell(told(item.why) if isinstance(item, Suggestion) else "")
        facts_of_it = Label(about, "small", wrap=True)
        head = row(self.title, *chips, 0)
        words = stack(head, facts_of_it, self.fit, self.reason, spacing=2)
        kind = "primary" if item.recommended else ""
        name = tr("Download {name}").format(name=title)
        self.button = Button(tr("Download"), "download", kind, name=name)  # type: ignore[arg-type]
        self._installed = item.installed
        if item.installed:
            self.button.setText(tr("Installed"))
            self.button.setEnabled(False)
        self.button.clicked.connect(self._want)
        self.setLayout(row(words, self.button, spacing=theme.LARGE, grows=words))

    def offer_again(self) -> None:
        self.button.setEnabled(not self._installed)

    def _want(self) -> None:
        self.button.setEnabled(False)
        self.wanted.emit()


class RepositoryRow(QWidget):
    opened = Signal(str)

    def __init__(self, found: HubModel) -> None:
        super().__init__()
        self.open = Button(
            tr("Show files"), name=tr("Show files of {name}").format(name=found.repo)
        )
        self.open.clicked.connect(lambda: self.opened.emit(found.repo))
        downloads = tr("1 download") if found.downloads == 1 else tr("{count} downloads")
        about = facts(
            downloads.format(count=numeral(found.downloads)),
            parameters(found.parameters),
            found.licence,
            tr("gated") if found.gated else "",
        )
        words = stack(Label(found.repo, "section"), Label(about, "small"), spacing=2)
        self.setLayout(row(words, self.open, grows=words))


class CardBox(QWidget):
    """The card of a repository: its licence, the hub's scan, and its makers' description."""

    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.read = Button(tr("About this model"), "info")
        self.read.clicked.connect(self.wanted)
        self.licence = Label("", "small", wrap=True)
        self.scan = Label("", "small", wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFixedHeight(_LINES * self.text.fontMetrics().height())
        self.text.setAccessibleName(tr("The model's card"))
        parts = (row(self.read, 0), self.licence, self.scan, self.text)
        self.setLayout(stack(*parts, spacing=theme.SMALL))
        self.clear()

    def clear(self) -> None:
        self.read.setEnabled(True)
        for part in (self.licence, self.scan, self.text):
            part.hide()

    def show_card(self, card: HubCard) -> None:
        name = card.licence_name or card.licence or tr("not specified")
        licence = tr("Licence: {name}").format(name=name)
        self.licence.tell(facts(licence, card.licence_address))
        words, role = _scan_words(card)
        self.scan.set_role(role)
        self.scan.tell(words)
        self.text.setPlainText(text_to_read(card.text or _missing_text(card)))
        self.text.show()


def _missing_text(card: HubCard) -> str:
    if card.problem:
        return told(card.problem)
    if card.gated:
        return tr("Its description can be read on its page, or once its terms are accepted.")
    return tr("Its authors give no description.")


def _scan_words(card: HubCard) -> tuple[str, str]:
    if card.issues:
        files = ", ".join(f"{issue.file} ({issue.level})" for issue in card.issues[:_MOST_ISSUES])
        return tr("The hub's scanners found something in: {files}").format(files=files), "bad"
    if card.is_scanned:
        return tr("The hub's scanners found nothing in its files."), "good"
    return tr("The hub has not scanned all of its files yet."), "warn"


class Discover(QWidget):
    """The part of the Models page that finds models."""

    began = Signal()
    """Emitted when a download has started."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._run, self._room = page.run, page.core.models
        self._was_suggested = False
        self.search = search_field(tr("Search Hugging Face"))
        self.search.returnPressed.connect(self._search)
        self.go = Button(tr("Search"), "search")
        self.go.clicked.connect(self._search)
        self.busy = Remark("muted")
        self.heading = Label("", "headline", wrap=True)
        self.note = Label("", "small", wrap=True)
        self.back = Button(tr("Back"), name=tr("Back to the list"))
        self.back.clicked.connect(lambda: self.show_suggestions(self._suggested))
        self.refresh = Button(tr("Look for new models"), "search")
        self.refresh.setToolTip(tr("Asks the hub what is popular now and fits this computer."))
        self.refresh.clicked.connect(lambda: self._run(self.look_for_new()))
        self.cancel = Button(tr("Cancel"), name=tr("Cancel looking for new models"))
        self.cancel.clicked.connect(lambda: self._run(self._room.cancel_refresh()))
        self.cancel.hide()
        self.about = CardBox()
        self.about.wanted.connect(self._want_card)
        self._repo = ""
        self._suggested: list[Suggestion] = []
        self._files: dict[tuple[str, str], FileRow] = {}
        self._body = QVBoxLayout()
        self._body.setSpacing(theme.LARGE)
        self.card = Card()
        self._lay_out()
        self.show_busy(tr("Scanning this computer…"))

    def _lay_out(self) -> None:
        head = row(self.heading, 0, self.refresh, self.cancel, self.back)
        put(self.card.column, head, self.note, self.about, self.busy, self._body)
        self.setLayout(stack(row(self.search, self.go), self.card, spacing=theme.LARGE))

    def begin(self) -> None:
        """Suggests models when this part is first shown."""
        if not self._was_suggested:
            self._was_suggested = True
            self._run(self._suggest())

    def follow_pace(self, _: object) -> None:
        """Suggests again after the machine's speed was measured: another model may fit better."""
        if self._was_suggested:
            self._run(self._suggest_again())

    async def look_up(self, text: str) -> None:
        try:
            self.show_found(text, await self._room.search(text))
        except AppError as error:
            self.show_problem(error)

    async def open(self, repo: str) -> None:
        self.show_busy(tr("Reading the files of {repo}…").format(repo=repo))
        try:
            self.show_listing(await self._room.list_repository(repo))
        except AppError as error:
            self.show_problem(error)

    async def read_card(self, repo: str) -> None:
        try:
            self.show_card(await self._room.read_hub_card(repo))
        except AppError as error:
            self.about.clear()
            self.show_problem(error)

    async def look_for_new(self) -> None:
        self.show_refreshing(tr("Asking the hub…"))
        try:
            await self._room.refresh_suggestions()
        except AppError as error:
            self.show_refreshing("")
            self.show_problem(error)
        else:
            self.show_refreshing("")
            await self._suggest()

    async def _suggest(self) -> None:
        try:
            self.show_suggestions(await self._room.suggest())
        except LinkLost:
            self._was_suggested = False

    async def _suggest_again(self) -> None:
        with suppress(LinkLost):
            self.renew_suggestions(await self._room.suggest())

    async def _download(self, repo: str, file: str) -> None:
        try:
            await self._room.download(repo, file)
        except AppError:
            self.offer_again(repo, file)
            raise
        self.began.emit()

    def show_problem(self, error: AppError) -> None:
        self.show_busy("")
        self.busy.fail(error)

    def show_busy(self, words: str) -> None:
        self.busy.tell(words)
        self.go.setEnabled(not words)

    def show_suggestions(self, suggested: list[Suggestion]) -> None:
        self._suggested = suggested
        self._head(
            tr("For this computer"),
            tr("Recommended models of each size, checked for this computer."),
        )
        self._fill(suggested, _suggestion_key, self._suggestion)
        self.back.hide()
        self.refresh.show()

    def renew_suggestions(self, suggested: list[Suggestion]) -> None:
        """Updates the suggestions. They are shown now, or when the person returns to them."""
        is_shown, self._suggested = self.shows_suggestions, suggested
        if is_shown:
            self._fill(suggested, _suggestion_key, self._suggestion)

    @property
    def shows_suggestions(self) -> bool:
        return self.refresh.isVisibleTo(self)

    def show_refreshing(self, words: str) -> None:
        """Shows the progress of the search for new models. An empty text ends it."""
        self.refresh.setEnabled(not words)
        self.cancel.setVisible(bool(words))
        self.show_busy(told(words))

    def show_found(self, text: str, found: list[HubModel]) -> None:
        self._head(tr("Results for “{text}”").format(text=text), "")
        self._fill(found, lambda one: one.repo, self._repository)
        if not found:
            self.busy.tell(tr("No repository with GGUF files found."))

    def show_listing(self, listing: HubListing) -> None:
        terms = tr("Accept its terms on {address} first.").format(address=listing.address)
        note = facts(listing.licence, terms if listing.gated else "", told(listing.note))
        self._head(listing.repo, note)
        self._repo = repo = listing.repo
        self.about.show()
        self._fill(listing.files, lambda one: one.name, lambda one: self._file(repo, one))

    def offer_again(self, repo: str, file: str = "") -> None:
        """Offers a file for download again. Without `file`, offers all files of the repository."""
        for (of, name), row_of_it in self._files.items():
            if of == repo and file in ("", name):
                row_of_it.offer_again()

    def show_card(self, card: HubCard) -> None:
        if self.about.isVisibleTo(self):
            self.about.show_card(card)

    def _want_card(self) -> None:
        self.about.read.setEnabled(False)
        self._run(self.read_card(self._repo))

    def _head(self, heading: str, note: str) -> None:
        self.show_busy("")
        self.about.clear()
        self.about.hide()
        self.heading.setText(heading)
        self.note.tell(note)
        self.back.show()
        self.refresh.hide()

    def _fill(
        self,
        items: list[T] | tuple[T, ...],
        key: Callable[[T], str],
        make: Callable[[T], QWidget],
    ) -> None:
        self._files.clear()
        drop_all(self._body)
        rows: Rows[T, QWidget] = Rows(key, make)
        rows.show(list(items))
        holder = QWidget()
        rows.layout.setContentsMargins(0, 0, 0, 0)
        holder.setLayout(rows.layout)
        self._body.addWidget(holder)

    def _suggestion(self, one: Suggestion) -> QWidget:
        good_at = told(one.good_at)
        uses = ", ".join(_USES[use]() for use in one.uses if use in _USES)
        about = facts(good_at, uses, parameters(one.parameters), download_size(one), one.licence)
        made = FileRow(one.title, about, one)
        made.wanted.connect(lambda: self._run(self._download(one.repo, one.file)))
        self._files[one.repo, one.file] = made
        return made

    def _repository(self, one: HubModel) -> QWidget:
        made = RepositoryRow(one)
        made.opened.connect(lambda repo: self._run(self.open(repo)))
        return made

    def _file(self, repo: str, one: HubFile) -> QWidget:
        parts = tr("{count} parts").format(count=len(one.parts)) if len(one.parts) > 1 else ""
        made = FileRow(one.name, facts(one.quantisation, size(one.size_bytes), parts), one)
        made.wanted.connect(lambda: self._run(self._download(repo, one.name)))
        self._files[repo, one.name] = made
        return made

    def _search(self) -> None:
        if text := self.search.text().strip():
            self.show_busy(tr("Searching…"))
            self._run(self.look_up(text))


def _suggestion_key(one: Suggestion) -> str:
    return f"{one.repo}/{one.file}"
