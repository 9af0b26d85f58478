"""The Plugins page: the plugins, what each may do, and ways to add one."""

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.look.controls import Button, Card, Column, Label, Rows, field, name_label, put, row, stack
from app.look.layouts import Flow
from app.look.model_rows import facts
from app.look.page import Page
from app.look.translate import told, tr
from app.plugins.card import PluginBox
from server.errors import AppError
from server.face.core import Face
from server.face.plugins import CommonServer, PluginCard
from server.settings import Settings

_LOOK_MS = 2000
"""Milliseconds between two looks at the folders while this page is shown."""


class ServerRow(QWidget):
    """A common MCP server: what it does and reaches, and a button that adds it as a plugin."""

    def __init__(self, server: CommonServer, page: "PluginsPage") -> None:
        super().__init__()
        name = tr("Add {name}").format(name=server.name)
        self.add = Button(tr("Added") if server.added else tr("Add"), "plus", name=name)
        self.add.setEnabled(not server.added)
        self.hosts = field(
            tr("Hosts that {name} may reach").format(name=server.name),
            tr("Hosts it may reach, such as en.wikipedia.org"),
        )
        self.hosts.setVisible(server.asks_hosts and not server.added)
        self.add.clicked.connect(lambda: page.run(page.add_server(server.name, self.hosts.text())))
        reaches = tr("Reaches: {places}").format(places=told(server.reaches))
        words = stack(
            name_label(server.name),
            Label(told(server.about), "small", wrap=True),
            Label(reaches, "small", wrap=True),
            Label(facts(server.command, server.licence), "small", wrap=True),
            self.hosts,
            spacing=2,
        )
        self.setLayout(row(words, self.add, grows=words))


class PluginsPage(Page):
    title = "Plugins"
    icon = "plugins"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.take_drops(
            lambda path: path.suffix.lower() == ".zip" or path.is_dir(),
            lambda found: self.run(self.take_files(found)),
        )
        self._plain_file: str | None = None
        """The file with unencrypted secrets; empty if there is a keyring, None if not known yet."""
        self.install = Button(tr("Add a plugin folder"), "plus")
        self.install_archive = Button(tr("Add a zip file"), "plus")
        self.import_servers = Button(tr("Import MCP servers"), "plus")
        self.import_servers.setToolTip(
            tr("From the file of another program: mcp.json or claude_desktop_config.json")
        )
        self.empty = Label(
            tr("No plugins yet. A plugin is a folder with a manifest (plugin.json)."),
            "muted",
            wrap=True,
        )
        self.paused = Card("warn")
        self.resume = Button(tr("Resume plugins"), "play")
        self.resume.clicked.connect(
            lambda: self.run(core.change_setting("plugins.paused", False))  # noqa: FBT003
        )
        self.list: Rows[PluginCard, PluginBox] = Rows(
            _identity, self._make, PluginBox.show_card, lined=False
        )
        self.servers: Rows[CommonServer, ServerRow] = Rows(
            lambda server: (server.name, server.added), lambda server: ServerRow(server, self)
        )
        self.common = Card()
        self._looking = QTimer(self)
        self._looking.setInterval(_LOOK_MS)
        self._looking.timeout.connect(lambda: self.run(self._look()))
        self._lay_out()
        self.install.clicked.connect(self._pick)
        self.install_archive.clicked.connect(self._pick_archive)
        self.import_servers.clicked.connect(self._pick_servers)
        self.observe(core.plugins.cards, self.show_plugins)
        self.observe(core.settings, self.show_settings)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.run(self._look())
        self._looking.start()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        self._looking.stop()
        super().hideEvent(event)

    async def _look(self) -> None:
        """Looks for changes, so that a person who edits a plugin soon sees the result."""
        with suppress(AppError):  # There is nothing to see without a server.
            servers = await self.core.plugins.common_servers()
            self.servers.show(servers)
            self.common.setVisible(bool(servers))
            await self.core.plugins.look_again()
            self._plain_file = await self.core.plain_secrets_file()
            for box in self.list.rows:
                box.show_place(self._plain_file)

    def show_plugins(self, plugins: tuple[PluginCard, ...]) -> None:
        self.list.show(plugins)
        self.empty.setVisible(not plugins)

    def show_settings(self, settings: Settings) -> None:
        self.paused.setVisible(settings.plugins.paused)

    def _make(self, card: PluginCard) -> PluginBox:
        box = PluginBox(card, self)
        if self._plain_file is not None:
            box.show_place(self._plain_file)
        return box

    async def take_files(self, found: list[Path]) -> None:
        """Installs the zip files and folders that were dropped."""
        for path in found:
            await self.core.plugins.install(str(path))

    def _pick(self) -> None:
        if picked := QFileDialog.getExistingDirectory(self, tr("Add a plugin folder")):
            self.run(self.core.plugins.install(picked))

    def _pick_archive(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(self, tr("Add a zip file"), "", "Zip (*.zip)")
        if picked:
            self.run(self.core.plugins.install(picked))

    def _pick_servers(self) -> None:
        title = tr("Import MCP servers")
        picked, _ = QFileDialog.getOpenFileName(self, title, "", "JSON (*.json)")
        if picked:
            self.run(self.core.plugins.import_servers(picked))

    async def add_server(self, name: str, hosts: str) -> None:
        await self.core.plugins.add_server(name, hosts)
        await self._look()

    def _lay_out(self) -> None:
        column = Column()
        buttons = Flow(self.import_servers, self.install_archive, self.install, at_right=True)
        head = row(Label(tr("Plugins"), "title"), buttons, grows=buttons)
        words = Label(tr("Plugins are paused: none of them is used."), wrap=True)
        self.paused.column.addLayout(row(words, self.resume, grows=words))
        heading = Label(tr("Common MCP servers"), "headline")
        note = tr("Adding one starts nothing. Look at it in the list above, then enable it.")
        put(self.common.column, heading, Label(note, "small", wrap=True), self.servers.layout)
        self.common.hide()
        put(column.body, head, self.paused, self.empty, self.list.layout, self.common)
        column.fill(self)


def _identity(card: PluginCard) -> tuple[object, ...]:
    """Returns what a card's box is built from. If it changes, the card gets a new box.

    Tools that a server lists later are not part of it: whoever listed them is looking at the box.
    """
    operations = tuple((one.key, one.risk) for one in card.operations if " " in one.key)
    options = tuple(one.name for one in card.options)
    return card.key, card.version, card.previous_version, operations, card.secrets, options
