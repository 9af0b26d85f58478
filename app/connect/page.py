"""The Connect page: what to enter in each program, a test for each, and who tried to connect."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import QWidget

from app.connect.clients import KEY_PLACE, NO_KEY, Client, Here, RecipesCard, all_clients
from app.connect.visitors import Door
from app.desktop.probe import Outcome, first_request
from app.look import theme
from app.look.controls import (
    Button,
    Card,
    CodeBox,
    Column,
    CopyButton,
    Label,
    NumberBox,
    Remark,
    Removable,
    Rows,
    field,
    form,
    line_to_copy,
    put,
    row,
    stack,
)
from app.look.model_rows import facts
from app.look.page import Page
from app.look.translate import numeral, tr
from server.errors import AppError, LinkLost
from server.face.core import Face, KeyCard, KeyLimits, ServerStatus

_MOST = 1_000_000_000
"""The largest limit that can be entered."""


class KeyRow(Removable):
    def __init__(self, card: KeyCard, page: Page) -> None:
        name = card.name
        super().__init__(
            name,
            Button(tr("Revoke"), "trash", name=tr("Revoke {name}").format(name=name)),
            Button(tr("Revoke now"), "trash", name=tr("Really revoke {name}").format(name=name)),
        )
        self.sure.clicked.connect(lambda: page.run(page.core.revoke_key(name)))
        self.name = Label(name, "section", wrap=True)
        self.limits = Label("", "small", wrap=True)
        words = stack(self.name, self.limits, spacing=2)
        self.setLayout(row(words, self.remove, self.sure, self.keep, grows=words))
        self.ask(asking=False)

    def show_card(self, card: KeyCard) -> None:
        self.limits.tell(describe(card))


def describe(card: KeyCard) -> str:
    limits = card.limits
    spent = tr("{count} tokens today").format(count=numeral(card.tokens_today))
    if limits.tokens_per_day:
        spent = tr("{count} of {limit} tokens today").format(
            count=numeral(card.tokens_today), limit=numeral(limits.tokens_per_day)
        )
    at_once = tr("{count} at a time").format(count=limits.at_once) if limits.at_once else ""
    models = ", ".join(limits.models)
    only = tr("only {models}").format(models=models) if models else ""
    return facts(spent, at_once, only, tr("reads metrics") if limits.figures else "")


class KeysCard(Card):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.empty = Label(
            tr(
                "No named keys yet. Give each person or program its own key; each can be revoked "
                "separately."
            ),
            "muted",
            wrap=True,
        )
        self.list: Rows[KeyCard, KeyRow] = Rows(
            lambda card: card.name, lambda card: KeyRow(card, page), KeyRow.show_card
        )
        self.name = field(tr("Name"), tr("A person or a program"))
        self.models = field(tr("Models"), tr("Empty: all. Separate several with commas."))
        self.at_once, self.tokens = NumberBox(), NumberBox()
        for number in (self.at_once, self.tokens):
            number.setRange(0, _MOST)
            number.setSpecialValueText(tr("No limit"))
        self.add = Button(tr("Create key"), "plus", name=tr("Create a named key"))
        self.add.clicked.connect(lambda: page.run(self._send(page.core)))
        self.unasked = Label("", "small", wrap=True)
        self.state = Remark()
        self.key = line_to_copy(tr("The new key"))
        self.copy = CopyButton(tr("the new key"), self.key.text, "icon")
        self.made = QWidget()
        self._lay_out()

    def show_keys(self, cards: tuple[KeyCard, ...], *, asks: bool) -> None:
        self.list.show(cards)
        self.empty.setVisible(not cards)
        text = tr(
            "No key is required at the moment: limits apply only to clients that send their key."
        )
        self.unasked.tell("" if asks or not cards else text)

    def show_made(self, name: str, key: str) -> None:
        """Shows a new key until the page is left. It cannot be shown again later."""
        for edit in (self.name, self.models):
            edit.clear()
        for number in (self.at_once, self.tokens):
            number.setValue(0)
        self.key.setText(key)
        self.state.tell(
            tr("The key for {name}. Copy it now: it is not shown again.").format(name=name)
        )
        self.made.show()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        """Forgets the new key when the page is left, but not when the window is minimised."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._hide_made()

    def _hide_made(self) -> None:
        self.key.clear()
        self.made.hide()
        self.state.tell("")

    async def _send(self, core: Face) -> None:
        models = tuple(one.strip() for one in self.models.text().split(",") if one.strip())
        limits = KeyLimits(models, self.at_once.value(), self.tokens.value())
        name = self.name.text().strip()
        try:
            self.show_made(name, await core.add_key(name, limits))
        except AppError as error:
            self._hide_made()
            self.state.fail(error)

    def _lay_out(self) -> None:
        controls: dict[str, QWidget] = {
            tr("Name"): self.name,
            tr("Models"): self.models,
            tr("Concurrent requests"): self.at_once,
            tr("Tokens per day"): self.tokens,
        }
        self.made.setLayout(row(self.key, self.copy))
        self.made.hide()
        put(self.column, Label(tr("Keys"), "headline"), self.empty, self.list.layout)
        put(self.column, self.unasked, form(controls), row(0, self.add), self.state, self.made)


