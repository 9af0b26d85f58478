"""Chat: empty, during an answer, full, failed, with the tester beside it, with saved chats."""

import asyncio

from app.chat.attachments import Attachment
from app.chat.chats import Chat, ChatStore, Said
from app.chat.page import ChatPage
from app.shell.window import Window
from scripts.scenes.base import Scene, opened
from server.errors import EngineCrashed
from server.events import Finished, Usage
from server.face.core import ServerStatus
from server.sentences import Sentence
from server.system import paths
from tests.kit.fake_core import FakeCore

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


async def empty(_core: FakeCore, _window: Window) -> str:
    return "Chat"


async def stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    return "Chat"


async def busy(_core: FakeCore, window: Window) -> str:
    """Shows a plugin's steps, thoughts, and text that is still arriving."""
    chat = _asked(window)
    answer = chat.transcript.answer("Qwen3-8B")
    answer.add_thought("The question is about moats. A table of three kinds will do.")
    answer.add_step(Sentence("Chose {0}", "portfolio"))
    answer.add_step(Sentence("Calling {0}", "portfolio.holdings"))
    for word in ANSWER.split(" ")[:60]:
        answer.add_text(f"{word} ")
    chat.composer.show_answering(answering=True)
    return "Chat"


async def full(_core: FakeCore, window: Window) -> str:
    chat = _asked(window)
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


async def failed(_core: FakeCore, window: Window) -> str:
    chat = _asked(window)
    answer = chat.transcript.answer("SmolLM2-135M-Instruct")
    answer.add_text("A moat in investing is")
    answer.fail(
        EngineCrashed(
            Sentence("The engine stopped: {0}.", Sentence("killed, perhaps because memory ran out"))
        )
    )
    return "Chat"


def _asked(window: Window) -> ChatPage:
    """Returns the chat page as it looks after a question, without sending it."""
    chat = opened(window, ChatPage)
    chat.show_conversation()
    chat.transcript.ask("What is a moat in investing? Show kinds, an example and some code.")
    return chat


async def tester(core: FakeCore, window: Window) -> str:
    name = await full(core, window)
    chat = opened(window, ChatPage)
    chat.show_options.setChecked(True)
    chat.options.raw.setChecked(True)
    chat.raw.add("POST /v1/chat/completions  200")
    for word in ANSWER.split()[:40]:
        chat.raw.add(f'data: {{"choices":[{{"index":0,"delta":{{"content":"{word}"}}}}]}}')
    return name


async def kept(_core: FakeCore, window: Window) -> str:
    store = ChatStore(paths.find().data / "chats")
    for text in ("What is a moat in investing?", "Summarise the 10-K of a bank", "Bond ladders"):
        store.keep(Chat(said=[Said("user", text), Said("assistant", ANSWER)]))
    chat = _asked(window)
    chat.open(store.all()[0])
    chat.show_list.setChecked(True)
    chat.attach([Attachment("prices.csv", "a,b")])
    return "Chat"


SCENES: dict[str, Scene] = {
    "chat-empty": empty,
    "chat-stopped": stopped,
    "chat-busy": busy,
    "chat-full": full,
    "chat-failed": failed,
    "chat-tester": tester,
    "chat-kept": kept,
}
