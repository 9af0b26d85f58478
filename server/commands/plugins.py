"""moat plugins: does everything the Plugins page does, without a window."""

import argparse
import asyncio
import getpass
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from server.chat import Json
from server.commands import find_running, say, say_json
from server.core.core import Core
from server.data.yaml_with_places import nearest, summarise
from server.errors import AppError
from server.face.client import RunningServer
from server.face.plugins import Approval, FormCard, PluginCard, ToolCard
from server.flows import answers
from server.flows.grounding import MADE_UP
from server.plugins.folder import load
from server.schemas import fill
from server.system import paths
from server.system.limits import printable
from server.tasks import spawn, stop

SHOWN_ID = 6
LOOK_S = 0.5


class Desk(Protocol):
    """The place where plugins are managed: the running Moat, or else this process."""

    def values(self, name: str) -> AsyncGenerator[Any, None]: ...
    async def value(self, name: str) -> Any: ...
    async def command(self, name: str, /, **arguments: str) -> Any: ...


class OwnDesk:
    """A core in this process that can be used like a running server."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def values(self, name: str) -> AsyncGenerator[Any, None]:
        while True:
            yield await self.value(name)
            await asyncio.sleep(LOOK_S)

    async def value(self, name: str) -> Any:
        return attrgetter(name)(self._core).get()

    async def command(self, name: str, /, **arguments: str) -> Any:
        return await attrgetter(name)(self._core)(**arguments)


Work = Callable[[Desk, argparse.Namespace], Awaitable[int]]


HELP = """What Moat can reach and do. A running Moat is used where there is one, and changes
at once; without one the command works on the same files by itself.

  moat plugins check my-plugin              what is wrong with a folder, errors first
  moat plugins install my-plugin            it starts disabled
  moat plugins import claude_desktop_config.json     the MCP servers that it lists
  moat plugins servers                      common MCP servers; 'add NAME' makes a plugin of one
  moat plugins set my-plugin server https://api.example.org
  moat plugins secret my-plugin token       asks for the secret, or reads it from a pipe
  moat plugins enable my-plugin
  moat plugins tools my-plugin              its tools and their arguments
  moat plugins run my-plugin/flow "a question"
  moat plugins run my-plugin/server/tool --set city=Graz
  moat plugins answer                       what waits for you: calls to allow, forms to fill in
