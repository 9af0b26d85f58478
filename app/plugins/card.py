"""The card of a plugin: what it is, what it may do, its options, its log, and a trial."""

import json
from collections.abc import Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.look import theme
from app.look.controls import (
    Button,
    Card,
    CodeBox,
    CopyButton,
    Label,
    Remark,
    Rows,
    SecretsPlace,
    divider,
    drop,
    field,
    hint,
    name_label,
    put,
    restyle,
    reveal,
    row,
    short_name,
    stack,
)
from app.look.model_rows import facts
from app.look.page import Page
from app.look.translate import join_sentences, told, tr
from app.plugins.questions import AnswerGrid, Unfit
from server.chat import Json
from server.errors import AppError
from server.face.plugins import OperationCard, OptionCard, PluginCard, PluginTest, ToolCard

_MOST_LOG_LINES = 14
LOG_LINES = 300
"""How many lines of a plugin's log are read."""
_MOST_NAMED = 20
"""The most resources or prompts that are named."""


class PluginLog(QWidget):
    wanted = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.read = Button(
            tr("Show its log"), "logs", name=tr("Show the log of {name}").format(name=name)
        )
        self.lines = CodeBox(tr("Log of {name}").format(name=name), _MOST_LOG_LINES)
        self.copy = CopyButton(tr("the log"), self.lines.toPlainText)
        self.read.clicked.connect(self.wanted)
        self.setLayout(stack(row(self.read, self.copy, 0), self.lines, spacing=theme.SMALL))
        for hidden in (self.lines, self.copy):
            hidden.hide()

    def show_lines(self, lines: list[str]) -> None:
        self.lines.show_text("\n".join(lines) or tr("The log is empty."))
        self.lines.show()
        self.copy.setVisible(bool(lines))
        self.read.setText(tr("Reload"))
        bar = self.lines.verticalScrollBar()
        bar.setValue(bar.maximum())


CHANGING = "changing_methods"


class PluginOptions(QWidget):
    option_set = Signal(str, str)

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self.fields: dict[str, OptionField] = {}
        self.changing = QCheckBox(tr("It may also change and delete (PUT, PATCH, DELETE)"))
        self.changing.setAccessibleName(self.changing.text())
        self.changing.toggled.connect(
            lambda on: self.option_set.emit(CHANGING, "true" if on else "false")
        )
        for option in card.options:
            made = self.fields[option.name] = OptionField(option)
            made.changed.connect(self.option_set)
        self.setLayout(stack(*self.fields.values(), self.changing, spacing=theme.SMALL))
        self.changing.setVisible(_has_changing(card))
        self.is_empty = not card.options and not _has_changing(card)

    def show_card(self, card: PluginCard) -> None:
        for option in card.options:
            if made := self.fields.get(option.name):
                made.show_value(option.value)
        with QSignalBlocker(self.changing):
            self.changing.setChecked(card.changing_methods)


class OptionField(QWidget):
    """The field of an option. An option for folders has one folder per line."""

    changed = Signal(str, str)

    def __init__(self, option: OptionCard) -> None:
        super().__init__()
        self._name, self._kind = option.name, option.kind
        label = told(tr(option.label))
        self._shown = option.value
        self.edit: QLineEdit | QPlainTextEdit
        if option.kind == "folders":
            self.edit = QPlainTextEdit()
            self.edit.setTabChangesFocus(True)
            self.edit.setFixedHeight(theme.LINES_HEIGHT)
            self.edit.setPlaceholderText(tr("One per line"))
        else:
            self.edit = QLineEdit()
            self.edit.editingFinished.connect(self._finish)
        self.edit.setAccessibleName(label)
        words = tr("Choose a file") if option.kind == "file" else tr("Choose a folder")
        self.pick = Button(words, name=f"{words}: {label}")
        self.pick.clicked.connect(self._pick)
        self.keep = Button(tr("Apply"), name=f"{tr('Apply')}: {label}")
        self.keep.clicked.connect(self._finish)
        line = row(self.edit, self.pick, self.keep, grows=self.edit)
        self.setLayout(stack(Label(label), line))
        self.pick.setHidden(option.kind == "text")
        self.keep.setHidden(option.kind != "folders")
        self.show_value(option.value)

    def show_value(self, value: str) -> None:
        self._shown = value
        if value != self.text() and not self.edit.hasFocus():
            self._write(value)

    def text(self) -> str:
        if isinstance(self.edit, QLineEdit):
            return self.edit.text()
        return self.edit.toPlainText()

    def take(self, path: str) -> None:
        """Takes a file or folder that was picked. A further folder is added to those before it."""
        several = self._kind == "folders" and self.text().strip()
        self._write(f"{self.text().strip()}\n{path}" if several else path)
        self._finish()

    def _write(self, text: str) -> None:
        if isinstance(self.edit, QLineEdit):
            self.edit.setText(text)
        else:
            self.edit.setPlainText(text)

    def _finish(self) -> None:
        value = self.text().strip()
        if value != self._shown:
            self._shown = value
            self.changed.emit(self._name, value)

    def _pick(self) -> None:
        if self._kind == "file":
            picked, _ = QFileDialog.getOpenFileName(self, tr("Choose a file"))
        else:
            picked = QFileDialog.getExistingDirectory(self, tr("Choose a folder"))
        if picked:
            self.take(picked)


