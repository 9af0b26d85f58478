"""moat models: finds, downloads, checks, configures and deletes models in a terminal."""

import argparse
import asyncio
import json
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from server.chat import SAMPLED, Sampling
from server.commands import find_running, say, say_json, within
from server.core.configuration import PROXY_PASSWORD, SettingsStore
from server.egress import Egress
from server.errors import AppError, BadRequest, NoModel
from server.face.client import RunningServer
from server.face.core import ModelStatus
from server.face.models import Download, Fit, KvType, ModelDetail, Setup
from server.models.machine import Surveyor
from server.models.service import ModelShelf
from server.observe import Value
from server.settings import OWN_FIELDS, ModelSettings, Settings
from server.sizes import GB, MB
from server.system import paths
from server.system.keychain import Keychain

BAR = 24


class DownloadProgress:
    """A download's progress: one line that is rewritten on a terminal, else a line per 5 %."""

    def __init__(self, number: str, out: Any) -> None:
        self.ended: asyncio.Future[Download] = asyncio.get_running_loop().create_future()
        self._number = number
        self._out = out
        self._over = bool(out.isatty())
        self._shown_step = -1

    async def watch(self, value: Value[Any], show: Callable[[Any], None]) -> Download:
        """Shows a download of this process and returns its final state."""
        disconnect = value.connect(show)
        try:
            return await self.ended
        finally:
            disconnect()

    async def follow(
        self, running: RunningServer, value: str, show: Callable[[Any], None]
    ) -> Download:
        """Shows a download of the server and returns its final state. It goes on if we leave."""
        async with aclosing(running.values(value)) as values:
            async for current in values:
                show(current)
                if self.ended.done():
                    return self.ended.result()
        raise BadRequest("Moat ended. Run the same command again to continue.")

    def show(self, downloads: tuple[Download, ...]) -> None:
        found = next((shown for shown in downloads if shown.id == self._number), None)
        if found is not None:
            self._show(found)
        elif not self.ended.done():
            # The download was in the list before we knew its id, so it has been cancelled since.
            self._leave_the_line()
            self.ended.set_exception(BadRequest("The download was cancelled."))

    def _show(self, one: Download) -> None:
        share = one.done_bytes / one.total_bytes if one.total_bytes else 1.0
        step = int(share * 20)
        if self._over:
            # Leaves one column free: a full line would wrap.
            most = shutil.get_terminal_size().columns - 1
            self._out.write(f"\r\x1b[K{line(one, share)[:most]}")
        elif step != self._shown_step or one.reason:
            self._out.write(line(one, share) + "\n")
        self._shown_step = step
        self._out.flush()
        if one.phase in ("done", "failed") and not self.ended.done():
            self._leave_the_line()
            self.ended.set_result(one)

    def _leave_the_line(self) -> None:
        if self._over:
            self._out.write("\n")


def line(one: Download, share: float) -> str:
    if one.reason:
        return f"{one.name}: {one.reason}"
    bar = "#" * int(share * BAR)
    speed = f"{one.bytes_per_s / MB:6.1f} MB/s" if one.phase == "running" else one.phase
    left = f"  {_time(one.left_s)} left" if one.left_s and one.phase == "running" else ""
    return f"[{bar:<{BAR}}] {share:4.0%} of {one.total_bytes / GB:.2f} GB  {speed}{left}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


UNFINISHED = ".pulls"
"""Kept apart from the server's folder: two programs must not work on the same download."""
NAMED = "an installed model, the path of a GGUF file, or owner/name on the hub"
Run = Callable[[argparse.Namespace, ModelShelf], Awaitable[int]]


def add_to(commands: Any) -> None:
    """Adds `models` and its actions to the commands of a parser."""
    parser = commands.add_parser("models", help="find, download, check and set models")
    _for_scripts(parser).set_defaults(run=_runner(_list))
    actions = parser.add_subparsers(metavar="ACTION")

    one = actions.add_parser("list", help="list the installed models")
    _for_scripts(one).set_defaults(run=_runner(_list))

    one = actions.add_parser("search", help="search the hub; without words: recommended models")
    one.add_argument("words", nargs="*")
    _for_scripts(one).set_defaults(run=_runner(_search))

    one = actions.add_parser(
        "refresh", help="ask the hub for new models that fit; 'search' without words lists them"
    )
    one.set_defaults(run=_runner(_refresh))

    one = actions.add_parser("pull", help="download a model, or continue an unfinished download")
    one.add_argument("repo", help="owner/name, as the hub spells it")
    one.add_argument("file", nargs="?", default="", help="a file or quantisation: Q4_K_M")
    one.set_defaults(run=_runner(_pull))

    one = actions.add_parser("rm", help="delete a model and free its space")
    one.add_argument("name")
    one.set_defaults(run=_runner(_remove))

    one = actions.add_parser(
        "info", help="show the details of a model; without a name: of the one in use"
    )
    one.add_argument("name", nargs="?", default="", help=NAMED)
    _for_scripts(one).set_defaults(run=_runner(_describe))
    _add_fit(actions)
    _add_set(actions)


