"""Settings: made from the declarations in server.settings, so a new setting needs nothing here.

Starting at login is apart: the desktop keeps it, not the server.
"""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QVBoxLayout, QWidget

from app.desktop import autostart
from app.desktop.autostart import Autostart
from app.look import theme
from app.look.controls import Button, Card, Column, Label, divider, row
from app.look.page import Page
from app.look.translate import tr
from app.settings.about import AboutCard
from app.settings.form import Field
from server.errors import AppError, LinkLost
from server.face.core import Face
from server.settings import Settings
from server.system import files

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
        self.search = QLineEdit()
        self.export = Button("", "external", "icon", name=tr("Export settings"))
        self.import_file = Button("", "download", "icon", name=tr("Import settings"))
        self.nothing = Label(tr("No setting matches."), "muted")
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
        if settings.server.listen == "network":
            self.fields["server.listen"].show_problem(
                tr(
                    "Other machines can connect now. There is no HTTPS for them yet: the access "
                    "key and all texts travel unencrypted. Use it only in a network you trust."
                )
            )
        self.about.look.setEnabled(settings.updates.look)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._show_at_login()
        self._show_engine()

    def _show_engine(self) -> None:
        if self.isVisible() and not self.about.engine.text():
            self.run(self._ask_engine())

    async def _ask_engine(self) -> None:
        # The window is there before its server is; it is asked again when that changes.
        with suppress(LinkLost):
            self.about.show_engine(await self.core.engine_build())

    def _show_at_login(self) -> None:
        self.at_login.show_value(self._autostart.is_on())

    async def _turn_at_login(self, *, on: bool) -> None:
        try:
            self._autostart.turn(on=on)
        finally:
            self._show_at_login()

    def filter(self, text: str) -> None:
        wanted = text.casefold().strip()
        found = False
        for card, fields in self._groups:
            matching = [pair for pair in fields if wanted in pair[0].words]
            for field, line in fields:
                field.setVisible((field, line) in matching)
                line.setVisible((field, line) in matching[1:])
            card.setVisible(bool(matching))
            found = found or bool(matching)
        self.nothing.setVisible(not found)

    def export_to(self, path: Path) -> None:
        """Every setting that is not its default."""
        changed = self.core.settings.get().model_dump(mode="json", exclude_defaults=True)
        try:
            files.write_atomically(path, json.dumps(changed, indent=2, ensure_ascii=False))
        except OSError as error:
            text = tr("The settings could not be exported: {why}.")
            self.failed.emit(text.format(why=error.strerror))

    async def import_from(self, path: Path) -> None:
        """All of them or none; what this version does not know is passed over."""
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
            raise AppError(tr("This file holds no settings of Moat.")) from error
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
            self.show_settings(self.core.settings.get())
            self.fields[name].show_problem(str(error))

    def _lay_out(self) -> None:
        self.search.setPlaceholderText(tr("Search settings"))
        self.search.setAccessibleName(tr("Search settings"))
        self.search.setClearButtonEnabled(True)
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
        column.body.addWidget(self.nothing)
        column.body.addWidget(self.about)
        column.body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(column)

    def _field(self, name: str, info: FieldInfo) -> Field:
        field = self.fields[name] = Field(name, info)
        field.changed.connect(lambda name, value: self.run(self._change(name, value)))
        return field

    def _card(self, title: str, fields: list[Field]) -> Card:
        card = Card()
        card.column.addWidget(Label(title, "headline"))
        card.column.addSpacing(theme.TINY)
        lines = [divider() for _ in fields]
        for field, line in zip(fields, lines, strict=True):
            card.column.addWidget(line)
            line.setVisible(line is not lines[0])
            card.column.addWidget(field)
        self._groups.append((card, list(zip(fields, lines, strict=True))))
        return card
