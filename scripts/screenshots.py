"""Pictures of every page in every state, light and dark: `make screenshots`."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from app import icons, theme
from app.loop import Loop
from app.pages.chat import ChatPage
from app.state import LOOK_WORDS
from app.tray import Tray
from app.window import Window
from server.events import Finished, Usage
from server.face import Load, LogLine, ModelStatus, RunningRequest, ServerStatus
from tests.fake_core import FakeCore

MEMORY = "window.ini"
OUT = Path("build/screenshots")
SETTLE_S = 0.25
TOKEN_S = 0.01
LARGE, SMALL = (1080, 720), (900, 600)
ANSWER = """A **moat** is what keeps competitors away from a company's profits. Three common kinds:

| Kind | Example | How it fades |
|---|---|---|
| Network effects | Payment networks | A rival with open access |
| Switching costs | Accounting software | Export becomes easy |
| Cost advantage | Large retailers | Scale of a new entrant |

In Python, `margin` tells a part of the story:

```python
def margin(revenue: float, cost: float) -> float:
    return (revenue - cost) / revenue
```

1. Look at ten years, not at one.
2. Compare with peers of the same size.
"""
LONG_NAME = (
    "Mixtral-8x22B-Instruct-v0.1-with-a-very-long-name-that-never-ends-Q4_K_M-00001-of-00005"
)

Scene = Callable[[FakeCore, Window], Awaitable[str]]


async def stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    core.model.set(ModelStatus())
    return "Home"


async def loading(core: FakeCore, _window: Window) -> str:
    core.model.set(ModelStatus("loading", "Qwen3-8B", 0.42))
    return "Home"


async def ready(_core: FakeCore, _window: Window) -> str:
    return "Home"


async def busy(core: FakeCore, _window: Window) -> str:
    now, route = time.time(), "/v1/chat/completions"
    core.requests.set(
        (
            RunningRequest(1, "OpenBB Workspace", "/v1/query", "Qwen3-8B", now, "writing", 318),
            RunningRequest(2, "openai-python", route, "Qwen3-8B", now, "reading", 0, 8192, 20480),
            RunningRequest(3, "", route, "Qwen3-8B", now, "waiting"),
        )
    )
    core.load.set(Load(2, 1, 34.7, 5820))
    return "Home"


async def failed(core: FakeCore, _window: Window) -> str:
    reason = "Not enough memory: the model needs 5.4 GB and 3.1 GB are free."
    core.model.set(ModelStatus("failed", "Qwen3-8B", reason=reason))
    return "Home"


async def notices(core: FakeCore, window: Window) -> str:
    core.server.set(
        ServerStatus(
            "ready",
            "http://127.0.0.1:7778",
            port_note="Port 7777 is taken by another program, so Moat uses 7778.",
        )
    )
    core.notices.set(
        (
            "No keychain was found: secrets are kept in a file that only you can read.",
            "The settings file could not be read. It was kept as settings.broken-1.json "
            "and Moat started with its defaults.",
        )
    )
    core.model.set(ModelStatus("ready", LONG_NAME, 1, context_tokens=65536, device="CPU"))
    window.show_failure("The server part of Moat is not answering.")
    return "Home"


async def chat_empty(_core: FakeCore, _window: Window) -> str:
    return "Chat"


async def chat_stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    return "Chat"


async def chat_full(_core: FakeCore, window: Window) -> str:
    chat = _chat(window)
    first = chat.transcript.answer("SmolLM2-135M-Instruct")
    for word in ANSWER.split(" "):
        first.add_text(f"{word} ")
        await asyncio.sleep(TOKEN_S)
    first.finish(Finished("stop", Usage(42, completion_tokens=187)))
    chat.transcript.ask("And in one sentence?")
    second = chat.transcript.answer("SmolLM2-135M-Instruct")
    second.add_text("A moat is a lasting reason why customers stay and rivals")
    chat.composer.show_answering(answering=True)
    return "Chat"


async def chat_failed(_core: FakeCore, window: Window) -> str:
    chat = _chat(window)
    answer = chat.transcript.answer("SmolLM2-135M-Instruct")
    answer.add_text("A moat in investing is")
    answer.fail("The engine stopped while answering. It was started again; please ask once more.")
    return "Chat"


async def logs(core: FakeCore, window: Window) -> str:
    window.turn_to("Logs")
    began = time.mktime((2026, 1, 15, 9, 30, 0, 0, 0, -1))
    sources = (("server.web.site", "info"), ("engine.worker", "info"), ("server.core", "warning"))
    for number in range(60):
        source, level = sources[number % 3]
        text = f"Request {number} answered in {number * 7 % 90 + 10} ms, 200 OK, 127.0.0.1"
        core.logged.emit(LogLine(began + number * 0.731, level, source, text))
    crash = "The engine stopped (SIGSEGV) while answering request 17; it is started again."
    core.logged.emit(LogLine(began + 45, "error", "engine.process", crash))
    return "Logs"


async def settings(_core: FakeCore, _window: Window) -> str:
    return "Settings"


SCENES: dict[str, Scene] = {
    "home-stopped": stopped,
    "home-loading": loading,
    "home-ready": ready,
    "home-busy": busy,
    "home-failed": failed,
    "home-notices": notices,
    "chat-empty": chat_empty,
    "chat-stopped": chat_stopped,
    "chat-full": chat_full,
    "chat-failed": chat_failed,
    "logs": logs,
    "settings": settings,
}


async def take(app: QApplication, out: Path, wanted: str) -> None:
    memory = QSettings(str(out / MEMORY), QSettings.Format.IniFormat)
    for look in ("light", "dark"):
        theme.apply(app, look)
        for name, scene in SCENES.items():
            if wanted not in name:
                continue
            core = FakeCore.ready()
            window = Window(core, memory)
            window.show()
            window.turn_to(await scene(core, window))
            for label, size in (("", LARGE), ("-small", SMALL)):
                window.resize(*size)
                await asyncio.sleep(SETTLE_S)
                window.grab().save(str(out / f"{name}-{look}{label}.png"))
            window.hide()
            window.deleteLater()
        await _take_menu(out / f"tray-menu-{look}.png")
    _take_icons(out / "tray-icons.png")


async def _take_menu(path: Path) -> None:
    tray = Tray(FakeCore.ready())
    tray.menu.popup(tray.menu.pos())
    await asyncio.sleep(SETTLE_S)
    tray.menu.grab().save(str(path))
    tray.menu.close()
    tray.close()


def _take_icons(path: Path) -> None:
    sides = (16, 22, 32, 64)
    sheet = QPixmap(80 * len(LOOK_WORDS), 2 * 170)
    painter = QPainter(sheet)
    for half, ground in enumerate((theme.LIGHT.sidebar, theme.DARK.sidebar)):
        painter.fillRect(0, half * 170, sheet.width(), 170, QColor(ground))
        for column, look in enumerate(LOOK_WORDS):
            top = half * 170 + 8
            for side in sides:
                painter.drawPixmap(column * 80 + 8, top, icons.tray_icon(look).pixmap(side))
                top += side + 8
    painter.end()
    sheet.save(str(path))


def _chat(window: Window) -> ChatPage:
    """The chat as it looks after a question, without asking anybody."""
    window.turn_to(ChatPage.title)
    chat = window.page()
    assert isinstance(chat, ChatPage)
    chat.show_conversation()
    chat.transcript.ask("What is a moat in investing? Show kinds, an example and some code.")
    return chat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    theme.prepare(app)
    with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
        runner.run(take(app, options.out, options.only))
    (options.out / MEMORY).unlink(missing_ok=True)
    sys.stdout.write(f"{len(list(options.out.glob('*.png')))} pictures in {options.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