"""


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "plugins",
        help="manage plugins: what Moat can reach and do",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION", title="actions")
    one = actions.add_parser("list", help="list the installed plugins")
    one.add_argument("--json", action="store_true", help="for scripts")
    one.set_defaults(run=_at_desk(_list))
    one = actions.add_parser("check", help="check a plugin's folder and list its problems")
    one.add_argument("folder", nargs="+", type=Path)
    one.add_argument("--all", action="store_true", help="each finding in a line of its own")
    one.add_argument("--json", action="store_true", help="all findings, for scripts")
    one.set_defaults(run=_check)
    _add_installing(actions)
    for name, about, work in (
        ("enable", "enable a plugin", _enable),
        ("disable", "disable a plugin", _disable),
        ("remove", "delete a plugin, its secrets and its permissions", _remove),
        ("tools", "list the tools of its servers and its code, with their arguments", _tools),
    ):
        one = actions.add_parser(name, help=about)
        one.add_argument("key", metavar="NAME")
        if work is _tools:
            one.add_argument("--json", action="store_true", help="for scripts")
        one.set_defaults(run=_at_desk(work))
    _add_setting(actions)
    _add_answering(actions)
    _add_running(actions)


def _add_installing(actions: Any) -> None:
    one = actions.add_parser("install", help="from a zip file or a folder; it starts disabled")
    one.add_argument("path")
    one.set_defaults(run=_at_desk(_install))
    one = actions.add_parser(
        "import",
        help="the MCP servers of another program, from its mcp.json or claude_desktop_config.json",
    )
    one.add_argument("path")
    one.set_defaults(run=_at_desk(_import))
    one = actions.add_parser("servers", help="list common MCP servers that can be added")
    one.add_argument("--json", action="store_true", help="for scripts")
    one.set_defaults(run=_at_desk(_servers))
    one = actions.add_parser("add", help="a common MCP server, by its name; it starts disabled")
    one.add_argument("name", metavar="NAME")
    one.add_argument(
        "--host", action="append", default=[], metavar="HOST", help="that it may reach"
    )
    one.set_defaults(run=_at_desk(_add))


def _add_setting(actions: Any) -> None:
    one = actions.add_parser(
        "set",
        help="an option, the address of its API ('server'), or 'changing_methods' true|false",
    )
    one.add_argument("key", metavar="NAME")
    one.add_argument("option", metavar="KEY")
    one.add_argument("value", metavar="VALUE")
    one.set_defaults(run=_at_desk(_set))
    one = actions.add_parser("secret", help="store a secret; it is asked for, or read from a pipe")
    one.add_argument("key", metavar="NAME")
    one.add_argument("secret", metavar="KEY")
    one.add_argument("--forget", action="store_true", help="remove it from the keychain")
    one.set_defaults(run=_at_desk(_secret))


def _add_answering(actions: Any) -> None:
    one = actions.add_parser(
        "answer",
        help="list what waits for your answer, or answer it",
        description="Without an ID: the calls that wait for permission and the forms to fill in. "
        "A call is answered by once, always or deny; a form by NAME=VALUE for each field, or deny.",
    )
    one.add_argument("id", nargs="?", metavar="ID", help="its first characters are enough")
    one.add_argument("answer", nargs="*", metavar="ANSWER")
    one.add_argument("--json", action="store_true", help="what waits, for scripts")
    one.set_defaults(run=_answer)


def _add_running(actions: Any) -> None:
    one = actions.add_parser(
        "run",
        help="run a flow with a question, or a tool with its arguments",
        description="A flow takes a question. A tool takes a question too, or its arguments by "
        "--set and --arguments; in a terminal, those that are missing are asked for.",
    )
    one.add_argument("flow", help="PLUGIN/FLOW, PLUGIN/TOOL or PLUGIN/SERVER/TOOL")
    one.add_argument("question", nargs="?", default="")
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an argument of a tool"
    )
    one.add_argument("--arguments", default="", metavar="JSON", help="all arguments of a tool")
    one.add_argument("--dry", action="store_true", help="show the first request, send nothing")
    one.add_argument("--mock", action="store_true", help="continue with made-up answers")
    one.add_argument("--yes", action="store_true", help="allow every call without asking")
    one.set_defaults(run=_run)


def _check(options: argparse.Namespace) -> int:
    """Checks plugin folders. Returns 1 if a folder has an error; warnings alone are fine."""
    worst, checked = 0, []
    for folder in options.folder:
        if not folder.is_dir():
            sys.stderr.write(f"There is no folder {folder}.\n")
            worst = 1
            continue
        loaded = load(folder.resolve())
        operations = len(loaded.api.operations) if loaded.api else 0
        errors = sum(finding.level == "error" for finding in loaded.findings)
        worst = max(worst, int(errors > 0))
        if options.json:
            findings = [asdict(finding) for finding in loaded.findings]
            checked.append({"key": loaded.key, "state": loaded.state, "findings": findings})
            continue
        warnings = len(loaded.findings) - errors
        counted = f", errors: {errors}, warnings: {warnings}" if loaded.findings else ""
        parts = f"{operations} operations, {len(loaded.flows)} flows{counted}"
        say(f"{loaded.key}: {loaded.state}, {parts}")
        for line in map(str, loaded.findings) if options.all else summarise(loaded.findings):
            say(f"  {line}")
    if options.json:
        say_json(checked)
    return worst


def _at_desk(work: Work) -> Callable[[argparse.Namespace], int]:
    async def run(options: argparse.Namespace) -> int:
        running = await find_running()
        if running is not None:
            return await work(running, options)
        async with _own_core() as core:
            return await work(OwnDesk(core), options)

    return lambda options: asyncio.run(run(options))


@asynccontextmanager
async def _own_core() -> AsyncIterator[Core]:
    """Yields a core without downloads, because another Moat may be working on them."""
    core = Core(paths.find())
    await core.open(downloads=False)
    try:
        yield core
    finally:
        await core.close()


async def _list(desk: Desk, options: argparse.Namespace) -> int:
    cards = await _cards(desk)
    if options.json:
        say(json.dumps([asdict(card) for card in cards]))
        return 0
    width = max((len(card.key) for card in cards), default=0)
    for card in cards:
        switched = "enabled" if card.enabled else "disabled"
        say(f"{card.key:<{width}}  {switched:<8}  {card.state:<13}  {card.name} {card.version}")
    return 0


async def _install(desk: Desk, options: argparse.Namespace) -> int:
    # An absolute path, because the running Moat has another working directory.
    path = await asyncio.to_thread(lambda: Path(options.path).expanduser().resolve())
    key = await desk.command("plugins.install", path=str(path))
    card = await _card(desk, key)
    say(f"{key} {card.version} is installed, disabled. {_may(card)}")
    for finding in card.findings:
        say(f"  {finding}")
    say(f"'moat plugins enable {key}' lets it work.")
    return 0


async def _import(desk: Desk, options: argparse.Namespace) -> int:
    path = await asyncio.to_thread(lambda: Path(options.path).expanduser().resolve())
    for key in await desk.command("plugins.import_servers", path=str(path)):
        card = await _card(desk, key)
        say(f"{key} is installed, disabled. {_may(card)}")
        for secret in sorted({*card.secrets} - {*card.missing_secrets}):
            await _say_stored(desk, f"{secret} of {key}")
        for finding in card.findings:
            say(f"  {finding}")
    say("'moat plugins enable NAME' lets one of them work.")
    return 0


async def _servers(desk: Desk, options: argparse.Namespace) -> int:
    servers = await desk.command("plugins.common_servers")
    if options.json:
        return say_json([asdict(server) for server in servers])
    for server in servers:
        added = "  (added)" if server.added else ""
        say(f"{server.name}{added}\n  {server.about} It reaches: {server.reaches}")
        say(f"  {server.command}  [{server.licence}]")
    say("'moat plugins add NAME' makes a plugin of one. It starts disabled.")
    return 0


async def _add(desk: Desk, options: argparse.Namespace) -> int:
    hosts = ",".join(options.host)
    key = await desk.command("plugins.add_server", name=options.name, hosts=hosts)
    card = await _card(desk, key)
    say(f"{key} is installed, disabled. {_may(card)}")
    for option in card.options:
        say(f"  {option.label}: 'moat plugins set {key} {option.name} VALUE' sets it.")
    say(f"'moat plugins enable {key}' lets it work.")
    return 0


async def _enable(desk: Desk, options: argparse.Namespace) -> int:
    await _cards(desk)  # reads its folder, so that what is shown below is what was enabled
    await desk.command("plugins.enable", key=options.key)
    card = await _card(desk, options.key)
    if not card.enabled:
        raise AppError(f"{options.key} has changed just now and stays disabled. Enable it again.")
    say(f"{options.key} is enabled. {_may(card)}")
    return 0


async def _disable(desk: Desk, options: argparse.Namespace) -> int:
    await desk.command("plugins.disable", key=options.key)
    say(f"{options.key} is disabled.")
    return 0


async def _remove(desk: Desk, options: argparse.Namespace) -> int:
    await desk.command("plugins.remove", key=options.key)
    say(f"{options.key} is removed.")
    return 0


async def _set(desk: Desk, options: argparse.Namespace) -> int:
    await desk.command(
        "plugins.set_option", key=options.key, name=options.option, value=options.value
    )
    say(f"{options.option} of {options.key} is set.")
    return 0


async def _secret(desk: Desk, options: argparse.Namespace) -> int:
    """Stores a secret. It is never an argument, because other users can read those."""
    value = ""
    if not options.forget:
        ask = partial(getpass.getpass, f"{options.secret}: ")
        read = ask if sys.stdin.isatty() else sys.stdin.readline
        value = (await asyncio.to_thread(read)).strip()
    if not value and not options.forget:
        sys.stderr.write("Nothing was entered; the secret is unchanged.\n")
        return 1
    await desk.command("plugins.set_secret", key=options.key, name=options.secret, value=value)
    if options.forget:
        say(f"{options.secret} of {options.key} was removed.")
    else:
        await _say_stored(desk, f"{options.secret} of {options.key}")
    return 0


async def _say_stored(desk: Desk, secret: str) -> None:
    if plain := await desk.command("plain_secrets_file"):
        say(
            f"{secret} is stored. This system has no usable keyring: "
            f"it is stored unencrypted in {plain}, readable by you only."
        )
    else:
        say(f"{secret} is stored in the keychain.")


@asynccontextmanager
async def _showing_work(desk: Desk, key: str) -> AsyncIterator[None]:
    """Shows what a plugin does before it can answer, such as downloading a package."""
    watching = spawn(_show_work(desk, key), "plugin-work")
    try:
        yield
    finally:
        await stop(watching)


async def _show_work(desk: Desk, key: str) -> None:
    shown = ""
    # On a terminal each line replaces the one before.
    begin, end = ("\r\x1b[K", "") if sys.stderr.isatty() else ("", "\n")
    try:
        async with aclosing(desk.values("plugins.cards")) as changes:
            async for cards in changes:
                words = next((card.working for card in cards if card.key == key), "")
                if words and words != shown:
                    sys.stderr.write(f"{begin}{printable(words)}{end}")
                    sys.stderr.flush()
                    shown = words
    finally:
        if shown and not end:
            sys.stderr.write("\n")


async def _tools(desk: Desk, options: argparse.Namespace) -> int:
    async with _showing_work(desk, options.key):
        found: tuple[ToolCard, ...] = await desk.command("plugins.find_tools", key=options.key)
    if options.json:
        tools = [{**asdict(tool), "schema": json.loads(tool.schema)} for tool in found]
        say(json.dumps(tools))
        return 0
    if not found:
        say(f"{options.key} has no tools of its own; 'moat plugins run' takes its flows.")
    for tool in found:
        say(f"{options.key}/{tool.key}  ({tool.risk})  {tool.description}".rstrip())
        schema = json.loads(tool.schema)
        for name, part in schema["properties"].items():
            say(f"  {_describe(name, part, name in schema.get('required', ()))}")
    return 0


def _describe(name: str, part: Json, is_required: bool) -> str:
    kind = str(part.get("type") or "value")
    if part.get("enum"):
        kind = " | ".join(map(str, part["enum"]))
    about = str(part.get("description") or part.get("title") or "")
    need = "required" if is_required else "optional"
    return f"{name}: {kind}, {need}{f'. {about}' if about else ''}"


def _answer(options: argparse.Namespace) -> int:
    async def run() -> int:
        running = await find_running()
        if running is None:
            say("[]" if options.json else "No Moat is running, so nothing waits for an answer.")
            return 1 if options.id else 0
        approvals = await running.value("plugins.approvals")
        forms = await running.value("plugins.forms")
        if options.json and not options.id:
            say(json.dumps([asdict(waiting) for waiting in (*approvals, *forms)]))
            return 0
        if not options.id:
            return _show_waiting(approvals, forms)
        return await _answer_one(running, (*approvals, *forms), options)

    return asyncio.run(run())


def _show_waiting(approvals: tuple[Approval, ...], forms: tuple[FormCard, ...]) -> int:
    if not approvals and not forms:
        say("Nothing waits for an answer.")
    for call in approvals:
        by = f", for {call.client}, which uses it for the first time" if call.client else ""
        say(f"{call.id[:SHOWN_ID]}  {call.plugin} asks to call: {call.title} ({call.risk}{by})")
        if call.body:
            say(call.body)
        words = "once | always | deny" if call.can_always else "once | deny"
        say(f"  moat plugins answer {call.id[:SHOWN_ID]} {words}")
    for form in forms:
        schema = json.loads(form.schema)
        names = " ".join(f"{name}=\u2026" for name in schema["properties"])
        say(f"{form.id[:SHOWN_ID]}  {form.plugin} needs more information for {form.step}")
        for name, part in schema["properties"].items():
            say(f"  {_describe(name, part, name in schema.get('required', ()))}")
        say(f"  moat plugins answer {form.id[:SHOWN_ID]} {names} | deny")
    return 0


async def _answer_one(
    running: RunningServer, waiting: tuple[Approval | FormCard, ...], options: argparse.Namespace
) -> int:
    found = [asked for asked in waiting if asked.id.startswith(options.id)]
    if len(found) != 1:
        raise AppError(f"{'Several questions begin' if found else 'No open question begins'} with "
                       f"'{options.id}'; 'moat plugins answer' lists them.")  # fmt: skip
    (asked,) = found
    if isinstance(asked, Approval):
        decision = " ".join(options.answer)
        await running.command(
            "plugins.answer_approval", approval_id=asked.id, decision=decision, arguments=""
        )
    elif options.answer == ["deny"]:
        await running.command("plugins.answer_form", form_id=asked.id, values="")
    else:
        values = _values(options.answer, json.loads(asked.schema))
        await running.command(
            "plugins.answer_form", form_id=asked.id, values=json.dumps(values, ensure_ascii=False)
        )
    say("Answered.")
    return 0


def _values(pairs: Sequence[str], schema: Json) -> Json:
    """Reads NAME=VALUE pairs, each value in the form that its field's schema requires."""
    found: Json = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        part = schema["properties"].get(name)
        if not sign or part is None:
            known = schema["properties"]
            hint = nearest(name, known) or f"There are: {', '.join(known) or 'none'}."
            raise AppError(f"'{pair}' is no NAME=VALUE of a field. {hint}")
        found[name] = _value(name, text, part)
    return found


