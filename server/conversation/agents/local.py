"""The default agent: the local model, with tools and attached documents."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from server.asking.ask import CHARACTERS_PER_TOKEN, TRYING_OUT, CanPlan, Means, context_tokens
from server.chat import ChatRequest, File, Image, Message, Sampling, Tool, ToolChoice
from server.conversation.agents.base import DEFAULT, AgentCard, AgentRequest, ThreadState
from server.conversation.run import converse
from server.conversation.threads import ThreadMessage
from server.data.documents import Document, Unreadable, read
from server.engine.base import Engine, ModelFacts
from server.events import (
    Events,
    Finished,
    StatusNote,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.models.aliases import complete
from server.plugins.answering import PluginTalk, UserQuestion
from server.settings import OwnSettings
from server.system.lazy import Late

prompts: Any = Late("server.dashboard.prompt")

MOST_FILES = 8
"""How many documents are read, the newest of the conversation."""
SHARE_OF_WINDOW = 0.5
"""The share of the model's context that documents may take."""
KINDS = {"text/csv": "csv", "text/html": "html", "text/tab-separated-values": "csv"}
"""Formats of text files by their media type."""


@dataclass(slots=True)
class Attached:
    """The messages with their documents as text, and the problems of the newest documents."""

    messages: tuple[Message, ...]
    problems: list[str] = field(default_factory=list)
    is_about_files: bool = False
    """Whether the newest question has documents."""


async def read_files(messages: Sequence[Message], facts: ModelFacts) -> Attached:
    """Reads the newest documents, as much of each as its share of the model's context holds."""
    given = [file for message in messages for file in message.files]
    if not given:
        return Attached(tuple(messages))
    # In a thread, because a large file takes seconds to read.
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
            if any(file is new for new in newest):
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
    most = prompts.MOST_TOKENS.get(facts.device, prompts.MOST_TOKENS_ELSEWHERE)
    return int(min(window, most) * CHARACTERS_PER_TOKEN)


def _text(question: str, document: Document, room: int) -> str:
    prompt = prompts.Prompt()
    text = prompts.document_text(question, document, room, prompt) or "(no text)"
    return "\n".join([text, *(f"[Not all of it: {cut}.]" for cut in prompt.cuts)])


def _with_files(message: Message, blocks: dict[int, str | Image]) -> Message:
    """Replaces the mark of each document by its text; without a mark, the text goes to the end."""
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
        images = [replace(image, at=image.at + longer * (image.at >= end)) for image in images]
        images += [replace(block, at=begin)] if isinstance(block, Image) else []
    images.sort(key=lambda image: image.at)
    return replace(message, content=content, images=tuple(images), files=())


def _block(title: str, text: str) -> str:
    return f'<data name="{title}">\n{text}\n</data>'


def _title(file: File) -> str:
    """Returns the file's name, which comes from outside, without what could end its tag."""
    name = "".join(letter for letter in file.name if letter.isprintable() and letter not in '"<>')
    return name or "The attached file"


Offered = Callable[[Engine, UserQuestion], Awaitable[tuple[Tool, ...]]]

PROMPT = "You are a helpful assistant inside an application. Answer briefly and truthfully."
CANNOT_SEE = "[An image is attached here. The model in use cannot see images.]"
MOST_ROUNDS = 8
"""How often a model that can plan may call tools for one question."""
BIGGEST = 2**31 - 1


