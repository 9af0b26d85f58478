"""Every page in every state, as a person may meet it: what the pictures show."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from app.attachments import Attachment
from app.chats import Chat, ChatStore, Said
from app.pages.chat import ChatPage
from app.pages.logs import LogsPage
from app.pages.settings import SettingsPage
from app.window import Window
from server import paths
from server.events import Finished, Usage
from server.face import Load, LogLine, ModelStatus, RunningRequest, ServerStatus
from tests.fake_core import FakeCore

TOKEN_S = 0.01
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
    for number in range(200):
        wave = 24 + 9 * math.sin(number / 9) + 4 * math.sin(number / 2.3)
        core.load.set(Load(2, 1, round(wave, 1), 4200 + min(number, 150) * 10 + number % 7))
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


async def logs_empty(_core: FakeCore, _window: Window) -> str:
    return "Logs"


async def logs_failed(core: FakeCore, window: Window) -> str:
    await logs(core, window)
    page = window.page()
    assert isinstance(page, LogsPage)
    page.level.setCurrentIndex(page.level.count() - 1)
    page.view.setCurrentIndex(page.lines.index(0))
    return "Logs"


async def settings(_core: FakeCore, _window: Window) -> str:
    return "Settings"


async def settings_changed(core: FakeCore, window: Window) -> str:
    """Some set, one refused, so that ways back and a reason show."""
    await core.change_settings({"server.port": 9000, "server.require_key": True})
    page = _settings(window)
    page.fields["server.port"].show_problem("The port 9000 is taken by another program.")
    return "Settings"


async def settings_nothing(_core: FakeCore, window: Window) -> str:
    _settings(window).search.setText("no such setting")
    return "Settings"


def _settings(window: Window) -> SettingsPage:
    window.turn_to(SettingsPage.title)
    page = window.page()
    assert isinstance(page, SettingsPage)
    return page


def _chat(window: Window) -> ChatPage:
    """The chat as it looks after a question, without asking anybody."""
    window.turn_to(ChatPage.title)
    chat = window.page()
    assert isinstance(chat, ChatPage)
    chat.show_conversation()
    chat.transcript.ask("What is a moat in investing? Show kinds, an example and some code.")
    return chat


async def chat_tester(core: FakeCore, window: Window) -> str:
    name = await chat_full(core, window)
    chat = window.page()
    assert isinstance(chat, ChatPage)
    chat.show_options.setChecked(True)
    chat.options.raw.setChecked(True)
    chat.raw.add("POST /v1/chat/completions  200")
    for word in ANSWER.split()[:40]:
        chat.raw.add(f'data: {{"choices":[{{"index":0,"delta":{{"content":"{word}"}}}}]}}')
    return name


async def chat_kept(_core: FakeCore, window: Window) -> str:
    store = ChatStore(paths.find().data / "chats")
    for text in ("What is a moat in investing?", "Summarise the 10-K of a bank", "Bond ladders"):
        store.keep(Chat(said=[Said("user", text), Said("assistant", ANSWER)]))
    chat = _chat(window)
    chat.open(store.all()[0])
    chat.show_list.setChecked(True)
    chat.attach([Attachment("prices.csv", "a,b")])
    return "Chat"


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
    "chat-tester": chat_tester,
    "chat-kept": chat_kept,
    "logs": logs,
    "logs-empty": logs_empty,
    "logs-failed": logs_failed,
    "settings": settings,
    "settings-changed": settings_changed,
    "settings-nothing": settings_nothing,
}
