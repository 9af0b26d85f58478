"""Takes the documentation's pictures from a running Moat: python -m scripts.pictures MODEL.gguf.

A real server with a real model answers, and the window shows it. Before the chat, this script sends
requests under the names of three programs that people connect. It fails if a page shows another
size or number than the files and the catalogue have.

`docs/images/pictures.json` has the hash of each picture, so that a test notices pictures from
elsewhere.
"""

import argparse
import asyncio
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import aiohttp
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.chat.page import ChatPage
from app.desktop.loop import Loop
from app.hardware import HardwarePage
from app.look import theme
from app.look.model_rows import parameters
from app.look.summary import size
from app.models.discover import FileRow
from app.models.page import DISCOVER, ModelsPage
from app.plugins.page import PluginsPage
from app.shell.link import Link, Program, keep_serving
from app.shell.tray import Tray
from app.shell.window import Window
from app.welcome import WelcomePage
from scripts.bootstrap.places import ROOT
from scripts.scenes.welcome import NoAutostart
from server import tasks
from server.face.core import Face
from server.models import catalogue
from server.models.machine import MOST_OTHERS
from server.system import paths, processes
from server.system.files import write_atomically
from tests.kit.until import until

OUT = ROOT / "docs" / "images"
LIST = "pictures.json"
SIZE = (1080, 720)
PATIENCE_S = 600.0
"""How long to wait for the server, the model or a page, in seconds."""
SETTLE_S = 1.0
"""Time for a page to be laid out and painted, in seconds."""
QUESTION = "Write a Python function that returns a company's gross margin. Then explain it briefly."
SHORT_QUESTION = "What is a moat? Answer in one sentence."
EDITORS = ("continue", "zed")


class Untrue(Exception):
    """Raised when a page shows something that is not true."""


Scene = Callable[[Face, Window], Awaitable[None]]


async def wait(what: str, holds: Callable[[], object]) -> None:
    await until(holds, PATIENCE_S)
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def turn(title: str) -> Scene:
    async def scene(_core: Face, window: Window) -> None:
        window.turn_to(title)

    return scene


async def chat(_core: Face, window: Window) -> None:
    window.turn_to("Chat")
    page = window.page()
    assert isinstance(page, ChatPage)
    page.ask(QUESTION)
    await wait("an answer begins", lambda: page._turn)
    await wait("an answer ends", lambda: not page._turn)


async def models(_core: Face, window: Window) -> None:
    window.turn_to("Models")
    page = window.page()
    assert isinstance(page, ModelsPage)
    page.parts.choose(DISCOVER)
    await wait("suggestions", lambda: page.findChildren(FileRow))
    check_suggestions(page)


async def hardware(_core: Face, window: Window) -> None:
    window.turn_to("Hardware")
    page = window.page()
    assert isinstance(page, HardwarePage)
    await wait("the machine", lambda: any("GB" in text for text in texts_of(page.machine)))
    await wait("the fit", lambda: any("GB" in text for text in texts_of(page.fit)))


async def plugins(_core: Face, window: Window) -> None:
    window.turn_to("Plugins")
    page = window.page()
    assert isinstance(page, PluginsPage)
    await wait("the plugins", lambda: page.list.rows and page.common.isVisible())


async def welcome(core: Face, window: Window) -> None:
    page = WelcomePage(core, NoAutostart(), paths.find().models)
    window.welcome(page)
    await wait("the machine", lambda: "GB" in page.machine.text())
    await wait("a suggestion", page.recommended.isVisible)


SCENES: dict[str, Scene] = {
    "home": turn("Home"),
    "chat": chat,
    "connect": turn("Connect"),
    "models": models,
    "hardware": hardware,
    "plugins": plugins,
    "activity": turn("Activity"),
    "logs": turn("Logs"),
    "settings": turn("Settings"),
    "welcome": welcome,
}


def texts_of(widget: QWidget) -> list[str]:
    """Returns the visible texts of a widget."""
    labels: Iterable[QLabel] = widget.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisibleTo(widget) and label.text()]


def check_suggestions(page: QWidget) -> None:
    """Raises `Untrue` unless each suggestion shows the size and the parameters of the catalogue."""
    known = {entry.title: entry for entry in catalogue.read().models}
    rows: Iterable[FileRow] = page.findChildren(FileRow)
    for line in rows:
        entry = known.get(line.title.text())
        if entry is None:
            raise Untrue(f"The catalogue has no {line.title.text()}.")
        shown = " ".join(texts_of(line))
        for fact in (size(entry.download_bytes), parameters(entry.parameters)):
            if fact not in shown:
                raise Untrue(f"{entry.title} is shown without {fact}: {shown}")


