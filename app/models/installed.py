"""The models on this computer: their details, loading them, and deleting them to free space."""

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Card,
    Choice,
    Label,
    Remark,
    Removable,
    Rows,
    divider,
    drop_all,
    name_label,
    put,
    reveal,
    row,
    stack,
    text_to_read,
)
from app.look.model_rows import FitLabel, facts, parameters, show_use
from app.look.page import Page
from app.look.summary import sentence, size
from app.look.translate import locale, numeral, told, tr
from server.chat import SAMPLED, Sampling
from server.errors import AppError
from server.face.core import ModelStatus
from server.face.models import FoundFolder, ModelCard, ModelDetail, Newer, TemplateNote
from server.settings import OWN_FIELDS, ModelSettings, OwnSettings

_LINES = 14


class _Number(QLineEdit):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self._shown = ""
        self.editingFinished.connect(self._finish)

    def show_value(self, value: object) -> None:
        self._shown = "" if value is None else str(value)
        self.setText(self._shown.replace(".", locale().decimalPoint()))

    def _finish(self) -> None:
        text = self.text().strip().replace(",", ".")
        if text != self._shown:
            self._shown = text
            self.edited.emit(text or None)


class _Prompt(QPlainTextEdit):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(theme.LINES_HEIGHT)
        self.setTabChangesFocus(True)
        self._shown = ""

    def show_value(self, value: object) -> None:
        self._shown = "" if value is None else str(value)
        if self.toPlainText() != self._shown:
            self.setPlainText(self._shown)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        text = self.toPlainText().strip()
        if text != self._shown:
            self._shown = text
            self.edited.emit(text or None)


class _Thinking(Choice):
    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.addItem(tr("As the request or the model decides"), None)
        self.addItem(tr("On"), "on")
        self.addItem(tr("Off"), "off")
        self.currentIndexChanged.connect(lambda index: self.edited.emit(self.itemData(index)))

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(value))


Control = _Number | _Prompt | _Thinking
_KINDS: dict[str, type[Control]] = {"system_prompt": _Prompt, "thinking": _Thinking}


class OwnBox(QWidget):
    """The settings of one model. `changed` carries a field and its value; None resets the field."""

    changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, Control] = {}
        self.summary = Label("", "small", wrap=True)
        self.problem = Remark("bad")
        self.reset = Button(tr("Reset all"), "reset", name=tr("Reset the settings of this model"))
        self.reset.clicked.connect(self._reset)
        self._own: dict[str, Any] = {}
        form = QFormLayout()
        form.setSpacing(theme.SMALL)
        for field, info in OWN_FIELDS.items():
            form.addRow(Label(tr(info.title or field)), self._control(field))
        head = row(Label(tr("Settings of this model"), "section"), 0, self.reset)
        self.setLayout(stack(head, self.summary, form, self.problem, spacing=theme.SMALL))

    def show_settings(self, own: OwnSettings, shared: ModelSettings) -> None:
        self._own = own.values
        for field, control in self.fields.items():
            control.show_value(self._own.get(field))
            if not isinstance(control, _Thinking):
                control.setPlaceholderText(_otherwise(field, shared))
        names = ", ".join(tr(OWN_FIELDS[field].title or field) for field in self._own)
        words = tr("Set for this model alone: {names}.").format(names=names)
        self.summary.setText(
            words
            if names
            else tr("Same as for other models. What you enter here takes precedence.")
        )
        self.reset.setEnabled(bool(self._own))
        self.problem.hide()

    def _control(self, field: str) -> Control:
        made = self.fields[field] = _KINDS.get(field, _Number)()
        info = OWN_FIELDS[field]
        made.setAccessibleName(tr(info.title or field))
        if info.description:
            made.setToolTip(tr(info.description))
            made.setAccessibleDescription(tr(info.description))
        made.edited.connect(lambda value: self.changed.emit(field, value))
        return made

    def _reset(self) -> None:
        for field in tuple(self._own):
            self.changed.emit(field, None)