def _has_changing(card: PluginCard) -> bool:
    """Whether its API has methods that change something."""
    return any(one.key.split(" ")[0] in ("PUT", "PATCH", "DELETE") for one in card.operations)


_MOST_LINES = 16


class PluginTrial(QWidget):
    """Tries a flow with a question, or a tool with arguments from a form."""

    asked = Signal(str, str, str)
    """Emitted with the flow, the question and the mode: dry, mock or run."""
    called = Signal(str, str, str)
    """Emitted with the tool, its arguments as JSON, and the mode."""
    tools_wanted = Signal()

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self.flow = QComboBox()
        self.flow.setAccessibleName(tr("Flow to test"))
        self.tools: dict[str, ToolCard] = {}
        self.form: AnswerGrid | None = None
        self.finder = Button(tr("List its tools"), name=tr("List its tools: starts its programs"))
        self.finder.setToolTip(hint(self.finder.accessibleName()))
        self.finder.setVisible(card.has_tools)
        for flow in card.flows:
            if flow.usable:
                self.flow.addItem(short_name(flow.key), flow.key)
        words = tr("A question to test it with")
        self.question = field(words, words)
        self.question.setText(card.question)
        self.modes = {
            "dry": Button(tr("Dry run"), name=tr("Dry run: shows the request, sends nothing")),
            "mock": Button(tr("Mock"), name=tr("Mock: continues with made-up answers")),
            "run": Button(tr("Run"), "play", name=tr("Run it for real")),
        }
        for mode, button in self.modes.items():
            button.setToolTip(hint(button.accessibleName()))
            button.clicked.connect(lambda _=False, mode=mode: self._ask(mode))
        self.state = Remark()
        self.finder.clicked.connect(lambda: self.state.tell(tr("Running\u2026")))
        self.finder.clicked.connect(self.tools_wanted)
        self.result = CodeBox(tr("Result"), _MOST_LINES)
        self.result.hide()
        self.copy = CopyButton(tr("the report"), self.result.toPlainText)
        self.copy.hide()
        self._lay_out()
        self.question.textChanged.connect(lambda _: self._update())
        self.flow.currentIndexChanged.connect(lambda _: self._choose())
        self.is_empty = self.flow.count() == 0 and not card.has_tools
        self._is_enabled = card.enabled
        self._update()

    def show_card(self, card: PluginCard) -> None:
        self._is_enabled = card.enabled
        self._update()

    def show_tools(self, tools: tuple[ToolCard, ...]) -> None:
        """Adds the tools after the flows. The selection stays."""
        for tool in tools:
            if tool.key not in self.tools:
                self.flow.addItem(tr("{name} (tool)").format(name=short_name(tool.key)), tool.key)
            self.tools[tool.key] = tool
        self.state.tell("" if tools else tr("It has no tools."))
        self._choose()

    def show_test(self, found: PluginTest) -> None:
        self.state.tell(tr("It failed.") if found.failed else tr("Done."))
        self.result.show_text(report(found))
        self.result.show()
        self.copy.show()
        self._update()

    def show_failure(self, error: AppError) -> None:
        self.state.fail(error)
        self._update()

    def _choose(self) -> None:
        """Shows the question for a flow, or a form of the arguments for a tool."""
        is_flow = self.flow.currentText() == self.flow.currentData()
        tool = None if is_flow else self.tools.get(self.flow.currentData())
        if self.form is not None:
            drop(self._column, self.form)
            self.form = None
        if tool is not None:
            self.form = AnswerGrid(_with_choices(json.loads(tool.schema)))
            self.form.changed.connect(self._update)
            self._column.insertWidget(1, self.form)
        self.question.setHidden(tool is not None)
        self._update()

    def _ask(self, mode: str) -> None:
        for button in self.modes.values():
            button.setEnabled(False)
        self.state.tell(tr("Running\u2026"))
        if self.form is None:
            self.asked.emit(self.flow.currentData(), self.question.text().strip(), mode)
        else:
            given = json.dumps(self.form.values(), ensure_ascii=False)
            self.called.emit(self.flow.currentData(), given, mode)

    def _update(self) -> None:
        self.finder.setEnabled(self._is_enabled)
        is_ready = bool(self.question.text().strip()) and self.flow.count() > 0
        if self.form is not None:
            try:
                is_ready = self.form.is_whole()
            except Unfit as error:
                self.state.tell(str(error))
                is_ready = False
        for mode, button in self.modes.items():
            button.setEnabled(is_ready and (mode != "run" or self._is_enabled))

    def _lay_out(self) -> None:
        line = row(self.flow, self.finder, self.question, grows=self.question)
        modes = row(*self.modes.values(), self.copy, 0)
        self._column = stack(line, modes, self.state, self.result, spacing=theme.SMALL)
        self.setLayout(self._column)