def check_installed(core: Face) -> None:
    """Raises `Untrue` unless each model on a card is a file of the size shown."""
    for card in core.models.cards.get():
        if not card.hosts and Path(card.path).stat().st_size != card.size_bytes:
            raise Untrue(f"{card.name} is not {card.size_bytes} bytes.")


async def be_asked(core: Face) -> None:
    """Sends requests as programs do. The model answers them."""
    async with aiohttp.ClientSession(core.server.get().address, raise_for_status=True) as session:
        await be_workspace(session)
        for name in EDITORS:
            await be_editor(session, name, core.model.get().name)
    sys.stdout.write("programs asked\n")


async def be_workspace(session: aiohttp.ClientSession) -> None:
    """Looks for the agents, then asks the first one. No other program asks for the agents."""
    headers = {"User-Agent": "openbb-workspace/1.0", "Origin": "https://pro.openbb.co"}
    async with session.get("/agents.json", headers=headers) as reply:
        agents: dict[str, Any] = await reply.json()
    address = next(iter(agents.values()))["endpoints"]["query"]
    body = {"messages": [{"role": "human", "content": SHORT_QUESTION}]}
    async with session.post(address, json=body, headers=headers) as reply:
        await reply.read()


async def be_editor(session: aiohttp.ClientSession, name: str, model: str) -> None:
    messages = [{"role": "user", "content": SHORT_QUESTION}]
    body = {"model": model, "messages": messages, "max_tokens": 24, "stream": True}
    headers = {"User-Agent": f"{name}/1.0"}
    async with session.post("/v1/chat/completions", json=body, headers=headers) as reply:
        await reply.read()


async def measure_when_idle(core: Face) -> None:
    """Measures the machine's speed as soon as the trials of the new model have ended.

    Otherwise the page would say that other programs were busy during the measurement.
    """
    for _ in range(30):
        machine = await core.models.measure_pace()
        if machine.pace.others <= MOST_OTHERS:
            return
        await asyncio.sleep(10)
    raise SystemExit("Something else keeps this machine busy: its speed cannot be measured.")


async def take(app: QApplication, model: Path, out: Path, only: list[str]) -> None:
    """Takes the pictures of the scenes in `only`; all scenes if it is empty."""
    link = Link()
    program = Program(processes.command("serve", "--child"), processes.environment("serve"))
    keeping = tasks.spawn(keep_serving(program, link), "keep")
    core = link.face
    try:
        await wait("the server is ready", lambda: core.server.get().phase == "ready")
        await core.load_model(await core.models.import_file(str(model)))
        await wait("the model is ready", lambda: core.model.get().phase == "ready")
        check_installed(core)
        await be_asked(core)
        await measure_when_idle(core)
        memory = QSettings(str(paths.find().cache / "pictures.ini"), QSettings.Format.IniFormat)
        window = Window(core, memory)
        window.resize(*SIZE)
        window.show()
        found: dict[str, dict[str, object]] = {}
        if only:
            found = json.loads((out / LIST).read_text("utf-8"))
        for name, scene in SCENES.items():
            if only and name not in only:
                continue
            await scene(core, window)
            for look in ("light", "dark"):
                theme.apply(app, look)
                found[f"{name}-{look}"] = await grab(window, out / f"{name}-{look}.png")
        for look in ("light", "dark") if not only else ():
            theme.apply(app, look)
            found[f"tray-menu-{look}"] = await take_menu(core, out / f"tray-menu-{look}.png")
        write_atomically(out / LIST, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    finally:
        await tasks.stop(keeping)


async def grab(window: Window, path: Path) -> dict[str, object]:
    await asyncio.sleep(SETTLE_S)
    window.grab().save(str(path))
    return describe(path, texts_of(window))


async def take_menu(core: Face, path: Path) -> dict[str, object]:
    tray = Tray(core)
    tray.menu.popup(tray.menu.pos())
    await asyncio.sleep(SETTLE_S)
    tray.menu.grab().save(str(path))
    shown = [action.text() for action in tray.menu.actions() if action.text()]
    tray.menu.close()
    tray.close()
    return describe(path, shown)


def describe(path: Path, shown: list[str]) -> dict[str, object]:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "shows": shown[:40]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="pictures", description=__doc__)
    parser.add_argument("model", type=Path, help="a GGUF file that answers in the pictures")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", nargs="*", default=[], choices=SCENES, help="these anew")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="moat-") as home:
        # A separate HOME instead of MOAT_HOME, so that folders appear as a user sees them.
        for name in [name for name in os.environ if name.startswith("XDG_") or name == "MOAT_HOME"]:
            del os.environ[name]
        os.environ["HOME"] = home
        app = QApplication([])
        theme.prepare(app)
        with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
            runner.run(take(app, options.model.resolve(), options.out, options.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
