"""The Settings page, built from the declarations in `server.settings`.

A new setting needs nothing here. Starting at login is separate, because the desktop keeps it, not
the server.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QResizeEvent,
    QShowEvent,
    QValidator,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QWidget,
)

from app.desktop import autostart
from app.desktop.autostart import Autostart
from app.look import theme
from app.look.controls import (
    Button,
    Card,
    Choice,
    Column,
    Label,
    NumberBox,
    Remark,
    divider,
    hint,
    put,
    row,
    search_field,
    stack,
)
from app.look.page import Page, SafeKeyboard
from app.look.translate import numeral, told, tr
from server import VERSION
from server.errors import AppError, LinkLost
from server.face.core import Face, Update
from server.settings import Settings, choice_label
from server.system import files, licenses
from server.system.licenses import Component


class AboutCard(Card):
    check = Signal()
    """Emitted when the person looks for a newer version."""

    def __init__(self) -> None:
        super().__init__()
        self.version = Label(tr("Version {version}").format(version=VERSION))
        self.engine = Label("", "small", wrap=True)
        self.update_line = Label("", wrap=True)
        self._allowed = True
        self._update = Update()
        self.look = Button(tr("Check for updates"), "reset")
        self.licences = Button(tr("Licences"), "info")
        self.look.clicked.connect(self.check)
        self.licences.clicked.connect(lambda: LicencesDialog(licenses.find(), self).open())
        for label in (self.version, self.engine, self.update_line):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        line = row(self.version, 0, self.look, self.licences)
        put(self.column, Label(tr("About Moat"), "headline"), line, self.engine, self.update_line)

    def show_allowed(self, *, allowed: bool) -> None:
        """Whether the settings let Moat ask for newer versions."""
        self._allowed = allowed
        self.look.setEnabled(allowed)
        self.show_update(self._update)

    def show_update(self, update: Update) -> None:
        self._update = update
        text = tr("Moat is up to date.") if update.checked_at else ""
        if not self._allowed:
            text = tr("To check for updates, turn on the daily check under Updates first.")
        if update.version:
            text = tr("Version {version} is available: {page}").format(
                version=update.version, page=update.page
            )
        self.update_line.tell(text)
        self.update_line.setToolTip(hint(update.notes))

    def show_engine(self, build: str) -> None:
        """Shows the engine's name and version. The tooltip lists its features on this processor."""
        name, _, parts = build.partition(": ")
        self.engine.tell(name.replace("-dirty", ""))
        self.engine.setToolTip(hint(parts))
        self.engine.setAccessibleDescription(parts)


