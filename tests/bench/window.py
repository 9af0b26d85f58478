"""Measures how smooth the real window stays under load, on a separate screen, and prints a table.

python -m tests.bench.window [--seconds N] [--cycles N]

The beats of a timer show how long the window's loop was blocked: a person sees a gap as a late
frame. Window, server and model are real; the clients are separate processes.
"""

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.chat.chats import Chat, Said
from app.chat.page import SHOWN_AT_ONCE, ChatPage
from app.desktop.loop import Loop
from app.look import theme
from app.shell.link import Link, Program, keep_serving
from app.shell.window import PAGES, Window
from server import tasks
from server.system import processes
from tests.bench.beats import Beats
from tests.bench.window_load import LINES_PER_S, STREAMS
from tests.display.desktop import Desktop

MB = 1024 * 1024
MESSAGES = 200
SCROLL_PX = 120
LONGEST_GAP_MS = 100
TEXT = """Here is **what I found** in the data of `{number}`:

| quarter | revenue | change |
|---|---:|---:|
| Q1 | {number}00 | +3 % |
| Q2 | {number}40 | -1 % |

- the first half was strong,
- the second was not.

```python
for year in range(2020, 2020 + {number}):
    print(year, revenue[year] / assets[year])
```
"""


LARGE = {
    "an answer of 100 kB": (TEXT.format(number=7) * 400)[:100_000],
    "100 kB of code": "```python\n" + "print(year, revenue[year] / assets[year])\n" * 2_500,
    "a table of 20,000 rows": "|quarter|revenue|\n|-|-|\n" + "| Q1 | 700 |\n" * 20_000,
}


