"""A clone that was started by `make run` compiles support for the card it finds, beside serving.

The work is a program of its own (`scripts.bootstrap.graphics`), at the lowest priority; it ends
with Moat, and goes on at the next start.
"""

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from server.face.models import Building, GraphicsOffer
from server.observe import Value
from server.system import backends
from server.tasks import spawn, stop

log = logging.getLogger(__name__)
VARIABLE = "MOAT_GRAPHICS"
"""Set to auto by `make run`; cuda and vulkan force that kind, off switches it off."""
AUTO, OFF = "auto", "off"
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "scripts.bootstrap.graphics"
PATIENCE_S = 30.0
"""How long its compilers may take to end."""


class Build:
    """`say` shows a sentence; `on_ready` is called when a new library is in place."""

    def __init__(
        self,
        offer: Value[GraphicsOffer],
        say: Callable[[str], None],
        on_ready: Callable[[str], Awaitable[None]],
    ) -> None:
        self._offer = offer
        self._say = say
        self._on_ready = on_ready
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Once per start, and only where there is something to do."""
        wanted = find_wanted(os.environ.get(VARIABLE, OFF))
        if wanted and self._task is None:
            self._task = spawn(self._run(wanted), "compile support for graphics cards")

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """Ends it with all its compilers."""
        await stop(self._task)

    async def _run(self, wanted: str) -> None:
        into = backends.folder()
        assert into is not None
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", PROGRAM, wanted, str(into)), cwd=ROOT, stdin=PIPE, stdout=PIPE
        )
        assert child.stdout
        ready = ""
        try:
            async for line in child.stdout:
                ready = self._take(json.loads(line)) or ready
        finally:
            self._offer.set(replace(self._offer.get(), building=None))
            await _end(child)
        if ready:
            await self._on_ready(ready)

    def _take(self, facts: dict[str, Any]) -> str:
        """Shows one line of the program; returns the kind that is ready now."""
        if notice := facts.get("notice"):
            log.warning("%s", notice)
            self._say(notice)
        if "percent" in facts:
            building = Building(facts["kind"], facts["percent"])
            if self._offer.get().building is None:
                log.info("Support for %s is being compiled", building.kind)
            self._offer.set(replace(self._offer.get(), building=building))
        return str(facts.get("ready", ""))


async def _end(child: asyncio.subprocess.Process) -> None:
    """The end of its standard input tells it to stop."""
    assert child.stdin
    child.stdin.close()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()


def find_wanted(chosen: str) -> str:
    """Returns what to compile: auto, cuda, vulkan; empty if nothing is to be done."""
    if chosen not in (AUTO, *backends.KINDS) or not (ROOT / "scripts" / "bootstrap").is_dir():
        return ""
    if chosen != AUTO:
        return "" if backends.is_present(chosen) else chosen
    has_support = any(map(backends.is_present, backends.KINDS))
    return AUTO if backends.has_card() and not has_support else ""
