"""The plugins on this machine: reads them, watches for changes, replaces each as a whole."""

import asyncio
import contextlib
import logging
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from server.data.yaml_with_places import Findings
from server.egress import Egress
from server.observe import Value
from server.plugins.folder import Loaded, everything_in, load
from server.plugins.plugin import Decided, Decisions, Journal, Outside, Plugin
from server.plugins.secrets import Sealed
from server.system.keychain import Keychain
from server.system.limits import without_halves
from server.system.logs import Redactor
from server.system.paths import Paths
from server.tasks import spawn, stop

log = logging.getLogger(__name__)

LOOK_S = 30.0
"""Seconds between two looks at the folders while nobody uses or sees plugins."""
FRESH_S = 1.0
"""Seconds within which a second look is skipped."""
RETIRE_S = 300.0
"""Seconds that current runs have to finish with a plugin that was replaced."""
Signature = tuple[tuple[str, int, int], ...]
"""The path, time of change in ns, and size of each file in a folder."""


@dataclass(frozen=True, slots=True)
class PluginPlaces:
    """The folders of plugins, and of their settings, data and logs."""

    shipped: Path
    home: Path
    config: Path
    data: Path
    logs: Path

    @classmethod
    def find(cls, paths: Paths) -> "PluginPlaces":
        root = Path(__file__).resolve().parent.parent.parent
        if getattr(sys, "frozen", False):
            root = Path(getattr(sys, "_MEIPASS", Path(sys.executable).parent))
        return cls(
            root / "plugins",
            paths.data / "plugins",
            paths.config,
            paths.data / "plugin-data",
            paths.logs,
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """The parts of the server that plugins need."""

    door: Egress
    keychain: Keychain
    redactor: Redactor


class PluginShelf:
    """All plugins by key. `changed` is called after each change."""

    def __init__(self, places: PluginPlaces, shared: Shared, changed: Callable[[], None]) -> None:
        self.places = places
        self._shared = shared
        self._changed = changed
        self.kept = Decisions(places.config / "plugins.json")
        self.broken: dict[str, Loaded] = {}
        self.plugins: dict[str, Plugin] = {}
        self._journals: dict[str, Journal] = {}
        self._sealed: dict[str, Sealed] = {}
        self._seen: dict[Path, Signature] = {}
        self._looking = asyncio.Lock()
        self._looked_at = -math.inf
        self._retired: list[Plugin] = []
        self._watch: asyncio.Task[None] | None = None
        self.unwatched: Value[tuple[str, ...]] = Value(())
        """The plugins that have run a program without a sandbox since Moat started."""

    async def open(self, look_s: float = LOOK_S) -> None:
        await self.look()
        self._watch = spawn(self._look_on(look_s), "plugins-watch")

    async def close(self) -> None:
        await stop(self._watch)
        for plugin in (*self.plugins.values(), *self._retired):
            await plugin.close()

    async def look_again(self) -> None:
        """Looks for changes before plugins are used or shown. An error is logged."""
        if asyncio.get_running_loop().time() - self._looked_at < FRESH_S:
            return
        try:
            await self.look()
        except OSError as error:
            log.warning("The plugins could not be read: %s", error)

    async def look(self) -> None:
        """Reads plugins that are new or changed, and drops those that are gone."""
        async with self._looking:
            await self._look()
            self._looked_at = asyncio.get_running_loop().time()

    async def _look(self) -> None:
        signatures = await asyncio.to_thread(
            lambda: {folder: _signature(folder) for folder in self._folders()}
        )
        folders = list(signatures)
        changed = [folder for folder in folders if signatures[folder] != self._seen.get(folder)]
        keys = {folder.name for folder in folders}
        gone = [key for key in (*self.plugins, *self.broken) if key not in keys]
        for key in gone:
            self._retire(key)
        for folder in changed:
            self._put(await asyncio.to_thread(_read, folder))
        self._seen = signatures
        if changed or gone:
            self._changed()

    def decide(self, key: str, decided: Decided) -> None:
        """Saves a person's decision and starts the plugin again."""
        self.kept.set(key, decided)
        plugin = self.plugins[key]
        self._put(plugin.loaded)
        self._changed()

    def sealed(self, key: str) -> Sealed:
        if key not in self._sealed:
            self._sealed[key] = Sealed(key, self._shared.keychain, self._shared.redactor)
        return self._sealed[key]

    def journal(self, key: str) -> Journal:
        if key not in self._journals:
            sealed, redactor = self.sealed(key), self._shared.redactor
            self._journals[key] = Journal(
                self.places.logs / "plugins" / f"{key}.log",
                lambda text: redactor.clean(sealed.clean(text)),
            )
        return self._journals[key]

    def is_shipped(self, key: str) -> bool:
        plugin = self.plugins.get(key)
        folder = plugin.loaded.folder if plugin else self.broken[key].folder
        return folder.parent == self.places.shipped

    def is_enabled(self, plugin: Plugin) -> bool:
        decided = plugin.decided
        return decided.enabled and decided.reviewed == plugin.reviewed

    def enabled(self) -> list[Plugin]:
        return [plugin for plugin in self.plugins.values() if self.is_enabled(plugin)]

    def _put(self, loaded: Loaded) -> None:
        """Replaces a plugin. If it cannot start, it counts as broken; the others go on."""
        self._retire(loaded.key)
        if loaded.manifest is None:
            self.broken[loaded.key] = loaded
            return
        try:
            self._start(loaded)
        except Exception as error:
            log.exception("The plugin %s cannot be started", loaded.key)
            self._retire(loaded.key)
            self.broken[loaded.key] = _unusable(loaded, error)

    def _start(self, loaded: Loaded) -> None:
        key = loaded.key
        outside = Outside(self._shared.door, self.places.data, self._changed, self._tell_unwatched)
        plugin = Plugin(loaded, self.kept.get(key), self.sealed(key), self.journal(key), outside)
        self.plugins[key] = plugin
        if self.is_enabled(plugin):
            plugin.open_door()

    def _tell_unwatched(self, key: str) -> None:
        if key not in self.unwatched.get():
            log.warning("The plugin %s runs a program that Moat cannot watch", key)
            self.unwatched.set((*self.unwatched.get(), key))

    def _retire(self, key: str) -> None:
        """Takes a plugin out of use. Closes it after RETIRE_S, so that current runs can finish."""
        self.broken.pop(key, None)
        plugin = self.plugins.pop(key, None)
        if plugin is None:
            return
        plugin.close_door()
        self._retired.append(plugin)

        async def end() -> None:
            if plugin in self._retired:
                self._retired.remove(plugin)
                await plugin.close()

        loop = asyncio.get_running_loop()
        loop.call_later(RETIRE_S, lambda: spawn(end(), "plugin-retire"))

    def _folders(self) -> list[Path]:
        """Returns one folder per key. An installed plugin hides a shipped one."""
        found: dict[str, Path] = {}
        for root in (self.places.home, self.places.shipped):
            for folder in sorted(root.iterdir()) if root.is_dir() else ():
                if folder.is_dir() and not folder.name.startswith((".", "_")):
                    found.setdefault(folder.name, folder)
        return list(found.values())

    async def _look_on(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await self.look_again()


def _read(folder: Path) -> Loaded:
    try:
        return load(folder)
    except Exception as error:
        log.exception("The plugin in %s cannot be read", folder.name)
        return _unusable(Loaded(folder.name, folder), error)


def _unusable(loaded: Loaded, error: Exception) -> Loaded:
    findings = Findings("plugin.json")
    reason = without_halves(str(error), "?")
    findings.error((1, 1), "unusable", f"The plugin cannot be used: {reason}.")
    return Loaded(loaded.key, loaded.folder, findings=[*loaded.findings, *findings.found])


def _signature(folder: Path) -> Signature:
    """Describes the files that can be read. Reading the plugin reports the others."""
    found = []
    with contextlib.suppress(OSError):
        for path in everything_in(folder):
            found_stat = path.lstat()
            found.append((str(path), found_stat.st_mtime_ns, found_stat.st_size))
    return tuple(sorted(found))
