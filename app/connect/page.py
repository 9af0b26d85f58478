"""Connect: what to give each program, a test for each, and who stood at the door."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout

from app.connect.client_card import ClientCard
from app.connect.clients import all_clients
from app.connect.secure_card import SecureCard
from app.connect.visitors import Door
from app.desktop.probe import first_request
from app.look.controls import Column, Label
from app.look.page import Page
from app.look.translate import tr
from server.errors import LinkLost
from server.face.core import Face


class ConnectPage(Page):
    title = "Connect"
    icon = "connect"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self._key = ""
        self.door = Door()
        self.secure = SecureCard()
        self.cards = {client.id: ClientCard(client) for client in all_clients()}
        self._lay_out()
        self._bind(core)

    def show_here(self, _: object) -> None:
        settings = self.core.settings.get().server
        needs_key = settings.require_key or settings.listen == "network"
        if needs_key and not self._key and self.core.server.get().phase == "ready":
            self.run(self._learn_key())
        key = self._key if needs_key else ""
        model = self.core.model.get().name
        for card in self.cards.values():
            card.show_here(self.core.server.get().address, model, key)
        self.secure.show_server(self.core.server.get())
        self.show_door(None)

    def show_door(self, _: object) -> None:
        self.door.show_knocks(self.core.knocks.get(), self.core.settings.get().server.origins)

    def allow(self, origin: str) -> None:
        origins = self.core.settings.get().server.origins
        if origin not in origins:
            self.run(self.core.change_setting("server.origins", (*origins, origin)))

    def remove(self, origin: str) -> None:
        origins = self.core.settings.get().server.origins
        left = tuple(known for known in origins if known != origin)
        self.run(self.core.change_setting("server.origins", left))

    def serve_https(self) -> None:
        self.run(self.core.change_setting("server.https", value=True))

    async def test(self, card: ClientCard) -> None:
        settings = self.core.settings.get().server
        needs_key = settings.require_key or settings.listen == "network"
        address = self.core.server.get().address
        outcome = await first_request(address, self._key if needs_key else "", card.client.steps)
        card.show_outcome(outcome)

    async def _learn_key(self) -> None:
        try:
            self._key = await self.core.access_key()
        except LinkLost:
            return
        self.show_here(None)

    async def _copy_key(self) -> None:
        QGuiApplication.clipboard().setText(await self.core.access_key())

    def _bind(self, core: Face) -> None:
        for card in self.cards.values():
            card.tested.connect(lambda card=card: self.run(self.test(card)))
        self.door.allowed.connect(self.allow)
        self.door.removed.connect(self.remove)
        self.secure.wanted.connect(self.serve_https)
        self.door.wants_key.connect(lambda: self.run(self._copy_key()))
        self.observe(core.server, self.show_here)
        self.observe(core.model, self.show_here)
        self.observe(core.settings, self.show_here)
        self.observe(core.knocks, self.show_door)

    def _lay_out(self) -> None:
        column = Column()
        column.body.addWidget(Label(tr("Connect"), "title"))
        column.body.addWidget(self.door)
        for card in self.cards.values():
            column.body.addWidget(card)
        column.body.addWidget(self.secure)
        column.body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(column)
