"""A download watched in a terminal: made by the server that runs, or by this process alone."""

import asyncio
import shutil
import sys
from contextlib import aclosing
from typing import Any

from server.errors import BadRequest
from server.face.client import RunningServer
from server.face.models import Download
from server.models.fit import GB
from server.models.service import ModelShelf

MB = 1_000_000
BAR = 24


async def through(running: RunningServer, repo: str, file: str) -> Download:
    """The server downloads, so that its window shows it; it goes on when we leave."""
    number = await running.command("download_model", repo=repo, file=file)
    progress = Progress(number, sys.stdout)
    async with aclosing(running.values("downloads")) as values:
        async for downloads in values:
            progress.show(downloads)
            if progress.ended.done():
                return progress.ended.result()
    raise BadRequest("Moat ended. The same command goes on where it was.")


async def alone(shelf: ModelShelf, repo: str, file: str) -> Download:
    number = await shelf.download_model(repo, file)
    progress = Progress(number, sys.stdout)
    disconnect = shelf.downloads.connect(progress.show)
    try:
        return await progress.ended
    finally:
        disconnect()


class Progress:
    """A line that is written over where a terminal can, a line now and then where not."""

    def __init__(self, number: str, out: Any) -> None:
        self.ended: asyncio.Future[Download] = asyncio.get_running_loop().create_future()
        self._number = number
        self._out = out
        self._over = bool(out.isatty())
        self._told = -1

    def show(self, downloads: tuple[Download, ...]) -> None:
        found = next((one for one in downloads if one.id == self._number), None)
        if found is not None:
            self._show(found)
        elif not self.ended.done():
            # It was in the list before we were told its number.
            self._leave_the_line()
            self.ended.set_exception(BadRequest("The download was cancelled."))

    def _show(self, one: Download) -> None:
        share = one.done_bytes / one.total_bytes if one.total_bytes else 1.0
        step = int(share * 20)
        if self._over:
            # One column stays free: a full line would wrap.
            most = shutil.get_terminal_size().columns - 1
            self._out.write(f"\r\x1b[K{line(one, share)[:most]}")
        elif step != self._told or one.reason:
            self._out.write(line(one, share) + "\n")
        self._told = step
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