def _value(name: str, text: str, part: Json) -> Any:
    if part.get("type") == "string" and not part.get("enum"):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = answers.read_value(text, part, name)
    if value is MADE_UP or fill.problems(value, part):
        value = answers.read_value(text, part, name)
    if value is MADE_UP:
        raise AppError(f"'{text}' does not fit {_describe(name, part, is_required=True)}.")
    return value


def _run(options: argparse.Namespace) -> int:
    """Runs in this process, so that its questions appear in this terminal."""

    async def run() -> int:
        async with _own_core() as core:
            return await _try(core, options)

    return asyncio.run(run())


async def _try(core: Core, options: argparse.Namespace) -> int:
    key, _, flow = options.flow.partition("/")
    mode = "dry" if options.dry else "mock" if options.mock else "run"
    asked: set[str] = set()

    def answer(waiting: tuple[Approval, ...]) -> None:
        for call in waiting:
            if call.id not in asked:
                asked.add(call.id)
                decision = "once" if options.yes or _allows(call) else "deny"
                spawn(core.plugins.answer_approval(call.id, decision, ""), "answer an approval")

    disconnect = core.plugins.approvals.connect(answer)
    try:
        if options.question:
            async with _showing_work(OwnDesk(core), key):
                result = await core.plugins.test(key, flow, options.question, mode)
        else:
            given = await _arguments(core, key, flow, options)
            result = await core.plugins.try_tool(key, flow, given, mode)
    finally:
        disconnect()
    for line in (*result.requests, *result.steps):
        sys.stderr.write(f"{line}\n")
    say(result.text)
    return int(result.failed and mode == "run")