class ClientCard(Card):
    tested = Signal()

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self._filled = ""
        name = client.name
        self.test = Button(tr("Test"), "play", name=tr("Test {name}").format(name=name))
        self.test.clicked.connect(self._start)
        self.address = line_to_copy(
            tr("Address for {name}").format(name=name),
            tr("There is no address while Moat is stopped."),
        )
        self.copy_address = CopyButton(
            tr("the address for {name}").format(name=name), self.address.text, "icon"
        )
        self.snippet = CodeBox(tr("What to paste for {name}").format(name=name))
        self.copy = CopyButton(
            tr("what to paste for {name}").format(name=name), lambda: self._filled, "icon"
        )
        self.outcome = Label("", "small", wrap=True)
        self.outcome.hide()
        self.paste = QWidget()
        self.paste.setLayout(row(self.snippet, self.copy))
        head = row(Label(name, "headline"), 0, self.test)
        advice = Label(client.advice, "muted", wrap=True)
        put(self.column, head, advice, row(self.address, self.copy_address), self.paste)
        self.older = OlderForm(client) if client.older else None
        if self.older:
            put(self.column, Label(client.older_advice, "muted", wrap=True), self.older)
        self.column.addWidget(self.outcome)

    def show_here(self, address: str, model: str, key: str) -> None:
        """Fills in the address and the snippet. The key is only copied, never shown."""
        self.address.setText(f"{address}{self.client.path}" if address else "")
        self._filled, shown = _filled(self.client.snippet, address, model, key)
        self.snippet.show_text(shown)
        # A single line says no more than the address above it.
        self.paste.setVisible("\n" in shown)
        if self.older:
            self.older.show_here(address, model, key)
        for part in (self.test, self.copy_address, self.copy):
            part.setEnabled(bool(address))

    def show_outcome(self, outcome: Outcome) -> None:
        self.outcome.set_role("good" if outcome.ok else "bad")
        self.outcome.tell(("✓  " if outcome.ok else "") + outcome.text)
        self.test.setEnabled(bool(self.address.text()))
        self.test.setText(tr("Test again"))

    def _start(self) -> None:
        self.test.setEnabled(False)
        self.test.setText(tr("Testing…"))
        self.outcome.hide()
        self.tested.emit()