class Bench:
    def __init__(self, window: Window, link: Link, given: argparse.Namespace) -> None:
        self.window = window
        self.link = link
        self.given = given
        self.beats = Beats()
        self.rows: list[tuple[str, str]] = []

    async def run(self) -> None:
        await _until(lambda: self.link.face.model.get().phase == "ready", 120)
        self._row("memory of the window", f"{_rss():.0f} MB")
        await self._calm()
        await self._streams()
        await self._typing()
        await self._scroll()
        await self._large()
        await self._soak()

    async def _calm(self) -> None:
        self.window.turn_to("Home")
        before = [(one, sum(one.cpu_times()[:2])) for one in _family()]
        began = time.monotonic()
        await asyncio.sleep(max(10, self.given.seconds))
        took = time.monotonic() - began
        used = [(one, sum(one.cpu_times()[:2]) - at) for one, at in before if one.is_running()]
        names = ("window", "server", "worker", "templates")
        for name, (_, spent) in zip(names, used, strict=False):
            self._row(f"idle: {name}", f"{spent / took:.2%} of a core")
        self._row("idle: all", f"{sum(spent for _, spent in used) / took:.2%} of a core")
        async with self._beating("idle, on Home"):
            await asyncio.sleep(3)

    async def _streams(self) -> None:
        address = self.link.face.server.get().address
        for page in ("Home", "Activity"):
            self.window.turn_to(page)
            async with _helper("clients", address, str(self.given.seconds)):
                await _until(lambda: len(self.link.face.requests.get()) >= STREAMS // 2, 60)
                async with self._beating(f"{STREAMS} streams, on {page}"):
                    await asyncio.sleep(self.given.seconds)

    async def _typing(self) -> None:
        """Types letters while the chat and other clients stream."""
        chat = self._chat()
        address = self.link.face.server.get().address
        async with _helper("clients", address, str(self.given.seconds)):
            await _until(lambda: len(self.link.face.requests.get()) >= STREAMS // 2, 60)
            chat.ask("Count from one to five hundred in words, one number per line.")
            editor = chat.composer.editor
            took = []
            async with self._beating(f"{STREAMS} streams, chat streams, typing"):
                for number in range(int(self.given.seconds * 10)):
                    began = time.perf_counter()
                    QTest.keyClicks(editor, "word "[number % 5])
                    editor.repaint()
                    took.append((time.perf_counter() - began) * 1000)
                    await asyncio.sleep(0.1)
        self._row("a letter typed meanwhile, p99", f"{sorted(took)[int(len(took) * 0.99)]:.1f} ms")
        chat.stop()
        editor.clear()

    async def _scroll(self) -> None:
        chat = self._chat()
        roles_in_turn = ("user", "assistant")
        said = [
            Said(roles_in_turn[number % 2], TEXT.format(number=number))
            for number in range(MESSAGES)
        ]
        for what, most in (("opened", SHOWN_AT_ONCE), ("shown whole", MESSAGES)):
            began = time.perf_counter()
            async with self._beating(f"{MESSAGES} messages {what}"):
                chat.open(Chat(said=list(said)), most)
                chat.transcript.viewport().repaint()
                took_ms = (time.perf_counter() - began) * 1000
                await _until(lambda: not chat.drawing.isActive(), 60)
            whole_ms = (time.perf_counter() - began) * 1000
            self._row(f"{MESSAGES} messages {what}", f"{took_ms:.0f} ms, all {whole_ms:.0f} ms")
            await asyncio.sleep(1)
        bar = chat.transcript.verticalScrollBar()
        steps = []
        for at in range(0, bar.maximum(), max(SCROLL_PX, bar.maximum() // 200)):
            began = time.perf_counter()
            bar.setValue(at)
            # Events must not be handled here: this coroutine would be entered again while it runs.
            chat.transcript.viewport().repaint()
            steps.append((time.perf_counter() - began) * 1000)
        steps.sort()
        text = f"median {steps[len(steps) // 2]:.1f} ms, p99 {steps[int(len(steps) * 0.99)]:.1f} ms"
        self._row(f"{MESSAGES} messages, a step of scrolling", text)
        chat.clear()
        await asyncio.sleep(0.5)

    async def _large(self) -> None:
        """Opens chats whose answer is very long. Only a part of it is drawn, for this reason."""
        chat = self._chat()
        for what, text in LARGE.items():
            async with self._beating(what):
                chat.open(Chat(said=[Said("user", "All of it?"), Said("assistant", text)]))
                await asyncio.sleep(1)
            chat.clear()
            await asyncio.sleep(0.5)

    async def _soak(self) -> None:
        """Repeats a day's use: ask, look at every page, come back."""
        sizes = []
        for cycle in range(self.given.cycles):
            chat = self._chat()
            chat.ask("Say hello.")
            await _until(lambda: self.link.face.requests.get(), 10, must=False)
            await asyncio.sleep(0.2)
            chat.stop()
            await _until(lambda: not self.link.face.requests.get(), 60)
            for page in PAGES:
                self.window.turn_to(page.title)
                await asyncio.sleep(0.01)
            if cycle % 10 == 9:
                chat.clear()
                sizes.append((_rss(), _rss(_family()[1])))
        if len(sizes) > 4:
            (own, server), (own_end, server_end) = sizes[len(sizes) // 3], sizes[-1]
            self._row(
                "window after a third of the cycles, at the end", f"{own:.0f}, {own_end:.0f} MB"
            )
            self._row("server likewise", f"{server:.0f}, {server_end:.0f} MB")

    async def flood(self) -> None:
        """Shows a core that logs 10,000 lines a second behind the real link."""
        await _until(lambda: self.link.face.server.get().phase == "ready", 30)
        self.window.turn_to("Logs")
        async with self._beating(f"{LINES_PER_S} log lines a second"):
            await asyncio.sleep(self.given.seconds)

    def _chat(self) -> ChatPage:
        self.window.turn_to("Chat")
        page = self.window.page()
        assert isinstance(page, ChatPage)
        return page

    @asynccontextmanager
    async def _beating(self, what: str) -> AsyncIterator[None]:
        with self.beats.counted():
            yield
        beats = self.beats
        verdict = "" if beats.p(0.99) < LONGEST_GAP_MS else "  TOO LONG"
        text = (
            f"p50 {beats.p(0.5):.1f}, p99 {beats.p(0.99):.1f}, most {beats.p(1):.1f} ms "
            f"({beats.most_computed_ms:.1f} ms of them computing){verdict}"
        )
        self._row(f"gaps: {what}", text)

    def _row(self, name: str, text: str) -> None:
        self.rows.append((name, text))
        say(f"{name:<48} {text}")


async def _until(holds: Callable[[], object], patience_s: float, *, must: bool = True) -> None:
    end = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > end:
            assert not must, "waited in vain"
            return
        await asyncio.sleep(0.02)


def _family() -> list[psutil.Process]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def _rss(process: psutil.Process | None = None) -> float:
    return float((process or psutil.Process()).memory_info().rss / MB)


@asynccontextmanager
async def _helper(*arguments: str) -> AsyncIterator[None]:
    command = [sys.executable, "-m", "tests.bench.window_load", *arguments]
    child = await asyncio.create_subprocess_exec(*command)
    try:
        yield
    finally:
        if child.returncode is None:
            child.terminate()
        await child.wait()


async def _live(given: argparse.Namespace) -> Bench:
    link = Link()
    folder = Path(os.environ["MOAT_HOME"])
    folder.mkdir(exist_ok=True)
    memory = QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat)
    window = Window(link.face, memory)
    window.resize(1200, 800)
    window.show()
    gc.freeze()  # as the session does
    bench = Bench(window, link, given)
    serve = Program(processes.command("serve", "--child"), processes.environment("serve"))
    keeping = tasks.spawn(keep_serving(serve, link), "keep serving")
    try:
        await bench.run()
    finally:
        await tasks.stop(keeping)
    flood = Program([sys.executable, "-m", "tests.bench.window_load", "flood"], dict(os.environ))
    keeping = tasks.spawn(keep_serving(flood, link), "keep flooding")
    try:
        await bench.flood()
    finally:
        await tasks.stop(keeping)
        window.hide()
    return bench


def inside(given: argparse.Namespace) -> int:
    app = QApplication([sys.argv[0]])
    app.setQuitOnLastWindowClosed(False)
    theme.prepare(app)
    theme.apply(app, "light")
    with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
        bench = runner.run(_live(given))
    say("\n| what | measured |\n|---|---|")
    for name, text in bench.rows:
        say(f"| {name} | {text} |")
    return 1 if any("TOO LONG" in text for _, text in bench.rows) else 0


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each part")
    parser.add_argument("--cycles", type=int, default=300, help="of simulated use")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(given)
    with tempfile.TemporaryDirectory() as folder, Desktop(Path(folder), tray=False) as desktop:
        seen = {
            "MOAT_HOME": f"{folder}/moat",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        command = [sys.executable, "-m", "tests.bench.window", "--inside", *sys.argv[1:]]
        return subprocess.run(command, env={**desktop.environment, **seen}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
