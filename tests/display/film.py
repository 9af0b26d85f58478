"""Takes pictures of the first ten minutes: python -m tests.display.film MODEL.gguf [--look light].

The real program runs on a desktop of its own and is used by its keyboard only. What a screen reader
sees is read over the accessibility bus; a scene that does not show what it must ends the film.
The pictures are `build/film/LOOK-NN-name.png`.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aiohttp

from scripts.bookshelf import Shelf
from scripts.bootstrap.places import ROOT
from tests.bench.servers import free_port
from tests.display.desktop import Desktop, missing_programs, wait_for
from tests.display.program import Program, left_of
from tests.display.screen_reader import FOCUSABLE, ScreenReader

OUT = ROOT / "build" / "film"
LOOKS = ("light", "dark")
PATIENCE_S = 240.0
SETTLE_S = 1.0
MOST_TABS = 120
SHELF_PORT = 8905
ORIGIN = "https://pro.openbb.co"
QUESTION = "What is the total of the file?"
NOTES = "Costs of the trip in 2026\n\nTrain: 120 euros\nHotel: 340 euros\nTotal: 460 euros\n"
REST = {
    "Hardware": "It takes",
    "Activity": "Nothing has left this computer",
    "Logs": "Filter by text",
    "Settings": "Search settings",
}
PAGES = ("Home", "Chat", "Connect", "Models", "Hardware", "Plugins", "Activity", "Logs", "Settings")


class Film:
    def __init__(self, desktop: Desktop, program: Program, reader: ScreenReader, look: str) -> None:
        self._desktop, self._reader, self._look = desktop, reader, look
        self.program = program
        self._number = 0
        self.controls: dict[str, tuple[int, int]] = {}
        """For each scene, how many controls take the keyboard, and how many have no name."""

    def press(self, *keys: str) -> None:
        self._desktop.type(*keys)

    def write(self, text: str) -> None:
        self._desktop.write(text)

    def turn_to(self, title: str) -> None:
        self.press(f"ctrl+{PAGES.index(title) + 1}")
        wait_for(title, lambda: f"\n{title}\n" in self._reader.texts() or title == "Chat")

    def go_to(self, name: str) -> None:
        """Presses Tab until the control has the focus, as a user without a mouse does."""
        for _ in range(MOST_TABS):
            focused = self._reader.focused()
            if focused is not None and focused.name.startswith(name):
                return
            self.press("Tab")
        self._desktop.picture(OUT / f"{self._look}-failed.png")
        raise AssertionError(f"Tab does not lead to '{name}'.")

    def choose(self, name: str) -> None:
        self.go_to(name)
        self.press("space")

    def open_file(self, path: Path) -> None:
        """Enters a path in the file dialog. Presses Ctrl+A first, since a name may be there
        already."""
        self.see("File name:")
        self.press("ctrl+a")
        self.write(str(path))
        self.press("Return")
        wait_for("the dialog's end", lambda: "File name:" not in self._reader.texts(), PATIENCE_S)

    def see(self, *must: str) -> None:
        """Waits until all of these texts are on the screen."""
        try:
            wait_for(" and ".join(must), lambda: self._shows(must), PATIENCE_S)
        except AssertionError:
            self._desktop.picture(OUT / f"{self._look}-failed.png")
            raise

    def _shows(self, must: tuple[str, ...]) -> bool:
        texts = self._reader.texts()
        return all(words in texts for words in must)

    def shoot(self, name: str, *must: str) -> None:
        self.see(*must)
        time.sleep(SETTLE_S)  # Animations end; nothing can be polled for it.
        self._number += 1
        found = [node for node in self._reader.read() if node.has(FOCUSABLE)]
        unnamed = [node for node in found if not (node.name or node.text)]
        self.controls[name] = len(found), len(unnamed)
        self._desktop.picture(OUT / f"{self._look}-{self._number:02}-{name}.png")
        sys.stdout.write(f"{self._look} {self._number:02} {name}: {len(found)} controls\n")
        sys.stdout.flush()
        if unnamed:
            raise AssertionError(f"{name} has controls without a name: {unnamed}")


def welcome(film: Film, _given: "Given") -> None:
    film.shoot("welcome", "Welcome to Moat", "recommended for this computer", "Estimated speed")
    film.choose("Get started")
    film.see("Ready")
    film.shoot("first-chat", "SmolLM2")


def chat_with_file(film: Film, given: "Given") -> None:
    film.turn_to("Chat")
    film.choose("Attach files")
    film.press("Down", "Return")
    film.open_file(given.notes)
    film.see(given.notes.name)
    film.go_to("Your message")
    film.write(QUESTION)
    film.shoot("chat-with-a-file", given.notes.name, QUESTION)
    film.press("Return")
    film.shoot("chat-answered", "Regenerate", "tokens")


def load_model(film: Film, given: "Given") -> None:
    film.turn_to("Models")
    film.choose("Add a GGUF file")
    film.open_file(given.model)
    film.shoot("model-added", given.model.stem)
    film.choose(f"Load {given.model.stem}")
    film.shoot("model-loaded", f"In use: {given.model.stem}", "Ready")
    film.turn_to("Home")
    film.shoot("home", given.model.stem, "Ready")


def connect_openbb(film: Film, _given: "Given") -> None:
    film.turn_to("Connect")
    asyncio.run(be_workspace(film.program.port))
    film.shoot("openbb-connected", "OpenBB Workspace", "Connected.")


async def be_workspace(port: int) -> None:
    """Asks as OpenBB Workspace does: for the agents, then a question."""
    body = {"messages": [{"role": "human", "content": "Say hello in five words."}]}
    headers = {"Origin": ORIGIN, "User-Agent": "openbb-workspace/1.0"}
    async with aliased(port, headers) as session:
        async with session.get("/agents.json") as reply:
            reply.raise_for_status()
            agents: dict[str, Any] = await reply.json()
        address = next(iter(agents.values()))["endpoints"]["query"]
        async with session.post(address, json=body) as reply:
            reply.raise_for_status()
            await reply.read()


def aliased(port: int, headers: dict[str, str]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers)


def enable_plugin(film: Film, _given: "Given") -> None:
    film.turn_to("Plugins")
    film.shoot("plugins", "Accept and enable: Bookshelf")
    film.choose("Accept and enable: Bookshelf")
    film.see("Disable: Bookshelf")
    film.choose("Details of Bookshelf")
    film.go_to("shelf-key")
    film.write(Shelf.key)
    film.press("Return")
    film.shoot("plugin-enabled", "Disable: Bookshelf", "POST /books")


def approve(film: Film, _given: "Given") -> None:
    film.press("ctrl+n")
    film.go_to("Your message")
    film.write("@bookshelf Add the book Emma by Jane Austen from the year 1815")
    film.press("Return")
    film.shoot("approval", "Bookshelf asks", "Allow once")
    film.choose("Allow once")
    film.shoot("approved", "Regenerate")


def fail(film: Film, given: "Given") -> None:
    film.turn_to("Models")
    film.choose("Add a GGUF file")
    film.open_file(given.damaged)
    film.shoot("failure", "Something went wrong", given.damaged.name)
    film.press("Escape")
    film.turn_to("Home")
    film.shoot("still-working", given.model.stem, "Ready")


def see_the_rest(film: Film, _given: "Given") -> None:
    for title, must in REST.items():
        film.turn_to(title)
        film.shoot(title.lower(), must)


def leave(film: Film, _given: "Given") -> None:
    film.press("F1")
    film.shoot("keyboard", "Keyboard shortcuts", "Ctrl+Q")
    film.press("Escape")
    family = film.program.family()
    film.press("ctrl+q")
    film.program.process.wait(PATIENCE_S)
    if left := left_of(family):
        raise AssertionError(f"Quitting left {left}.")


SCENES: tuple[Callable[[Film, "Given"], None], ...] = (
    welcome, chat_with_file, load_model, connect_openbb, enable_plugin, approve, fail,
    see_the_rest, leave,
)  # fmt: skip


@contextmanager
def bookshelf() -> Iterator[None]:
    """Serves the API that the shipped plugin calls."""
    Shelf.key = "film"
    with ThreadingHTTPServer(("127.0.0.1", SHELF_PORT), Shelf) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


class Given:
    def __init__(self, folder: Path, model: Path) -> None:
        self.model = model
        self.notes = folder / "trip.txt"
        self.notes.write_text(NOTES, "utf-8")
        self.damaged = folder / "damaged.gguf"
        self.damaged.write_bytes(model.read_bytes()[: 4 << 20])


def main() -> int:
    parser = argparse.ArgumentParser(prog="film", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--look", choices=LOOKS, action="append")
    options = parser.parse_args()
    if missing := missing_programs():
        sys.exit(f"Not installed: {', '.join(missing)}.")
    OUT.mkdir(parents=True, exist_ok=True)
    for look in options.look or LOOKS:
        take(look, options.model.resolve())
    return 0


def take(look: str, model: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="moat-film-") as folder:
        home, port = Path(folder) / "home", free_port()
        (home / "config").mkdir(parents=True)
        settings = {"server": {"port": port}, "window": {"theme": look}}
        (home / "config" / "settings.json").write_text(json.dumps(settings))
        screen = Path(folder) / "screen"
        screen.mkdir()
        with bookshelf(), Desktop(screen) as desktop:
            reader = ScreenReader(desktop)
            program = Program(desktop, home, port)
            film = Film(desktop, program, reader, look)
            given = Given(Path(folder), model)
            for scene in SCENES:
                scene(film, given)
            program.end()


if __name__ == "__main__":
    sys.exit(main())
