"""The agent that is always there: the local model, with tools and attached documents."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from server.asking.ask import Means
from server.asking.fit import CHARACTERS_PER_TOKEN, context_tokens, is_able
from server.chat import ChatRequest, File, Image, Message, Sampling, Tool, ToolChoice
from server.conversation.agents.base import DEFAULT, AgentCard, AgentRequest, ThreadState
from server.conversation.run import converse
from server.conversation.threads.threads import Said
from server.dashboard.prompt import (
    MOST_TOKENS,
    MOST_TOKENS_ELSEWHERE,
    Prompt,
    document_text,
)
from server.data.documents import Document, Unreadable, read
from server.engine.base import Engine, ModelFacts
from server.events import Events, Finished, TextDelta, ToolCallFinished, ToolCallStarted
from server.plugins.answering import PluginTalk
from server.plugins.answering import Said as Asked

MOST_FILES = 8
SHARE_OF_WINDOW = 0.5
KINDS = {"text/csv": "csv", "text/html": "html", "text/tab-separated-values": "csv"}


@dataclass(slots=True)
class Attached:
    """The messages with their documents as text, and what is wrong with the newest documents."""

    messages: tuple[Message, ...]
    problems: list[str] = field(default_factory=list)
    is_about_files: bool = False
    """Whether documents came with the newest question."""


async def read_files(messages: Sequence[Message], facts: ModelFacts) -> Attached:
    """As much of the documents as half the model's window holds; the newest come first."""
    given = [file for message in messages for file in message.files]
    if not given:
        return Attached(tuple(messages))
    # Other threads answer meanwhile: a large file takes seconds to read.
    return await asyncio.to_thread(_read_files, messages, given[-MOST_FILES:], facts)


def _read_files(messages: Sequence[Message], given: list[File], facts: ModelFacts) -> Attached:
    users = [message for message in messages if message.role == "user"]
    question = users[-1].content if users else ""
    newest = users[-1].files if users else ()
    attached = Attached((), is_about_files=bool(newest))
    room = _characters(facts) // len(given)
    blocks: dict[int, str | Image] = {}
    for file in given:
        title = _title(file)
        try:
            document = _document(file, title)
        except Unreadable as error:
            blocks[id(file)] = _block(title, f"Problem: {error}")
            if any(file is one for one in newest):
                attached.problems.append(str(error))
        else:
            blocks[id(file)] = document.image or _block(title, _text(question, document, room))
    attached.messages = tuple(_with_files(message, blocks) for message in messages)
    return attached


def _document(file: File, title: str) -> Document:
    if file.problem:
        raise Unreadable(f"{title}: {file.problem}")
    mime = file.mime.partition(";")[0].strip().lower()
    return read(file.data, title, KINDS.get(mime, ""))


def _characters(facts: ModelFacts) -> int:
    window = context_tokens(facts) * SHARE_OF_WINDOW
    most = MOST_TOKENS.get(facts.device, MOST_TOKENS_ELSEWHERE)
    return int(min(window, most) * CHARACTERS_PER_TOKEN)


def _text(question: str, document: Document, room: int) -> str:
    prompt = Prompt()
    text = document_text(question, document, room, prompt) or "(no text)"
    return "\n".join([text, *(f"[Not all of it: {cut}.]" for cut in prompt.cuts)])


def _with_files(message: Message, blocks: dict[int, str | Image]) -> Message:
    """Each document in the place of its mark, or at the end where there is none."""
    content, images = message.content, list(message.images)
    for file in message.files:
        old = _block(_title(file), "(attached earlier; not read again)")
        block = blocks.get(id(file), old)
        begin = content.find(file.mark)
        end = begin + len(file.mark) if begin >= 0 else len(content)
        begin = begin if begin >= 0 else len(content)
        text = "" if isinstance(block, Image) else block
        content = content[:begin] + text + content[end:]
        longer = len(text) - (end - begin)
        images = [replace(one, at=one.at + longer * (one.at >= end)) for one in images]
        images += [replace(block, at=begin)] if isinstance(block, Image) else []
    images.sort(key=lambda image: image.at)
    return replace(message, content=content, images=tuple(images), files=())


def _block(title: str, text: str) -> str:
    return f'<data name="{title}">\n{text}\n</data>'


def _title(file: File) -> str:
    """A name comes from outside and must not end the tag it stands in."""
    name = "".join(one for one in file.name if one.isprintable() and one not in '"<>')
    return name or "The attached file"


Offered = Callable[[Engine, Asked], Awaitable[tuple[Tool, ...]]]

PROMPT = "You are a helpful assistant inside an application. Answer briefly and truthfully."
CANNOT_SEE = "[An image is attached here. The model in use cannot see images.]"
MOST_ROUNDS = 8
BIGGEST = 2**31 - 1