def _with_choices(schema: Json) -> Json:
    """Turns optional switches into choices, so that nothing is sent unless one is chosen."""
    required = schema.get("required", [])
    parts = {
        name: {**part, "enum": [True, False]}
        if part.get("type") == "boolean" and name not in required
        else part
        for name, part in schema.get("properties", {}).items()
    }
    return {**schema, "properties": parts}


def report(found: PluginTest) -> str:
    """Returns the steps, the requests that were or would be sent, and the answer."""
    end = told(found.text) if found.failed else found.text
    parts = ["\n".join(found.steps), *found.requests, end]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


_POLICIES = ("default", "allow", "block")


class SecretField(QLineEdit):
    """A field for a secret. It keeps the text until the secret was stored, and then clears it."""

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
        kept = tr("Stored unencrypted") if self._is_plain else tr("Stored in the keychain")
        self.setPlaceholderText(tr("Not set yet") if is_missing else kept)

    def show_plain(self, *, is_plain: bool) -> None:
        """Sets whether secrets are stored in a file, because there is no keyring."""
        self._is_plain = is_plain
        self.show_missing(is_missing=self._is_missing)

    def settle(self, *, kept: bool) -> None:
        """Ends the saving. Clears the field if the secret was stored."""
        self.setReadOnly(False)
        if kept:
            self.clear()
            self.show_missing(is_missing=False)

    def _give(self) -> None:
        # Both Return and leaving the field afterwards end the editing.
        if self.text() and not self.isReadOnly():
            self.setReadOnly(True)
            self.given.emit(self.text())


