"""Packages that npx, uvx and similar programs fetch before they start an MCP server.

In the sandbox a program finds an empty home at each start. What it has fetched is kept in a folder
of its plugin, which only its programs may write, so that the next start needs no network.
"""

import asyncio
import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from server.errors import FlowFailed
from server.sentences import Sentence
from server.sizes import MB

log = logging.getLogger(__name__)

STORES = {
    "npx": ("https://registry.npmjs.org",),
    "uvx": ("https://pypi.org", "https://files.pythonhosted.org"),
    "pipx": ("https://pypi.org", "https://files.pythonhosted.org"),
    "bunx": ("https://registry.npmjs.org",),
}
"""The programs that fetch a server before they start it, and the hosts they fetch from."""
NAMING = {"-p", "--package", "--from", "--spec"}
"""The options whose value is the package."""
WITH_VALUE = {"--with", "--python", "-c", "--call", "--index-url", "--pip-args", "-w"}
"""The options whose value is something else."""
SILENCE_S = 60.0
"""Seconds without any data after which fetching has failed."""
MOST_S = 600.0
MOST_BYTES = 2000 * MB
"""The most bytes of a plugin's packages. If they take more, they are removed and fetched again."""
TELL_S = 1.0
WATCH_S = 5.0
FETCHED = "fetched"


def find_package(command: tuple[str, ...]) -> str:
    """Returns the package that a command fetches; empty if the command fetches nothing."""
    if not command or Path(command[0]).stem not in STORES:
        return ""
    rest = list(command[2:] if command[1:2] == ("run",) else command[1:])
    while rest:
        part = rest.pop(0)
        option, _, value = part.partition("=")
        if option in NAMING:
            return value or (rest[0] if rest else "")
        if part in WITH_VALUE and rest:
            rest.pop(0)
        elif not part.startswith("-"):
            return part
    return Path(command[0]).stem


@dataclass(slots=True, eq=False)
class Packages:
    """The packages of one server. `folder` belongs to its plugin; `tell` shows the progress."""

    command: tuple[str, ...]
    folder: Path
    tell: Callable[[str], None]
    note: Callable[[str], None]
    received: int = 0
    _limit: asyncio.Timeout | None = field(default=None)
    _until: float = 0.0
    _next_words: float = 0.0

    @property
    def name(self) -> str:
        return find_package(self.command)

    @property
    def are_kept(self) -> bool:
        """Whether a start by this same command has succeeded with the folder's contents."""
        return self._mark.exists()

    @property
    def _mark(self) -> Path:
        digest = hashlib.sha256("\0".join(self.command).encode()).hexdigest()[:16]
        return self.folder / FETCHED / digest

    def variables(self) -> dict[str, str]:
        """Returns variables that name the folders for packages and prefer what they hold.

        npx and bunx look for newer versions only if nothing is kept. uvx needs UV_OFFLINE for that.
        """
        places = {
            "npm_config_cache": "npm",
            "BUN_INSTALL_CACHE_DIR": "bun",
            "BUN_TMPDIR": "bun",
            "UV_CACHE_DIR": "uv",
            "UV_TOOL_DIR": "uv-tools",
            "UV_PYTHON_INSTALL_DIR": "uv-python",
            "PIPX_HOME": "pipx",
        }
        found = {variable: str(self.folder / place) for variable, place in places.items()}
        found |= {"npm_config_prefer_offline": "true", "npm_config_update_notifier": "false"}
        return found | ({"UV_OFFLINE": "1"} if self.are_kept else {})

    def make_room(self) -> None:
        """Creates the folder. Packages that have grown too large are removed first."""
        if _size(self.folder) > MOST_BYTES:
            self.note(
                Sentence("Its packages took more than {0} MB and were removed.", MOST_BYTES // MB)
            )
            remove(self.folder)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def watch(self, end: Callable[[], None]) -> None:
        """Ends a program that writes too much. Counts the files when the disk has become fuller."""
        before = shutil.disk_usage(self.folder).free
        while True:
            await asyncio.sleep(WATCH_S)
            free = shutil.disk_usage(self.folder).free
            if before - free < MOST_BYTES // 4:
                continue
            before = free
            if await asyncio.to_thread(_size, self.folder) > MOST_BYTES:
                self.note(
                    Sentence("It was ended: its packages take more than {0} MB.", MOST_BYTES // MB)
                )
                end()
                return

    def distrust(self) -> None:
        """Makes the next start fetch again, after a start with the kept packages has failed."""
        self._mark.unlink(missing_ok=True)

    @contextmanager
    def fetching(self, limit: asyncio.Timeout) -> Iterator[None]:
        """Shows the progress. `limit` is moved while data arrives."""
        if self.are_kept:
            yield
            return
        began = asyncio.get_running_loop().time()
        self.received, self._limit, self._until = 0, limit, began + MOST_S
        self._next_words = began + TELL_S
        self._say(Sentence("Fetching the package {0}", self.name))
        try:
            yield
        except BaseException:
            self.note(Sentence("The package {0} was not fetched.", self.name))
            raise
        else:
            took = asyncio.get_running_loop().time() - began
            self._say(
                Sentence(
                    "The package {0} is there after {1:.0f} s "
                    "({2:.1f} MB). It is kept for the next start.",
                    self.name,
                    took,
                    self.received / MB,
                )
            )
            with suppress(OSError):
                self._mark.parent.mkdir(exist_ok=True)
                self._mark.touch()
        finally:
            self._limit = None
            self.tell("")

    def hear(self, size: int) -> None:
        """Counts bytes from the network, moves the limit, and shows the progress."""
        if self._limit is None:
            return
        now = asyncio.get_running_loop().time()
        self.received += size
        if not self._limit.expired():
            self._limit.reschedule(min(now + SILENCE_S, self._until))
        if now >= self._next_words and self.received >= MB // 10:
            self._next_words = now + TELL_S
            self.tell(
                Sentence(
                    "Fetching the package {0}: {1:.1f} MB so far", self.name, self.received / MB
                )
            )

    def explain_timeout(self, server: str) -> FlowFailed:
        if self.are_kept:
            return FlowFailed(
                "timeout", Sentence("{0} did not start within {1:.0f} s.", server, SILENCE_S)
            )
        arrived = f"{self.received / MB:.1f}"
        return FlowFailed(
            "timeout",
            Sentence(
                "The package {0} of {1} could not be fetched in time ({2} MB arrived).",
                self.name,
                server,
                arrived,
            ),
        )

    def _say(self, words: str) -> None:
        self.tell(words)
        self.note(words)
        log.info("%s", words)


def remove(folder: Path) -> None:
    """Removes packages. npm and uv may leave folders that are not writable."""
    if sys.platform != "win32" and folder.is_dir():
        # Change opened folders, not paths: a hostile program's link could lead elsewhere.
        for *_, opened in os.fwalk(folder):
            os.fchmod(opened, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _size(folder: Path) -> int:
    """Returns the size of all files in bytes. A file is counted once: uv makes many hard links."""
    found: dict[int, int] = {}
    waiting = [folder] if folder.is_dir() and not folder.is_symlink() else []
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    stat = entry.stat(follow_symlinks=False)
                    found[stat.st_ino] = stat.st_size
    return sum(found.values())
