"""Plugins: what is there, what each may do, and a way to add one."""

from PySide6.QtWidgets import QFileDialog, QVBoxLayout

from app.pages.base import Page
from app.widgets.controls import Button, Column, Label, row
from app.widgets.plugin_card import PluginBox
from app.widgets.rows import Rows
from app.words import tr
from server.abilities import PluginCard
from server.face import Face


class PluginsPage(Page):
    title = "Plugins"
    icon = "plugins"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.install = Button(tr("Add a plugin folder"), "plus")
        self.empty = Label(
            tr("No plugin is here yet. A plugin is a folder with a manifest."), "muted", wrap=True
        )
        self.list: Rows[PluginCard, PluginBox] = Rows(
            _identity, self._make, PluginBox.show_card, lined=False
        )
        self._lay_out()
        self.install.clicked.connect(self._pick)
        self.observe(core.plugins, self.show_plugins)

    def show_plugins(self, plugins: tuple[PluginCard, ...]) -> None:
        self.list.show(plugins)
        self.empty.setVisible(not plugins)

    def switch(self, key: str, on: bool) -> None:
        self.run(self.core.enable_plugin(key) if on else self.core.disable_plugin(key))

    def _make(self, card: PluginCard) -> PluginBox:
        core = self.core
        box = PluginBox(card)
        box.switched.connect(self.switch)
        box.removed.connect(lambda key: self.run(core.remove_plugin(key)))
        box.rolled_back.connect(lambda key: self.run(core.roll_back_plugin(key)))
        box.policy_set.connect(lambda *given: self.run(core.set_operation_policy(*given)))
        box.secret_set.connect(lambda *given: self.run(core.set_plugin_secret(*given)))
        return box

    def _pick(self) -> None:
        if picked := QFileDialog.getExistingDirectory(self, tr("Add a plugin folder")):
            self.run(self.core.install_plugin(picked))

    def _lay_out(self) -> None:
        column = Column()
        column.body.addLayout(row(Label(tr("Plugins"), "title"), 0, self.install))
        column.body.addWidget(self.empty)
        column.body.addLayout(self.list.layout)
        column.body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(column)


def _identity(card: PluginCard) -> tuple[object, ...]:
    """What a card's box is built from: another version gets another box."""
    operations = tuple(one.key for one in card.operations)
    return card.key, card.version, card.previous_version, operations, card.secrets