def _add_set(actions: Any) -> None:
    known = ", ".join(OWN_FIELDS)
    one = actions.add_parser(
        "set",
        help="settings of a model alone; without any: show them and where they come from",
        description=f"The settings are {known}. With nothing after the = a setting is as for all "
        "models again. A running Moat follows at once.",
    )
    one.add_argument("name", help="an installed model, or one that a server elsewhere runs")
    one.add_argument("change", nargs="*", metavar="SETTING=VALUE")
    _for_scripts(one).set_defaults(run=_runner(_set))


def _for_scripts(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--json", action="store_true", help="for scripts")
    return parser


def _add_fit(actions: Any) -> None:
    one = actions.add_parser("fit", help="check whether a model fits into memory")
    one.add_argument("name", help=NAMED)
    one.add_argument("--context", type=within(0, 1 << 20), default=0, help="tokens; 0: what fits")
    one.add_argument("--slots", type=within(1, 64), default=4, help="answers at the same time")
    one.add_argument("--kv", choices=("f16", "q8_0", "q4_0"), default="f16")
    about = "on the graphics card; -1: what fits"
    one.add_argument("--layers", type=within(-1, 999), default=-1, help=about)
    _for_scripts(one).set_defaults(run=_runner(_fit))


def _runner(run: Run) -> Callable[[argparse.Namespace], int]:
    async def on_shelf(options: argparse.Namespace) -> int:
        async with _shelf() as shelf:
            return await run(options, shelf)

    return lambda options: asyncio.run(guarded(on_shelf(options)))


async def guarded(work: Coroutine[Any, Any, int]) -> int:
    """Runs work that may take long. Ctrl+C stops it, and the same command resumes it later."""
    task = asyncio.current_task()
    assert task
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    try:
        return await work
    except AppError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except asyncio.CancelledError:
        sys.stderr.write("\nStopped. Run the same command again to continue.\n")
        return 130


@asynccontextmanager
async def _shelf() -> AsyncIterator[ModelShelf]:
    places = paths.find()
    places.make()
    store = SettingsStore(places.settings)
    settings = Value(store.load())

    async def change(field: str, value: object) -> None:
        settings.set(settings.get().changed(field, value))
        store.save(settings.get())

    async with opened_door(places, settings) as door:
        shelf = ModelShelf(places.models, door, settings.get, change, UNFINISHED)
        shelf.survey_by(Surveyor(places.data / "pace.json"))
        shelf.open(run=False)
        shelf.look()
        try:
            yield shelf
        finally:
            await shelf.close()


@asynccontextmanager
async def opened_door(
    places: paths.Paths, settings: Value[Settings]
) -> AsyncIterator[tuple[Egress, Keychain]]:
    """Yields network access for a command that runs without the server."""
    keychain = Keychain(places.secrets)
    egress = Egress(lambda: settings.get().network, lambda: keychain.get(PROXY_PASSWORD))
    try:
        yield egress, keychain
    finally:
        await egress.close()


async def _list(options: argparse.Namespace, shelf: ModelShelf) -> int:
    cards = shelf.look()
    if options.json:
        return say_json([asdict(card) for card in cards])
    if not cards:
        folder = paths.find().models
        say(f"No model is installed. moat models search, or put a GGUF file into {folder}")
    width = max((len(card.name) for card in cards), default=0)
    for card in cards:
        label = card.label or card.quantisation
        say(_fit_line(f"{card.name:<{width}}  {card.size_bytes / GB:6.2f} GB  {label}"))
    return 0


async def _refresh(_options: argparse.Namespace, shelf: ModelShelf) -> int:
    disconnect = shelf.refreshing.connect(lambda words: say(words) if words else None)
    try:
        count = await shelf.refresh_suggestions()
    finally:
        disconnect()
    say(f"New models: {count}. 'moat models search' lists them with the others.")
    return 0


async def _search(options: argparse.Namespace, shelf: ModelShelf) -> int:
    if not options.words:
        return await _suggest(options, shelf)
    found = await shelf.search(" ".join(options.words))
    if options.json:
        return say_json([asdict(model) for model in found])
    if not found:
        say("No results.")
    for model in found:
        gated = "  gated" if model.gated else ""
        say(f"{model.repo:<56} {model.downloads:>9} downloads  {model.licence}{gated}")
    return 0


async def _suggest(options: argparse.Namespace, shelf: ModelShelf) -> int:
    found = await shelf.suggest()
    if options.json:
        return say_json([asdict(model) for model in found])
    for model in found:
        mark = "*" if model.recommended else " "
        speed = f"{model.fit.writes:5.1f} tokens/s" if model.fit.writes else ""
        size = f"{'about ' if model.is_about else ''}{model.size_bytes / GB:.1f} GB"
        say(f"{mark} {model.title:<24} {size:>14}  {model.fit.verdict:<13}{speed}")
        uses = ", ".join(model.uses)
        say(_fit_line(f"    {model.good_at} ({uses}; {model.licence})"))
        say(f"    moat models pull {model.repo} {model.file}")
    return 0


async def _pull(options: argparse.Namespace, shelf: ModelShelf) -> int:
    running = await find_running()
    given = {"repo": options.repo, "file": options.file}
    if running:
        progress = DownloadProgress(await running.command("models.download", **given), sys.stdout)
        final = await progress.follow(running, "models.downloads", progress.show)
    else:
        progress = DownloadProgress(await shelf.download(**given), sys.stdout)
        final = await progress.watch(shelf.downloads, progress.show)
    if final.phase == "failed":
        raise BadRequest(final.reason)
    say(f"{final.name} is downloaded and verified.")
    return 0


async def _remove(options: argparse.Namespace, shelf: ModelShelf) -> int:
    freed: int = await _command(shelf, await find_running(), "delete", name=options.name)
    if freed:
        say(f"{options.name} was deleted; {freed / GB:.2f} GB freed.")
    else:
        say(f"{options.name} was removed from the list; its file was not deleted.")
    return 0


async def _describe(options: argparse.Namespace, shelf: ModelShelf) -> int:
    running = await find_running()
    name = options.name or await _name_in_use(shelf, running)
    if _is_on_hub(name, shelf):
        return await _describe_repository(name, options, shelf)
    detail: ModelDetail = await _ask_about(name, shelf, running, "describe")
    if options.json:
        say_json(asdict(detail))
        return 1 if detail.damaged else 0
    if detail.damaged:
        say(f"{detail.name} is damaged: {detail.damaged}.")
        return 1
    facts = {
        "Name": detail.title or detail.name,
        "File": detail.path,
        "Architecture": detail.architecture,
        "Parameters": f"{detail.parameters / MB:,.0f} million",
        "Quantisation": detail.quantisation,
        "Context": f"{detail.trained_context_tokens} tokens",
        "Licence": detail.licence or "not specified",
        "Tool calls": detail.tool_style or "not in its template",
        "Here": f"{detail.fit.verdict}: {detail.fit.why}",
    }
    for key, value in facts.items():
        say(f"{key:<13} {value}")
    for note in detail.template_notes:
        say(f"{'Warning':<13} {note.text} {note.detail if note.kind == 'content' else ''}")
    return 0


async def _name_in_use(shelf: ModelShelf, running: RunningServer | None) -> str:
    if running is None:
        return shelf.library.find(None, shelf.settings().model.name).name
    status: ModelStatus = await running.value("model")
    if status.hosts:
        where = ", ".join(status.hosts)
        raise BadRequest(f"{status.name} runs on {where}: only that server has its file.", "name")
    if not status.name:
        raise NoModel
    return status.name


async def _ask_about(
    name: str, shelf: ModelShelf, running: RunningServer | None, command: str, **more: Any
) -> Any:
    """Asks the running Moat, which also knows models loaded by path, or our shelf about a file."""
    if _is_path(name):
        name, running = shelf.library.add(_existing(name)), None
    return await _command(shelf, running, command, name=name, **more)


async def _command(
    shelf: ModelShelf, running: RunningServer | None, command: str, **given: Any
) -> Any:
    """Runs a command of `ModelsFace` in the running Moat, or else here."""
    if running is not None:
        return await running.command(f"models.{command}", **given)
    return await getattr(shelf, command)(**given)


async def _describe_repository(name: str, options: argparse.Namespace, shelf: ModelShelf) -> int:
    listing = await shelf.list_repository(name)
    if options.json:
        return say_json(asdict(listing))
    gated = ", gated" if listing.gated else ""
    say(f"{listing.address}  {listing.licence or 'no licence specified'}{gated}")
    for file in listing.files:
        mark = "*" if file.recommended else " "
        parts = f" in {len(file.parts)} files" if len(file.parts) > 1 else ""
        size = f"{file.size_bytes / GB:6.2f} GB"
        say(f"{mark} {file.quantisation or file.name:<14} {size}  {file.fit.verdict}{parts}")
        say(f"      {file.fit.why}")
    return 0


async def _fit(options: argparse.Namespace, shelf: ModelShelf) -> int:
    if _is_on_hub(options.name, shelf):
        return await _describe_repository(options.name, options, shelf)
    kv_type: KvType = options.kv
    setup = Setup(options.context, options.slots, kv_type, options.layers)
    running = await find_running()
    fit: Fit = await _ask_about(options.name, shelf, running, "estimate", setup=setup)
    if options.json:
        say_json(asdict(fit))
    else:
        _show_fit(fit)
    return 0 if fit.verdict != "does not fit" else 1


def _show_fit(fit: Fit) -> None:
    say(f"{fit.verdict}: {fit.why}")
    memory, setup = fit.memory, fit.setup
    parts = {
        "weights": memory.weights,
        "weights, reordered": memory.repacked,
        "conversations": memory.cache,
        "working space": memory.compute,
        "program": memory.program,
        "graphics card": memory.gpu,
    }
    for name, size in parts.items():
        if size:
            say(f"  {name:<20} {size / MB:9,.0f} MB")
    say(
        f"  with {setup.context_tokens} tokens of context for {setup.slots} at the same time, "
        f"{setup.kv_type}, {setup.gpu_layers} of {fit.layers} layers on a graphics card"
    )


async def _set(options: argparse.Namespace, shelf: ModelShelf) -> int:
    """Applies the changes in order. Stops at the first that is refused; earlier changes stay."""
    running = await find_running()
    for change in options.change:
        field, mark, text = change.partition("=")
        if not mark:
            raise BadRequest(f"'{change}' is not SETTING=VALUE.", "change")
        given = {"name": options.name, "field": field, "value": text or None}
        await _command(shelf, running, "change_own_setting", **given)
    settings: Settings = await running.value("settings") if running else shelf.settings()
    if not options.change and not settings.model.own_of(options.name).values:
        shelf.check_known(options.name)
    rows = [_source(field, options.name, settings.model) for field in OWN_FIELDS]
    if options.json:
        return say_json({field: {"value": value, "from": origin} for field, value, origin in rows})
    for field, value, origin in rows:
        shown = json.dumps(value, ensure_ascii=False) if value is not None else "-"
        say(f"{field:<15} {shown:<12}  {origin}")
    return 0


def _source(field: str, name: str, settings: ModelSettings) -> tuple[str, Any, str]:
    """Returns a setting, its value for the model, and the origin of that value."""
    own = settings.own_of(name).values
    if field in own:
        return field, own[field], "this model"
    if field in ModelSettings.model_fields:
        return field, getattr(settings, field), "all models"
    if field in SAMPLED:
        return field, getattr(Sampling(), field), "default"
    return field, None, "the request, or the model itself"


def _is_on_hub(name: str, shelf: ModelShelf) -> bool:
    if _is_path(name):
        return False
    return name.count("/") == 1 and all(card.name != name for card in shelf.look())


def _existing(name: str) -> Path:
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise BadRequest(f"There is no file {name}.", "name")
    return path


def _is_path(name: str) -> bool:
    """Whether a name is a path. Hub names may look like one, but then no such file exists."""
    path = Path(name).expanduser()
    return path.is_file() or (path.suffix == ".gguf" and name.count("/") != 1)


def _fit_line(text: str) -> str:
    """Cuts a line that would wrap on this terminal. A pipe gets the whole line."""
    most = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}…"