async def _arguments(core: Core, key: str, name: str, options: argparse.Namespace) -> str:
    """Returns the given arguments as JSON. On a terminal, asks for those that are missing."""
    card = next((plugin for plugin in core.plugins.cards.get() if plugin.key == key), None)
    if card is not None and any(flow.key == name for flow in card.flows):
        raise AppError(f"{key}/{name} is a flow: give it a question.")
    async with _showing_work(OwnDesk(core), key):
        tools = {tool.key: tool for tool in await core.plugins.find_tools(key)}
    if name not in tools:
        hint = nearest(name, tools) or f"There are: {', '.join(tools) or 'none'}."
        raise AppError(f"{key} has no tool '{name}'. {hint}")
    schema = json.loads(tools[name].schema)
    try:
        found = {**json.loads(options.arguments or "{}"), **_values(options.set, schema)}
    except (ValueError, TypeError):
        raise AppError("--arguments must be a JSON object.") from None
    for missing in schema.get("required", ()):
        part = schema["properties"][missing]
        if missing not in found and "default" not in part:
            found[missing] = _ask(missing, part)
    return json.dumps(found, ensure_ascii=False)


def _ask(name: str, part: Json) -> Any:
    about = _describe(name, part, is_required=True)
    if not sys.stdin.isatty():
        raise AppError(f"This argument is missing: {about} Give it by --set {name}=\u2026.")
    sys.stderr.write(f"{about}\n> ")
    return _value(name, input(), part)