class Copilot:
    """The agent that is always available. It answers with the local model or a plugin's flow."""

    card = AgentCard(DEFAULT, "The model on this computer.")

    def __init__(
        self,
        engine: Callable[[str | None], Awaitable[Engine]],
        tools: Callable[[], Awaitable[tuple[Tool, ...]]],
        answer_tokens: Callable[[], int],
        plugins: Callable[[bool], PluginTalk | None] = lambda _is_own: None,
        offer: Offered | None = None,
        own: Callable[[str | None], OwnSettings] = lambda name: OwnSettings(name=name or "?"),
    ) -> None:
        """`own` returns the settings that a model has for itself."""
        self._engine = engine
        self._tools = tools
        self._answer_tokens = answer_tokens
        self._plugins = plugins
        self._offer = offer
        self._own = own
        self.can_plan: CanPlan | None = None

    async def run(self, request: AgentRequest) -> Events:
        engine = await self._engine(request.model)
        ours = (*await self._tools(), *await self._of_plugins(engine, request))
        tools = _merge(ours, request.tools)
        attached = await read_files([kept.message for kept in request.messages], engine.facts)
        read = zip(request.messages, attached.messages, strict=True)
        request = replace(
            request, messages=tuple(ThreadMessage(kept.id, message) for kept, message in read)
        )
        own = self._own(request.model)
        # A question about an attached document is answered by the model, not by a flow.
        plugins = None if attached.is_about_files else self._plugins(request.is_own)
        means = Means(engine, request.client, plugins, can_plan=self.can_plan)
        # The first round does not wait for the trial: one call at a time is right for any model.
        is_needed = bool(tools) and (count_rounds(request) > 0 or not means.is_untried)
        if is_needed and means.is_untried:
            yield StatusNote(TRYING_OUT)
        able = is_needed and await means.is_able()
        chat = ChatRequest(
            messages(request, own.system_prompt or PROMPT, sees_images=engine.facts.sees_images),
            request.model,
            tools,
            tool_choice(request, able=able),
            parallel_calls=able,
            sampling=sampling(request.temperature, has_tools=bool(tools)),
            max_tokens=min(request.max_tokens or BIGGEST, self._answer_tokens()),
            stop=request.stop,
            client=request.client,
            chat=request.chat,
        )
        events = converse(means, complete(chat, own))
        if request.ends_after_tools:
            events = _one_turn(events)
        for problem in attached.problems:
            yield TextDelta(f"{problem}\n\n")
        async with aclosing(events):
            async for event in events:
                yield event

    async def _of_plugins(self, engine: Engine, request: AgentRequest) -> tuple[Tool, ...]:
        """Returns plugins as tools, if the page has actions. Else the question chooses a flow."""
        if self._offer is None or not request.tools or not request.is_kept:
            return ()
        asked = UserQuestion(
            tuple(kept.message for kept in request.messages), request.client, request.chat
        )
        return await self._offer(engine, asked)

    async def agents(self) -> tuple["Copilot", ...]:
        return (self,)

    async def recall(self, _thread_id: str) -> ThreadState | None:
        return None


def count_rounds(request: AgentRequest) -> int:
    """Returns how often the model has called tools since the newest question."""
    rounds = 0
    for kept in reversed(request.messages):
        if kept.message.role == "user":
            break
        rounds += bool(kept.message.tool_calls)
    return rounds


def tool_choice(request: AgentRequest, *, able: bool) -> ToolChoice:
    """Forbids calls after a number of rounds, so that the model must answer.

    A model that cannot plan keeps inventing calls, and the page shows each of them to the person.
    """
    most = MOST_ROUNDS if able else 1
    return ToolChoice("none") if count_rounds(request) >= most else request.tool_choice


def sampling(temperature: float | None, *, has_tools: bool) -> Sampling:
    """Returns the sampling. With tools it is not random: luck must not decide about calls."""
    if temperature is not None:
        return Sampling(temperature=temperature, given=("temperature",))
    return Sampling(temperature=0.0) if has_tools else Sampling()


def messages(
    request: AgentRequest, usual: str = PROMPT, *, sees_images: bool
) -> tuple[Message, ...]:
    """Returns the messages for the model. One system message includes what the page shows."""
    given = [kept.message for kept in request.messages]
    own = [message.content for message in given if message.role == "system"] or [usual]
    about = [f"{description}: {value}" for description, value in request.context]
    if about:
        own.append("What the application shows now:\n" + "\n".join(about))
    rest = [message for message in given if message.role != "system"]
    if not sees_images:
        rest = [_without_images(message) for message in rest]
    return (Message("system", "\n\n".join(own)), *rest)


def _without_images(message: Message) -> Message:
    if not message.images:
        return message
    note = "\n".join([CANNOT_SEE] * len(message.images))
    content = f"{message.content}\n{note}" if message.content else note
    return replace(message, content=content, images=())


def _merge(ours: tuple[Tool, ...], theirs: tuple[Tool, ...]) -> tuple[Tool, ...]:
    names = {tool.name for tool in ours}
    return (*ours, *(_close(tool) for tool in theirs if tool.name not in names))


def _close(tool: Tool) -> Tool:
    """Forbids arguments that a page's action does not declare. Otherwise a model invents some."""
    closed = {"additionalProperties": False, **tool.parameters}
    return replace(tool, parameters=closed) if tool.parameters.get("properties") else tool


async def _one_turn(events: Events) -> Events:
    """Yields the events, and ends once every tool of ours that was called has its result."""
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