class Copilot:
    card = AgentCard(DEFAULT, "The model on this computer.")

    def __init__(
        self,
        engine: Callable[[str | None], Awaitable[Engine]],
        tools: Callable[[], Awaitable[tuple[Tool, ...]]],
        answer_tokens: Callable[[], int],
        plugins: Callable[[bool], PluginTalk | None] = lambda _is_own: None,
        offered: Offered | None = None,
    ) -> None:
        self._engine = engine
        self._tools = tools
        self._answer_tokens = answer_tokens
        self._plugins = plugins
        self._offered = offered

    async def run(self, request: AgentRequest) -> Events:
        engine = await self._engine(request.model)
        ours = (*await self._tools(), *await self._of_plugins(engine, request))
        tools = _merged(ours, request.tools)
        attached = await read_files([one.message for one in request.said], engine.facts)
        read = zip(request.said, attached.messages, strict=True)
        request = replace(request, said=tuple(Said(one.id, message) for one, message in read))
        chat = ChatRequest(
            messages(request, sees_images=engine.facts.sees_images),
            request.model,
            tools,
            tool_choice(request, engine.facts.parameters),
            parallel_calls=is_able(engine.facts.parameters),
            sampling=sampling(request.temperature, has_tools=bool(tools)),
            max_tokens=min(request.max_tokens or BIGGEST, self._answer_tokens()),
            stop=request.stop,
            client=request.client,
            chat=request.chat,
        )
        # A question about an attached document is the model's to answer, not a flow's.
        plugins = None if attached.is_about_files else self._plugins(request.is_own)
        events = converse(Means(engine, request.client, plugins), chat)
        if request.ends_after_tools:
            events = _one_turn(events)
        for problem in attached.problems:
            yield TextDelta(f"{problem}\n\n")
        async with aclosing(events):
            async for event in events:
                yield event

    async def _of_plugins(self, engine: Engine, request: AgentRequest) -> tuple[Tool, ...]:
        """Beside a page's actions the model calls them; else their flows come by the question."""
        if self._offered is None or not request.tools or not request.is_kept:
            return ()
        said = Asked(tuple(one.message for one in request.said), request.client, request.chat)
        return await self._offered(engine, said)

    async def agents(self) -> tuple["Copilot", ...]:
        return (self,)

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


def tool_choice(request: AgentRequest, parameters: int) -> ToolChoice:
    """A model that has had its rounds of calls must answer.

    A small model invents further calls, and a page shows each of them to the person.
    """
    rounds = 0
    for one in reversed(request.said):
        if one.message.role == "user":
            break
        rounds += bool(one.message.tool_calls)
    most = MOST_ROUNDS if is_able(parameters) else 1
    return ToolChoice("none") if rounds >= most else request.tool_choice


def sampling(temperature: float | None, *, has_tools: bool) -> Sampling:
    """Which tool to call, and with what, is no matter of luck."""
    if temperature is not None:
        return Sampling(temperature=temperature)
    return Sampling(temperature=0.0) if has_tools else Sampling()


def messages(request: AgentRequest, *, sees_images: bool) -> tuple[Message, ...]:
    """The conversation for the model: one system message, with what the page says of itself."""
    said = [one.message for one in request.said]
    own = [message.content for message in said if message.role == "system"] or [PROMPT]
    about = [f"{description}: {value}" for description, value in request.context]
    if about:
        own.append("What the application shows now:\n" + "\n".join(about))
    rest = [message for message in said if message.role != "system"]
    if not sees_images:
        rest = [_without_images(message) for message in rest]
    return (Message("system", "\n\n".join(own)), *rest)


def _without_images(message: Message) -> Message:
    if not message.images:
        return message
    note = "\n".join([CANNOT_SEE] * len(message.images))
    content = f"{message.content}\n{note}" if message.content else note
    return replace(message, content=content, images=())


def _merged(ours: tuple[Tool, ...], theirs: tuple[Tool, ...]) -> tuple[Tool, ...]:
    names = {tool.name for tool in ours}
    return (*ours, *(_closed(tool) for tool in theirs if tool.name not in names))


def _closed(tool: Tool) -> Tool:
    """A page's action takes what it declares; left open, a model would add to it."""
    closed = {"additionalProperties": False, **tool.parameters}
    return replace(tool, parameters=closed) if tool.parameters.get("properties") else tool


async def _one_turn(events: Events) -> Events:
    """Ends when every tool of ours that the model called has its result."""
    waiting: set[str] = set()
    async with aclosing(events):
        async for event in events:
            yield event
            if isinstance(event, ToolCallStarted):
                waiting.add(event.call.id)
            elif isinstance(event, ToolCallFinished):
                waiting.discard(event.call_id)
                if not waiting:
                    yield Finished("tool_calls")
                    return