def _otherwise(field: str, shared: ModelSettings) -> str:
    """Returns what applies while nothing is entered, and where that comes from."""
    if field in SAMPLED:
        return tr("Default: {value}").format(value=numeral(getattr(Sampling(), field), ""))
    if field in ModelSettings.model_fields:
        value = getattr(shared, field)
        is_automatic = value == type(shared).model_fields[field].default
        words = tr("Automatic") if is_automatic else numeral(value, "")
        return tr("All models: {value}").format(value=words)
    return tr("For conversations without one of their own.")


class NewerFile(QWidget):
    """A button that looks for another version of the model on the hub."""

    sought = Signal()
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.seek = Button(tr("Look for a newer file"), "search")
        self.get = Button(tr("Download the newer file"), "download", "primary")
        self.state = Remark()
        self.seek.clicked.connect(self._seek)
        self.get.clicked.connect(self.wanted)
        self.setLayout(stack(row(self.seek, self.get, 0), self.state, spacing=theme.SMALL))
        self.get.hide()

    def show_found(self, found: Newer) -> None:
        self.seek.setEnabled(True)
        self.get.setVisible(found.state == "newer")
        self.state.tell(*_newer_words(found))

    def show_problem(self, error: AppError) -> None:
        self.seek.setEnabled(True)
        self.get.hide()
        self.state.fail(error)

    def _seek(self) -> None:
        self.seek.setEnabled(False)
        self.state.tell(tr("Comparing it with the hub's file…"), "muted")
        self.sought.emit()