def _allows(approval: Approval) -> bool:
    if not sys.stdin.isatty():
        told = "It is refused, because there is no terminal to ask in. --yes allows every call."
        sys.stderr.write(f"\n{approval.title}\n{told}\n")
        return False
    sys.stderr.write(f"\n{approval.title}\n{approval.body}\nAllow this ({approval.risk})? [y/N] ")
    return input().strip().lower() in ("y", "yes")


async def _cards(desk: Desk) -> tuple[PluginCard, ...]:
    """Returns the plugins as they are in their folders now."""
    await desk.command("plugins.look_again")
    found: tuple[PluginCard, ...] = await desk.value("plugins.cards")
    return found


async def _card(desk: Desk, key: str) -> PluginCard:
    return next(card for card in await _cards(desk) if card.key == key)


def _may(card: PluginCard) -> str:
    parts = [f"connect to {host}" for host in card.hosts]
    parts += [f"start '{command}'" for command in card.commands]
    where = "in a sandbox" if card.walled else "with your user rights"
    if card.runs_code:
        parts.append(f"run its own code {where}")
    if card.commands:
        parts.append(f"run these programs {where}")
    if card.lacks_address:
        unset = f"The address of its API is not set: 'moat plugins set {card.key} server URL'."
        return f"It may {', '.join(parts)}. {unset}" if parts else unset
    return f"It may {', '.join(parts)}." if parts else "It does not connect to anything outside."