class LicencesDialog(SafeKeyboard, QDialog):
    """The components of Moat in a list, and the licence of the selected one."""

    def __init__(self, components: list[Component], parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Licences"))
        self.resize(*theme.DIALOG_SIZE)
        self._components = components
        self.names = QListWidget()
        self.names.setAccessibleName(tr("Licences"))
        self.names.addItems([one.title for one in components])
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Text of the licence"))
        self.text.setFont(theme.mono())
        layout = QHBoxLayout(self)
        layout.addWidget(self.names, 1)
        layout.addWidget(self.text, 2)
        self.names.currentRowChanged.connect(self._show)
        self.names.setCurrentRow(0)

    def _show(self, number: int) -> None:
        one = self._components[number]
        self.text.setPlainText(f"{one.licence}\n\n{one.text}")


class Field(QWidget):
    """A setting: its title, control and description, and a button that resets it."""

    changed = Signal(str, object)

    def __init__(self, name: str, info: FieldInfo) -> None:
        super().__init__()
        self.name = name
        self.default = info.get_default(call_default_factory=True)
        title = tr(info.title or name)
        about = tr(info.description) if info.description else ""
        self.words = _search_words(name, info)
        self.title = Label(title, wrap=True)
        self.help = Label("", "small", wrap=True)
        self.help.tell(about)
        self.problem = Remark("bad")
        self.control = _control(info, self._edited)
        if isinstance(self.control, _Number):
            self.control.refused.connect(self.show_problem)
        self.control.setAccessibleName(title)
        self.control.setAccessibleDescription(about)
        self.reset = Button("", "reset", "icon", name=tr("Reset “{name}”").format(name=title))
        self.reset.clicked.connect(lambda: self._edited(self.default))
        words = stack(self.title, self.help, self.problem, spacing=2)
        words.setContentsMargins(0, theme.SMALL, 0, 0)
        words.addStretch(1)
        beside = row(self.control, self.reset, 0, spacing=theme.LARGE)
        for part in (self.control, self.reset):
            beside.setAlignment(part, Qt.AlignmentFlag.AlignTop)
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.addLayout(words, 1)
        self._parts.addLayout(beside)
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Puts the control below its words if there is little room."""
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        narrow = event.size().width() < theme.LEAST_BESIDE
        self._parts.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self._parts.setSpacing(theme.SMALL if narrow else theme.LARGE)

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self.control):
            self.control.show_value(value)
        self.problem.hide()
        self.reset.setVisible(value != self.default)

    def show_problem(self, sentence: str) -> None:
        self.problem.tell(told(sentence))

    @property
    def holds_text(self) -> bool:
        """Whether what was typed stays after a refusal, so that it can be corrected."""
        return isinstance(self.control, _Line | _Lines)

    def _edited(self, value: object) -> None:
        self.changed.emit(self.name, value)


class _Switch(QCheckBox):
    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__(tr("Off"))
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.toggled.connect(changed)

    def show_value(self, value: Any) -> None:
        self.setChecked(value)

    def checkStateSet(self) -> None:  # noqa: N802
        """Updates the text. Qt calls this for the program, and `nextCheckState` for a person."""
        super().checkStateSet()
        self.setText(tr("On") if self.isChecked() else tr("Off"))

    def nextCheckState(self) -> None:  # noqa: N802
        super().nextCheckState()
        self.setText(tr("On") if self.isChecked() else tr("Off"))


class _Number(NumberBox):
    refused = Signal(str)
    """Emitted with a sentence about the allowed range when the typed number is outside it."""

    def __init__(self, info: FieldInfo, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for bound in info.metadata:
            self.setMinimum(getattr(bound, "ge", self.minimum()))
            self.setMaximum(getattr(bound, "le", self.maximum()))
        self.valueChanged.connect(changed)

    def show_value(self, value: Any) -> None:
        self.setValue(value)

    def validate(self, text: str, place: int) -> Any:
        """Allows any number to be typed, so that one out of range gets an error message."""
        judged: Any = super().validate(text, place)  # Qt's stubs only say "object"
        state, text, place = judged
        is_number = text.strip().removeprefix("-").isdecimal()
        if state == QValidator.State.Invalid and is_number:
            state = QValidator.State.Intermediate
        return state, text, place

    def fixup(self, text: str) -> str:
        words = tr("{text} is not possible here. Enter a number from {least} to {most}.")
        given = text.strip() or tr("An empty field")
        bounds = {"least": numeral(self.minimum()), "most": numeral(self.maximum())}
        self.refused.emit(words.format(text=given, **bounds))
        return str(self.value())


class _Choice(Choice):
    def __init__(self, info: FieldInfo, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for choice in get_args(info.annotation):
            self.addItem(tr(choice_label(choice)), choice)
        self.currentIndexChanged.connect(lambda index: changed(self.itemData(index)))

    def show_value(self, value: Any) -> None:
        self.setCurrentIndex(self.findData(value))


class _Line(QLineEdit):
    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedWidth(theme.FIELD_WIDTH)
        self._shown = ""
        self.editingFinished.connect(lambda: self._finish(changed))

    def show_value(self, value: Any) -> None:
        self._shown = value
        self.setText(value)

    def _finish(self, changed: Callable[[object], None]) -> None:
        if self.text() != self._shown:
            changed(self.text().strip())


class _Lines(QPlainTextEdit):
    """A field for several texts or numbers, one per line."""

    def __init__(self, changed: Callable[[object], None]) -> None:
        super().__init__()
        self.setFixedSize(theme.FIELD_WIDTH, theme.LINES_HEIGHT)
        self.setTabChangesFocus(True)
        self.setPlaceholderText(tr("One per line"))
        self._shown: tuple[str, ...] = ()
        self._objects: dict[str, BaseModel] = {}
        """The objects by line. A line that stays keeps the parts that it does not show."""
        self._changed = changed

    def show_value(self, value: Any) -> None:
        self._objects = {_text(one): one for one in value if isinstance(one, BaseModel)}
        self._shown = tuple(_text(one) for one in value)
        self.setPlainText("\n".join(self._shown))

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        lines = tuple(line.strip() for line in self.toPlainText().splitlines() if line.strip())
        if lines != self._shown:
            self._changed(tuple(self._objects.get(line, line) for line in lines))


def _text(value: str | float | BaseModel) -> str:
    return value if isinstance(value, str) else str(value).removesuffix(".0")


Control = _Switch | _Number | _Choice | _Line | _Lines


def _control(info: FieldInfo, changed: Callable[[object], None]) -> Control:
    kind = info.annotation
    if kind is bool:
        return _Switch(changed)
    if kind is int:
        return _Number(info, changed)
    if get_origin(kind) is Literal:
        return _Choice(info, changed)
    if get_origin(kind) is tuple:
        return _Lines(changed)
    return _Line(changed)


_ALSO_CALLED = {
    "window.theme": "dark mode light mode night appearance look colours colors skin",
    "window.language": "english german chinese deutsch sprache translation locale 语言",
    "window.at_login": "autostart boot startup sign in",
    "window.close_to_tray": "minimise minimize background quit",
    "server.listen": "loopback lan network bind 0.0.0.0 interface",
    "server.port": "address localhost 7777",
    "server.require_key": "api key password token authentication",
    "server.origins": "cors website openbb browser",
    "server.https": "ssl tls certificate safari",
    "model.context_tokens": "ctx window num_ctx memory",
    "model.slots": "parallel concurrency",
    "model.gpu_layers": "graphics card vram cuda vulkan metal offload",
    "model.kv_type": "kv cache quantisation quantization",
    "model.speculate": "guess ahead",
    "model.idle_unload_min": "keep alive timeout",
    "network.hub": "hugging face huggingface mirror",
    "network.offline": "internet privacy airplane",
    "updates.look": "new version upgrade",
    "privacy.log_prompts": "logging telemetry",
}
"""Other words that people search for, in any language of the window."""


def _search_words(name: str, info: FieldInfo) -> str:
    """Returns the words that find the setting, also in English, as help on the web is."""
    told = [info.title or name, info.description or ""]
    if get_origin(info.annotation) is Literal:
        told += [choice_label(choice) for choice in get_args(info.annotation)]
    said = [tr(text) for text in told if text]
    return " ".join((*told, *said, _ALSO_CALLED.get(name, ""))).casefold()


AT_LOGIN = FieldInfo(annotation=bool, default=False, title="Start Moat when I log in")


class SettingsPage(Page):
    title = "Settings"
    icon = "settings"

    def __init__(self, core: Face, at_login: Autostart | None = None) -> None:
        super().__init__(core)
        self._autostart = at_login or autostart.find()
        self.at_login = Field("window.at_login", AT_LOGIN)
        self.fields: dict[str, Field] = {}
        self._groups: list[tuple[QWidget, list[tuple[Field, QWidget]]]] = []
        self.search = search_field(tr("Search settings"))
        self.export = Button("", "external", "icon", name=tr("Export settings"))
        self.import_file = Button("", "download", "icon", name=tr("Import settings"))
        self.nothing = Label(tr("No setting found."), "muted")
        self.about = AboutCard()
        self._lay_out()
        self.observe(core.settings, self.show_settings)
        self.observe(core.update, self.about.show_update)
        self.observe(core.server, lambda _: self._show_engine())
        self.at_login.changed.connect(lambda _, on: self.run(self._turn_at_login(on=on)))
        self.about.check.connect(lambda: self.run(core.check_update()))

    def show_settings(self, settings: Settings) -> None:
        for name, field in self.fields.items():
            group, setting = name.split(".")
            field.show_value(getattr(getattr(settings, group), setting))
        if settings.server.listen == "network" and settings.server.plain_network:
            self.fields["server.plain_network"].show_problem(
                tr(
                    "Other computers can connect without encryption: the key and all texts can be "
                    "read on the network. Use this only on a network you trust."
                )
            )
        self.about.show_allowed(allowed=settings.updates.look)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._show_at_login()
        self._show_engine()

    def _show_engine(self) -> None:
        if self.isVisible() and not self.about.engine.text():
            self.run(self._ask_engine())

    async def _ask_engine(self) -> None:
        # The window is built before its server answers. This is repeated when the server changes.
        with suppress(LinkLost):
            self.about.show_engine(await self.core.models.engine_build())

    def _show_at_login(self) -> None:
        self.at_login.show_value(self._autostart.is_on())

    async def _turn_at_login(self, *, on: bool) -> None:
        try:
            self._autostart.turn(on=on)
        finally:
            self._show_at_login()

    def show_setting(self, name: str) -> None:
        """Finds the setting and moves the focus to its control."""
        self.search.setText(self.fields[name].title.text())
        self.fields[name].control.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def filter(self, text: str) -> None:
        wanted = text.casefold().split()
        found = False
        for card, fields in self._groups:
            group = card.accessibleName().casefold()
            known = [(pair, f"{group} {pair[0].words}") for pair in fields]
            matching = [pair for pair, words in known if all(one in words for one in wanted)]
            for field, line in fields:
                field.setVisible((field, line) in matching)
                line.setVisible((field, line) in matching[1:])
            card.setVisible(bool(matching))
            found = found or bool(matching)
        self.nothing.setVisible(not found)

    def export_to(self, path: Path) -> None:
        """Writes every setting that is not its default as JSON."""
        changed = self.core.settings.get().model_dump(mode="json", exclude_defaults=True)
        try:
            files.write_atomically(path, json.dumps(changed, indent=2, ensure_ascii=False))
        except OSError as error:
            text = tr("The settings could not be exported: {why}.")
            self.failed.emit(AppError(text.format(why=error.strerror)))

    async def import_from(self, path: Path) -> None:
        """Changes all settings in the file, or none. Skips those that are not known here."""
        try:
            text = await asyncio.to_thread(path.read_text, "utf-8")
            told = json.loads(text)
            changes = {
                f"{group}.{name}": value
                for group, held in told.items()
                for name, value in held.items()
                if f"{group}.{name}" in self.fields
            }
        except (OSError, ValueError, AttributeError) as error:
            raise AppError(tr("This file contains no Moat settings.")) from error
        await self.core.change_settings(changes)

    def _pick_export(self) -> None:
        picked, _ = QFileDialog.getSaveFileName(self, tr("Export settings"), "moat-settings.json")
        if picked:
            self.export_to(Path(picked))

    def _pick_import(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(self, tr("Import settings"), "", "JSON (*.json)")
        if picked:
            self.run(self.import_from(Path(picked)))

    async def _change(self, name: str, value: Any) -> None:
        try:
            await self.core.change_setting(name, value)
        except AppError as error:
            if not self.fields[name].holds_text:
                self.show_settings(self.core.settings.get())
            self.fields[name].problem.fail(error)

    def _lay_out(self) -> None:
        self.search.setFixedWidth(theme.SEARCH_WIDTH)
        self.search.textChanged.connect(self.filter)
        self.nothing.hide()
        column = Column()
        self.export.clicked.connect(self._pick_export)
        self.import_file.clicked.connect(self._pick_import)
        column.body.addLayout(
            row(Label(tr("Settings"), "title"), 0, self.import_file, self.export, self.search)
        )
        for name, info in Settings.model_fields.items():
            group = info.annotation
            assert isinstance(group, type)
            assert issubclass(group, BaseModel)
            fields = [
                self._field(f"{name}.{one}", held) for one, held in group.model_fields.items()
            ]
            if name == "window":
                fields.append(self.at_login)
            column.body.addWidget(self._card(tr(info.title or name), fields))
        put(column.body, self.nothing, self.about)
        column.fill(self)

    def _field(self, name: str, info: FieldInfo) -> Field:
        field = self.fields[name] = Field(name, info)
        field.changed.connect(lambda name, value: self.run(self._change(name, value)))
        return field

    def _card(self, title: str, fields: list[Field]) -> Card:
        card = Card()
        card.setAccessibleName(title)
        card.column.addWidget(Label(title, "headline"))
        card.column.addSpacing(theme.TINY)
        lines = [divider() for _ in fields]
        for field, line in zip(fields, lines, strict=True):
            card.column.addWidget(line)
            line.setVisible(line is not lines[0])
            card.column.addWidget(field)
        self._groups.append((card, list(zip(fields, lines, strict=True))))
        return card