class PluginBox(Card):
    """The card of a plugin. It sends its commands to the core."""

    def __init__(self, card: PluginCard, page: Page) -> None:
        super().__init__()
        self._card = card
        self._run, self._room = page.run, page.core.plugins
        self.name = name_label(card.name, "headline")
        self.state = Label("", "small", wrap=True)
        self.about = Label(card.description, "muted", wrap=True)
        self.review = Label("", wrap=True)
        self.working = Label("", "small", wrap=True)
        self.findings = Remark("warn")
        self.switch = Button(tr("Enable"))
        self.switch.clicked.connect(self._switch)
        self.more = Button(tr("Details"), name=tr("Details of {name}").format(name=card.name))
        self.more.setCheckable(True)
        self.details = QWidget()
        self.more.toggled.connect(self.details.setVisible)
        self._inside = stack(spacing=theme.MEDIUM)
        self.details.setLayout(self._inside)
        self.policies: dict[str, QComboBox] = {}
        self.secrets: dict[str, SecretField] = {}
        self.place = SecretsPlace()
        self.options = PluginOptions(card)
        self.trial = PluginTrial(card)
        self.offers = Label("", "small", wrap=True)
        self.offered = QWidget()
        self.offered.setLayout(stack(divider(), self.offers, spacing=theme.MEDIUM))
        self.log = PluginLog(card.name)
        self.signing = Button(tr("Sign in"), "external")
        self.signing.clicked.connect(self._sign)
        self._lay_out()
        self._build_details(card)

    def show_card(self, card: PluginCard) -> None:
        self._card = card
        origin = tr("part of Moat") if card.shipped else tr("added by you")
        self.state.setText(facts(f"{card.version}", origin, state_words(card)))
        self.state.set_role("small" if card.state == "ok" else "warn")
        self.review.tell(review_words(card) if card.review or not card.enabled else "")
        self.working.tell(told(card.working))
        self.findings.tell("\n".join(card.findings), details=card.failure_details)
        enable = tr("Accept and enable") if card.review else tr("Enable")
        self.switch.setText(tr("Disable") if card.enabled else enable)
        self.switch.setAccessibleName(f"{self.switch.text()}: {card.name}")
        self.switch.setProperty("kind", "" if card.enabled else "primary")
        self.switch.setEnabled(card.enabled or card.state != "broken")
        restyle(self.switch)
        self.options.show_card(card)
        self.trial.show_card(card)
        self.offers.setText(offers_words(card))
        reveal(self.offered, shown=bool(self.offers.text()))
        self._show_signing(card)
        for name, secret in self.secrets.items():
            secret.show_missing(is_missing=name in card.missing_secrets)
        self.operations.show(card.operations)
        reveal(self.abilities, shown=bool(card.operations))
        for operation in card.operations:
            if choice := self.policies.get(operation.key):
                with QSignalBlocker(choice):
                    choice.setCurrentIndex(choice.findData(operation.policy))

    def show_place(self, plain_file: str) -> None:
        """Shows where secrets are stored; `plain_file` is empty if there is a keyring."""
        for secret in self.secrets.values():
            secret.show_plain(is_plain=bool(plain_file))
        self.place.show_place(plain_file)

    def _lay_out(self) -> None:
        words = stack(self.name, self.state, spacing=2)
        head = row(words, self.more, self.switch, grows=words)
        parts = (self.about, self.review, self.working, self.findings, self.details)
        put(self.column, head, *parts)
        self.details.hide()

    def _build_details(self, card: PluginCard) -> None:
        self._build_abilities()
        told = [Label(f"•  {flow.description}", "small", wrap=True) for flow in card.flows]
        self._section(tr("What it answers"), told)
        asked: list[QWidget] = [self._secret(name) for name in card.secrets]
        if asked:
            asked.append(self.place)
        self._section(
            tr("What it needs"), asked if self.options.is_empty else [*asked, self.options]
        )
        self._inside.addWidget(self.offered)
        self._section(tr("Test it"), [] if self.trial.is_empty else [self.trial])
        self._section("", [self.log])
        self._connect_parts(card.key)
        self.back = Button(tr("Back to version {old}").format(old=card.previous_version), "reset")
        self.back.clicked.connect(lambda: self._run(self._room.roll_back(card.key)))
        self.back.setHidden(card.previous_version is None)
        self.remove = Button(tr("Remove"), "trash", name=tr("Remove {name}").format(name=card.name))
        self.remove.clicked.connect(lambda: self._run(self._room.remove(card.key)))
        self.remove.setHidden(card.shipped)
        self._inside.addLayout(row(self.remove, self.back, self.signing, 0))

    def _connect_parts(self, key: str) -> None:
        room, run = self._room, self._run
        self.options.option_set.connect(lambda *given: run(self._set(room.set_option(key, *given))))
        self.trial.asked.connect(lambda *given: run(self._try(room.test(key, *given))))
        self.trial.called.connect(lambda *given: run(self._try(room.try_tool(key, *given))))
        self.trial.tools_wanted.connect(lambda: run(self._find_tools()))
        self.log.wanted.connect(lambda: run(self._read_log()))

    async def _set(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a change. If it is refused, shows the current state again."""
        try:
            await work
        except AppError:
            self.show_card(self._card)
            raise

    async def _keep_secret(self, name: str, secret: str) -> None:
        kept = False
        try:
            await self._room.set_secret(self._card.key, name, secret)
            kept = True
        finally:
            self.secrets[name].settle(kept=kept)

    async def _try(self, work: Coroutine[Any, Any, PluginTest]) -> None:
        try:
            self.trial.show_test(await work)
        except AppError as error:
            self.trial.show_failure(error)

    async def _find_tools(self) -> None:
        try:
            self.trial.show_tools(await self._room.find_tools(self._card.key))
        except AppError as error:
            self.trial.show_failure(error)

    async def _read_log(self) -> None:
        self.log.show_lines(await self._room.read_log(self._card.key, LOG_LINES))

    def _build_abilities(self) -> None:
        """Adds the list of operations. It grows once an MCP server has listed its tools."""
        self.operations: Rows[OperationCard, QWidget] = Rows(
            lambda operation: (operation.key, operation.risk), self._operation, lined=False
        )
        self.operations.layout.setSpacing(theme.MEDIUM)
        inside = stack(divider(), Label(tr("What it can do"), "section"), spacing=theme.MEDIUM)
        inside.addLayout(self.operations.layout)
        self.abilities = QWidget()
        self.abilities.setLayout(inside)
        self._inside.addWidget(self.abilities)

    def _section(self, title: str, parts: Sequence[QWidget]) -> None:
        if parts:
            heading = [Label(title, "section")] if title else []
            put(self._inside, divider(), *heading, *parts)

    def _operation(self, operation: OperationCard) -> QWidget:
        choice = QComboBox()
        choice.setFixedWidth(theme.FIELD_WIDTH - 2 * theme.HUGE)
        choice.setAccessibleName(tr("What {name} may do").format(name=operation.key))
        for policy in _POLICIES:
            if policy != "allow" or operation.risk != "danger":
                choice.addItem(policy_words(policy), policy)
        key, policy_of = self._card.key, choice.currentData
        choice.activated.connect(
            lambda _: self._run(self._set(self._room.set_policy(key, operation.key, policy_of())))
        )
        self.policies[operation.key] = choice
        holder = QWidget()
        words = stack(Label(operation.key), Label(operation.description, "small", wrap=True))
        holder.setLayout(row(words, choice, grows=words))
        return holder

    def _secret(self, name: str) -> QWidget:
        secret = SecretField(name, is_missing=name in self._card.missing_secrets)
        secret.given.connect(lambda text: self._run(self._keep_secret(name, text)))
        self.secrets[name] = secret
        holder, label = QWidget(), Label(name)
        holder.setLayout(row(label, secret, grows=label))
        return holder

    def _show_signing(self, card: PluginCard) -> None:
        words = {"needed": tr("Sign in"), "done": tr("Sign out"), "open": tr("Signing in…")}
        self.signing.setHidden(card.sign_in not in words)
        self.signing.setText(words.get(card.sign_in, tr("Sign in")))
        self.signing.setAccessibleName(f"{self.signing.text()}: {card.name}")

    def _switch(self) -> None:
        is_on = self._card.enabled
        self._run((self._room.disable if is_on else self._room.enable)(self._card.key))

    def _sign(self) -> None:
        is_done = self._card.sign_in == "done"
        self._run(self._room.sign_out(self._card.key) if is_done else self._sign_in())

    async def _sign_in(self) -> None:
        QDesktopServices.openUrl(QUrl(await self._room.sign_in(self._card.key)))


def review_words(card: PluginCard) -> str:
    """Describes what a person accepts by enabling the plugin."""
    parts = []
    if card.hosts:
        parts.append(tr("It connects to: {hosts}.").format(hosts=", ".join(card.hosts)))
    if card.commands:
        parts.append(tr("It starts: {commands}.").format(commands="; ".join(card.commands)))
    if card.has_your_rights:
        parts.append(
            tr(
                "It runs programs with your user rights, and Moat cannot monitor "
                "them: only enable plugins you trust."
            )
        )
    elif card.runs_code or card.commands:
        parts.append(tr("Its code runs in a sandbox."))
    if card.changes:
        parts.append(tr("Since your review: {changes}.").format(changes=", ".join(card.changes)))
    if card.secrets:
        parts.append(tr("It needs: {secrets}.").format(secrets=", ".join(card.secrets)))
    if card.lacks_address:
        parts.append(tr("The address of its API is not set yet."))
    return join_sentences(parts) or tr("It does not connect to anything outside Moat.")


def offers_words(card: PluginCard) -> str:
    """Describes the resources and prompts of its MCP servers; empty until they were listed."""
    parts = []
    if card.resources:
        named = ", ".join(card.resources[:_MOST_NAMED])
        parts.append(tr("Its servers offer to read: {names}").format(names=named))
    if card.prompts:
        named = ", ".join(card.prompts[:_MOST_NAMED])
        parts.append(tr("Its servers offer these prompts: {names}").format(names=named))
    return "\n".join(parts)


def state_words(card: PluginCard) -> str:
    if card.state == "ok":
        if card.review:
            return tr("needs your review")
        return tr("enabled") if card.enabled else tr("disabled")
    return {
        "warnings": tr("works, with warnings"),
        "partly broken": tr("partly broken"),
        "broken": tr("broken"),
    }[card.state]


def policy_words(policy: str) -> str:
    return {"default": tr("Ask when risky"), "allow": tr("Always allow"), "block": tr("Never")}[
        policy
    ]