class ModelDetails(QWidget):
    """The details of a model: facts, its chat template, and its own settings."""

    def __init__(self) -> None:
        super().__init__()
        self.newer = NewerFile()
        self.own = OwnBox()
        self.about = Label("", "small", wrap=True)
        self.fit = FitLabel()
        self.template = Button(tr("Show the chat template"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(theme.mono())
        self.text.setFixedHeight(_LINES * self.text.fontMetrics().height())
        self.text.setAccessibleName(tr("Chat template"))
        self.text.hide()
        self._template = ""
        self.template.clicked.connect(lambda: self._turn(self._template))
        self._shown = ""
        self._warnings = QVBoxLayout()
        self._warnings.setSpacing(theme.SMALL)
        above = (self.about, self.fit, self._warnings, row(self.template, 0))
        below = (self.newer, self.text, divider(), self.own)
        self.setLayout(stack(*above, *below, spacing=theme.SMALL))

    def show_detail(self, detail: ModelDetail) -> None:
        self.about.setText("\n".join(_lines(detail)))
        self.fit.setVisible(not detail.damaged)
        self.fit.show_fit(detail.fit)
        self.template.setVisible(bool(detail.template))
        self._template = detail.template
        drop_all(self._warnings)
        for note in detail.template_notes:
            self._warnings.addWidget(self._warning(note))

    def _warning(self, note: TemplateNote) -> Banner:
        is_long = note.kind == "differs" and bool(note.detail)
        banner = Banner("warn", told(note.text), "" if is_long else told(note.detail), closes=False)
        if is_long:
            show = Button(tr("Show differences"))
            show.clicked.connect(lambda: self._turn(note.detail))
            banner.add_button(show)
        return banner

    def _turn(self, text: str) -> None:
        """Shows a text, or hides it if it is shown already."""
        same = self.text.isVisibleTo(self) and self._shown == text
        self._shown = text
        self.text.setPlainText(text_to_read(text))
        self.text.setVisible(not same)


def _newer_words(found: Newer) -> tuple[str, str]:
    if found.state == "same":
        return tr("This is the newest file of {repo}.").format(repo=found.repo), "good"
    if found.state == "gone":
        words = tr("{repo} no longer has this file, or is not public any more.")
        return words.format(repo=found.repo), "warn"
    words = tr("A newer file is in {repo}: {size}, changed on {day} or before.")
    return words.format(repo=found.repo, size=size(found.size_bytes), day=found.updated), "warn"


def _lines(detail: ModelDetail) -> list[str]:
    if detail.damaged:
        return [tr("The file is damaged: {why}.").format(why=told(detail.damaged)), detail.path]
    context = detail.trained_context_tokens
    found = [
        facts(detail.title, detail.architecture, parameters(detail.parameters)),
        facts(
            detail.quantisation,
            size(detail.size_bytes),
            tr("{tokens} tokens of context").format(tokens=numeral(context)) if context else "",
        ),
        tr("Licence: {name}").format(name=detail.licence or tr("not specified")),
        tr("Tool calls: {style}").format(style=detail.tool_style or tr("not in its template")),
    ]
    if detail.projector:
        found.append(tr("Reads images: {file}").format(file=detail.projector))
    return [*found, detail.path]


class InstalledRow(Removable):
    def __init__(self, card: ModelCard, owner: "Installed") -> None:
        name = card.name
        goes = (tr("Delete"), tr("Delete {name}"), tr("Confirm: delete {name}"))
        if card.owned == "listed":
            goes = (tr("Remove"), tr("Remove {name}"), tr("Confirm: remove {name}"))
        icon = "close" if card.owned == "listed" else "trash"
        remove = Button("", icon, "icon", name=goes[1].format(name=name))
        super().__init__(name, remove, Button(goes[0], icon, name=goes[2].format(name=name)))
        self.sure.clicked.connect(lambda: owner.deleted.emit(name))
        self._owner = owner
        self.name = name_label(name)
        self.facts = Label("", "small", wrap=True)
        self.note = Remark()
        self.load = Button(tr("Load"), name=tr("Load {name}").format(name=name))
        self.load.clicked.connect(lambda: owner.page.run(owner.page.core.load_model(name)))
        self.about = Button(tr("Details"), name=tr("Details of {name}").format(name=name))
        self.about.clicked.connect(self._turn)
        self.details: ModelDetails | None = None
        self._card = card
        words = stack(self.name, self.facts, self.note, spacing=2)
        buttons = (self.load, self.about, self.remove, self.sure, self.keep)
        self._column = stack(row(words, *buttons, grows=words), spacing=theme.SMALL)
        self.setLayout(self._column)
        self.ask(asking=False)

    def show_card(self, card: ModelCard, model: ModelStatus) -> None:
        self._card = card
        context = card.trained_context_tokens
        self.facts.setText(
            facts(
                card.quantisation,
                size(card.size_bytes),
                parameters(card.parameters),
                tr("{tokens} tokens of context").format(tokens=numeral(context)) if context else "",
            )
        )
        show_use(self.load, card.name, model)
        if not self.sure.isVisibleTo(self):
            self.ask(asking=False)

    def show_detail(self, detail: ModelDetail) -> None:
        if self.details is None:
            name, owner = self._card.name, self._owner
            self.details = ModelDetails()
            self.details.newer.sought.connect(lambda: owner.page.run(owner.find_newer(name)))
            self.details.newer.wanted.connect(lambda: owner.newer_wanted.emit(name))
            self.details.own.changed.connect(
                lambda *given: owner.page.run(owner.set_otherwise(name, *given))
            )
            self._column.addWidget(self.details)
        self.details.show_detail(detail)
        self.details.show()

    def _turn(self) -> None:
        if self.details is not None and self.details.isVisibleTo(self):
            self.details.hide()
        else:
            self._owner.page.run(self._owner.describe(self._card.name))

    def ask(self, *, asking: bool) -> None:
        super().ask(asking=asking)
        card = self._card
        does = tr("This frees {size} on the disk.").format(size=size(card.size_bytes))
        if card.owned == "listed":
            does = tr("This removes it from the list. The file is not deleted.")
        if asking:
            self.note.tell(does)
        elif card.failure:
            words = tr("Could not be loaded: {why}").format(why=told(card.failure))
            self.note.tell(words, details=card.failure_details)
        else:
            self.note.tell(sentence(told(card.label)))
        reveal(self.load, shown=not asking)
        reveal(self.about, shown=not asking)
        may_go = not card.starter and card.owned != "other"
        reveal(self.remove, shown=not asking and may_go)


class Installed(Card):
    deleted = Signal(str)
    newer_wanted = Signal(str)
    wants_import = Signal()
    wants_models = Signal()

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self._model = ModelStatus()
        self._settings = ModelSettings()
        self.import_file = Button(tr("Add a GGUF file"), "plus")
        self.import_file.clicked.connect(self.wants_import)
        self.empty = Label("", "muted", wrap=True)
        self.discover = Button(tr("Discover models"), "search", "primary")
        self.discover.clicked.connect(self.wants_models)
        self.list: Rows[ModelCard, InstalledRow] = Rows(
            lambda card: card.name,
            lambda card: InstalledRow(card, self),
            lambda line, card: line.show_card(card, self._model),
        )
        head = row(Label(tr("On this computer"), "headline"), 0, self.import_file)
        put(self.column, head, self.empty, row(self.discover, 0), self.list.layout)

    def show_models(
        self, cards: tuple[ModelCard, ...], model: ModelStatus, *, is_known: bool = True
    ) -> None:
        """Shows the models. `is_known` is False until a server has listed them."""
        self._model = model
        self.list.show(cards)
        none = tr("No model is installed yet. Discover one, or add a file you already have.")
        unknown = tr("Models are listed when the server responds.")
        self.empty.setText(none if is_known else unknown)
        self.empty.setVisible(not cards)
        self.discover.setVisible(not cards and is_known)

    async def describe(self, name: str) -> None:
        detail = await self.page.core.models.describe(name)
        for line in self.list.rows:
            if line.name.text() == detail.name:
                line.show_detail(detail)
        self.show_settings(self._settings)

    async def find_newer(self, name: str) -> None:
        try:
            found = await self.page.core.models.find_newer(name)
        except AppError as error:
            if details := self._details_of(name):
                details.newer.show_problem(error)
        else:
            if details := self._details_of(name):
                details.newer.show_found(found)

    async def set_otherwise(self, name: str, field: str, value: object) -> None:
        """Changes a setting of this model alone. Shows an error beside the setting."""
        try:
            await self.page.core.models.change_own_setting(name, field, value)
        except AppError as error:
            # Keep what was typed, so that it can be corrected.
            if details := self._details_of(name):
                details.own.problem.fail(error)

    def show_settings(self, settings: ModelSettings) -> None:
        self._settings = settings
        for line in self.list.rows:
            if line.details:
                line.details.own.show_settings(settings.own_of(line.name.text()), settings)

    def _details_of(self, name: str) -> ModelDetails | None:
        """Returns the model's details; None if they were never shown or the model is gone."""
        found = [line.details for line in self.list.rows if line.name.text() == name]
        return found[0] if found else None


class FolderRow(QWidget):
    def __init__(self, found: FoundFolder, owner: "OtherFolders") -> None:
        super().__init__()
        words = tr("{count} models, {size}, in {path}")
        if found.models == 1:
            words = tr("1 model, {size}, in {path}")
        words = words.format(count=found.models, size=size(found.size_bytes), path=found.path)
        self.use = Button(
            tr("Use these models"), name=tr("Use the models of {name}").format(name=found.program)
        )
        self.use.clicked.connect(lambda: owner.used.emit(found.path))
        about = stack(Label(found.program, "section"), Label(words, "small", wrap=True))
        self.setLayout(row(about, self.use, grows=about))


class OtherFolders(Card):
    """Models of other programs on this computer. They are used in place, not copied."""

    used = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.list: Rows[FoundFolder, FolderRow] = Rows(
            lambda one: one.path, lambda one: FolderRow(one, self)
        )
        put(self.column, Label(tr("Found in other programs"), "headline"), self.list.layout)
        self.hide()

    def show_folders(self, found: list[FoundFolder]) -> None:
        offered = [one for one in found if not one.used and one.models]
        self.list.show(offered)
        self.setVisible(bool(offered))