class OlderForm(QWidget):
    """The snippet for programs that use an older form of the client."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._older = client.older
        self._filled = ""
        self.snippet = CodeBox(tr("What to paste for an older {name}").format(name=client.name))
        self.copy = CopyButton(
            tr("what to paste for an older {name}").format(name=client.name),
            lambda: self._filled,
            "icon",
        )
        self.setLayout(row(self.snippet, self.copy))

    def show_here(self, address: str, model: str, key: str) -> None:
        self._filled, shown = _filled(self._older, address, model, key)
        self.snippet.show_text(shown)
        self.copy.setEnabled(bool(address))


def _filled(snippet: str, address: str, model: str, key: str) -> tuple[str, str]:
    """Returns the snippet to copy, and the snippet to show, without the key."""
    lines = snippet.split("\n")
    if not key:
        # Without a key, leave out the lines that only carry its header.
        lines = [line for line in lines if "Bearer" not in line and "Header" not in line]
    snippet = "\n".join(lines)
    copied = Here(address, model, key or NO_KEY).fill(snippet)
    return copied, Here(address, model, KEY_PLACE if key else NO_KEY).fill(snippet)


class SecureCard(Card):
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.switch_on = Button(tr("Turn on HTTPS"), "plus")
        self.switch_on.clicked.connect(self.wanted)
        self.address = line_to_copy(tr("HTTPS address"))
        self.copy_address = CopyButton(tr("the HTTPS address"), self.address.text, "icon")
        self.command = CodeBox(tr("The command that trusts the certificate"))
        self.copy_command = CopyButton(tr("the command"), self.command.toPlainText, "icon")
        self.file = Label("", "small", wrap=True)
        self.others = Label("", "muted", wrap=True)
        self.trust, self.how = QWidget(), QWidget()
        self._lay_out()

    def show_server(self, server: ServerStatus) -> None:
        is_on = bool(server.secure_address)
        self.switch_on.setVisible(not is_on)
        self.switch_on.setEnabled(server.phase == "ready")
        self.how.setVisible(is_on)
        self.trust.setVisible(bool(server.trust))
        self.address.setText(server.secure_address)
        text = tr("Other machines connect to {address}.").format(address=server.network_address)
        self.others.tell(text if server.network_address else "")
        self.command.show_text(server.trust)
        self.file.tell(server.certificate)

    def _lay_out(self) -> None:
        why = tr(
            "Safari lets web pages reach this computer only over HTTPS, and other computers must "
            "use it. A certificate that is created here is valid for this computer only and renews "
            "itself."
        )
        once = tr("Trust it once, in a terminal. In Firefox import the file as an authority:")
        advice, command = Label(once, "muted", wrap=True), row(self.command, self.copy_command)
        self.trust.setLayout(stack(advice, command, self.file, spacing=theme.MEDIUM))
        address = row(self.address, self.copy_address)
        self.how.setLayout(stack(address, self.trust, self.others, spacing=theme.MEDIUM))
        head = row(Label("HTTPS", "headline"), 0, self.switch_on)
        put(self.column, head, Label(why, "muted", wrap=True), self.how)


class ConnectPage(Page):
    title = "Connect"
    icon = "connect"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self._key = ""
        self.door = Door()
        self.secure = SecureCard()
        self.keys = KeysCard(self)
        self.recipes = RecipesCard()
        self.cards = {client.id: ClientCard(client) for client in all_clients()}
        self._lay_out()
        self._bind(core)

    def show_here(self, _: object) -> None:
        needs_key = self.core.settings.get().server.asks_for_key
        if needs_key and not self._key and self.core.server.get().phase == "ready":
            self.run(self._learn_key())
        key = self._key if needs_key else ""
        address, model = self.core.server.get().address, self.core.model.get()
        for card in self.cards.values():
            card.show_here(address, model.name, key)
        self.recipes.show_here(Here(address, model.name, key, model.context_tokens))
        self.secure.show_server(self.core.server.get())
        self.keys.show_keys(self.core.keys.get(), asks=needs_key)
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
        key = self._key if self.core.settings.get().server.asks_for_key else ""
        address = self.core.server.get().address
        card.show_outcome(await first_request(address, key, card.client.steps))

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
        self.recipes.failed.connect(self.failed)
        self.door.allowed.connect(self.allow)
        self.door.removed.connect(self.remove)
        self.secure.wanted.connect(self.serve_https)
        self.door.wants_key.connect(lambda: self.run(self._copy_key()))
        self.observe(core.keys, self.show_here)
        self.observe(core.server, self.show_here)
        self.observe(core.model, self.show_here)
        self.observe(core.settings, self.show_here)
        self.observe(core.knocks, self.show_door)

    def _lay_out(self) -> None:
        column = Column()
        put(column.body, Label(tr("Connect"), "title"), self.door, *self.cards.values())
        put(column.body, self.recipes, self.secure, self.keys)
        column.fill(self)
