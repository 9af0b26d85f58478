"""One plugin: what it is, what it may do, and the switches about it."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import Button, Card, Label, divider, restyle, row, secrets_words, stack
from app.look.fit_label import facts
from app.look.translate import tr
from app.plugins.log import PluginLog
from app.plugins.options import PluginOptions
from app.plugins.trial import PluginTrial
from server.face.plugins import OperationCard, PluginCard

_POLICIES = ("default", "allow", "block")


class SecretField(QLineEdit):
    """A secret to be kept. It stays here until it is, and is not shown afterwards."""

    given = Signal(str)

    def __init__(self, name: str, *, is_missing: bool) -> None:
        super().__init__()
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setAccessibleName(name)
        self.setFixedWidth(theme.FIELD_WIDTH)
        self._is_plain = False
        self.show_missing(is_missing=is_missing)
        self.editingFinished.connect(self._give)

    def show_missing(self, *, is_missing: bool) -> None:
        self._is_missing = is_missing
        kept = tr("Kept unencrypted") if self._is_plain else tr("Kept in the keychain")
        self.setPlaceholderText(tr("Not set yet") if is_missing else kept)

    def show_plain(self, *, is_plain: bool) -> None:
        """Whether secrets lie in a file, because there is no keyring."""
        self._is_plain = is_plain
        self.show_missing(is_missing=self._is_missing)

    def settle(self, *, kept: bool) -> None:
        """What was given was kept, or could not be."""
        self.setReadOnly(False)
        if kept:
            self.clear()
            self.show_missing(is_missing=False)

    def _give(self) -> None:
        # Return and then leaving the field both end the editing.
        if self.text() and not self.isReadOnly():
            self.setReadOnly(True)
            self.given.emit(self.text())


class PluginBox(Card):
    switched = Signal(str, bool)
    removed = Signal(str)
    rolled_back = Signal(str)
    policy_set = Signal(str, str, str)
    secret_set = Signal(str, str, str)
    option_set = Signal(str, str, str)
    tried = Signal(str, str, str, str)
    tool_tried = Signal(str, str, str, str)
    tools_wanted = Signal(str)
    log_wanted = Signal(str)
    sign_in = Signal(str)
    sign_out = Signal(str)

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self._card = card
        self.name = Label(card.name, "headline")
        self.state = Label("", "small", wrap=True)
        self.about = Label(card.description, "muted", wrap=True)
        self.review = Label("", wrap=True)
        self.findings = Label("", "warn", wrap=True)
        self.switch = Button(tr("Enable"))
        self.switch.clicked.connect(lambda: self.switched.emit(card.key, not self._card.enabled))
        self.more = Button(tr("Details"), name=tr("Details of {name}").format(name=card.name))
        self.more.setCheckable(True)
        self.details = QWidget()
        self.more.toggled.connect(self.details.setVisible)
        self._inside = QVBoxLayout(self.details)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(theme.MEDIUM)
        self.policies: dict[str, QComboBox] = {}
        self.secrets: dict[str, SecretField] = {}
        self.place = Label("", "small", wrap=True)
        self.options = PluginOptions(card)
        self.trial = PluginTrial(card)
        self.log = PluginLog(card.name)
        self.signing = Button(tr("Sign in"), "external")
        self.signing.clicked.connect(self._sign)
        self._lay_out()
        self._build_details(card)

    def show_card(self, card: PluginCard) -> None:
        self._card = card
        origin = tr("part of Moat") if card.shipped else tr("added by you")
        self.state.setText(facts(f"{card.version}", origin, state_words(card)))
        self.state.setProperty("role", "small" if card.state == "ok" else "warn")
        restyle(self.state)
        self.review.tell(review_words(card) if card.review or not card.enabled else "")
        self.findings.tell("\n".join(card.findings))
        enable = tr("Accept and enable") if card.review else tr("Enable")
        self.switch.setText(tr("Disable") if card.enabled else enable)
        self.switch.setAccessibleName(f"{self.switch.text()}: {card.name}")
        self.switch.setProperty("kind", "" if card.enabled else "primary")
        self.switch.setEnabled(card.enabled or card.state != "broken")
        restyle(self.switch)
        self.options.show_card(card)
        self.trial.show_card(card)
        self._show_signing(card)
        for name, field in self.secrets.items():
            field.show_missing(is_missing=name in card.missing_secrets)
        for operation in card.operations:
            if choice := self.policies.get(operation.key):
                with QSignalBlocker(choice):
                    choice.setCurrentIndex(choice.findData(operation.policy))

    def show_place(self, plain_file: str) -> None:
        """Where its secrets are kept."""
        for field in self.secrets.values():
            field.show_plain(is_plain=bool(plain_file))
        self.place.setText(secrets_words(plain_file))
        self.place.setProperty("role", "warn" if plain_file else "small")
        restyle(self.place)

    def show_again(self) -> None:
        self.show_card(self._card)

    def _lay_out(self) -> None:
        head = row(spacing=theme.SMALL)
        head.addLayout(stack(self.name, self.state, spacing=2), 1)
        head.addWidget(self.more)
        head.addWidget(self.switch)
        self.column.addLayout(head)
        for part in (self.about, self.review, self.findings, self.details):
            self.column.addWidget(part)
        self.details.hide()

    def _build_details(self, card: PluginCard) -> None:
        self._section(tr("What it can do"), [self._operation(one) for one in card.operations])
        told = [Label(f"•  {flow.description}", "small", wrap=True) for flow in card.flows]
        self._section(tr("What it answers"), told)
        asked: list[QWidget] = [self._secret(name) for name in card.secrets]
        if asked:
            asked.append(self.place)
        self._section(
            tr("What it needs"), asked if self.options.is_empty else [*asked, self.options]
        )
        self._section(tr("Try it"), [] if self.trial.is_empty else [self.trial])
        self._section("", [self.log])
        self.options.option_set.connect(lambda *given: self.option_set.emit(card.key, *given))
        self.trial.asked.connect(lambda *given: self.tried.emit(card.key, *given))
        self.trial.called.connect(lambda *given: self.tool_tried.emit(card.key, *given))
        self.trial.tools_wanted.connect(lambda: self.tools_wanted.emit(card.key))
        self.log.wanted.connect(lambda: self.log_wanted.emit(card.key))
        actions = row(self.signing, 0)
        if card.previous_version is not None:
            back = Button(tr("Back to version {old}").format(old=card.previous_version), "reset")
            back.clicked.connect(lambda: self.rolled_back.emit(card.key))
            actions.insertWidget(0, back)
        if not card.shipped:
            remove = Button(tr("Remove"), "trash", name=tr("Remove {name}").format(name=card.name))
            remove.clicked.connect(lambda: self.removed.emit(card.key))
            actions.insertWidget(0, remove)
        self._inside.addLayout(actions)

    def _section(self, title: str, parts: Sequence[QWidget]) -> None:
        if not parts:
            return
        self._inside.addWidget(divider())
        if title:
            self._inside.addWidget(Label(title, "section"))
        for part in parts:
            self._inside.addWidget(part)

    def _operation(self, operation: OperationCard) -> QWidget:
        choice = QComboBox()
        choice.setFixedWidth(theme.FIELD_WIDTH - 2 * theme.HUGE)
        choice.setAccessibleName(tr("What {name} may do").format(name=operation.key))
        for policy in _POLICIES:
            if policy != "allow" or operation.risk != "danger":
                choice.addItem(policy_words(policy), policy)
        choice.activated.connect(
            lambda _: self.policy_set.emit(self._card.key, operation.key, choice.currentData())
        )
        self.policies[operation.key] = choice
        holder = QWidget()
        line = row()
        words = stack(Label(operation.key), Label(operation.description, "small", wrap=True))
        line.addLayout(words, 1)
        line.addWidget(choice)
        holder.setLayout(line)
        return holder

    def _secret(self, name: str) -> QWidget:
        field = SecretField(name, is_missing=name in self._card.missing_secrets)
        field.given.connect(lambda text: self.secret_set.emit(self._card.key, name, text))
        self.secrets[name] = field
        holder = QWidget()
        line = row()
        line.addWidget(Label(name), 1)
        line.addWidget(field)
        holder.setLayout(line)
        return holder

    def _show_signing(self, card: PluginCard) -> None:
        words = {"needed": tr("Sign in"), "done": tr("Sign out"), "open": tr("Signing in…")}
        self.signing.setHidden(card.sign_in not in words)
        self.signing.setText(words.get(card.sign_in, tr("Sign in")))
        self.signing.setAccessibleName(f"{self.signing.text()}: {card.name}")

    def _sign(self) -> None:
        is_done = self._card.sign_in == "done"
        (self.sign_out if is_done else self.sign_in).emit(self._card.key)


def review_words(card: PluginCard) -> str:
    """What enabling it would accept."""
    parts = []
    if card.hosts:
        parts.append(tr("It connects to: {hosts}.").format(hosts=", ".join(card.hosts)))
    if card.commands:
        parts.append(tr("It starts: {commands}.").format(commands="; ".join(card.commands)))
    if card.runs_code:
        parts.append(tr("It runs code of its own, in a process apart."))
    if card.has_your_rights:
        parts.append(tr("What it runs has your rights: Moat cannot watch it."))
    if card.changes:
        parts.append(tr("Since your review: {changes}.").format(changes=", ".join(card.changes)))
    if card.secrets:
        parts.append(tr("It asks for: {secrets}.").format(secrets=", ".join(card.secrets)))
    if card.lacks_address:
        parts.append(tr("The address of its API is not set yet."))
    return " ".join(parts) or tr("It reaches nothing outside Moat.")


def state_words(card: PluginCard) -> str:
    if card.state == "ok":
        if card.review:
            return tr("waits for your review")
        return tr("enabled") if card.enabled else tr("disabled")
    return {
        "warnings": tr("works, with warnings"),
        "partly broken": tr("partly broken"),
        "broken": tr("broken"),
    }[card.state]


def policy_words(policy: str) -> str:
    return {"default": tr("Ask by risk"), "allow": tr("Always allow"), "block": tr("Never")}[policy]
