"""Runs a request: asks the model, runs our tools, and asks again with their results.

It ends when the model answers, or calls a tool that the client must run.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from server.asking.ask import Means, PluginChoice
from server.chat import ChatRequest, Json, Message, Tool, ToolCall
from server.data.markdown import table
from server.engine.base import Engine
from server.errors import AppError
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    OfChoice,
    Piece,
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStarted,
    Usage,
)
from server.schemas import check
from server.sentences import Sentence
from server.tasks import spawn, stop

Stream = AsyncGenerator[Event, None]


async def write_into_text(events: Stream) -> Stream:
    """Adds tables and charts to the text as Markdown, for clients that show only text."""
    spoken = False
    rows: Sequence[Json] = ()
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Artifact) and event.content.get("rows"):
                is_shown = event.content["rows"] == rows
                text = markdown(event, with_table=not is_shown)
                rows = event.content["rows"]
                if text:
                    yield TextDelta(("\n\n" if spoken else "") + text + "\n\n")
                    spoken = True
            spoken = spoken or isinstance(event, TextDelta)
            yield event


def markdown(made: Artifact, *, with_table: bool = True) -> str:
    """Returns an artifact as Markdown. `with_table` is false if its rows were just shown."""
    option = made.content.get("option")
    parts = [table(made.content["rows"])] if with_table else []
    if option is not None:
        parts.append(f"```echarts\n{json.dumps(option, ensure_ascii=False)}\n```")
    return "\n\n".join(parts)


log = logging.getLogger(__name__)
MAX_TURNS = 10
"""How often the model is asked for one answer. Each further turn has the results of our tools."""


@dataclass(slots=True)
class _Calls:
    """Passes on each different call of a turn once; with `takes_one` only the first.

    A further call of the same tool is held until its arguments are known, because what was sent to
    a client cannot be taken back. The calls that remain are numbered without gaps.
    """

    takes_one: bool
    _names: set[str] = field(default_factory=set)
    _made: set[str] = field(default_factory=set)
    _count: int = 0
    _held: list[CallOpened | CallArguments] | None = None

    def see(self, piece: Piece) -> list[Piece]:
        match piece:
            case CallOpened():
                if piece.name in self._names or (self.takes_one and self._names):
                    self._held = [piece]
                    return []
                return [self._begin(piece)]
            case CallArguments():
                if self._held is None:
                    return [replace(piece, index=self._count - 1)]
                self._held.append(piece)
                return []
            case ToolCallRequested():
                return self._end(piece)
            case _:
                return [piece]

    def _begin(self, opened: CallOpened) -> CallOpened:
        self._names.add(opened.name)
        self._count += 1
        return replace(opened, index=self._count - 1)

    def _end(self, piece: ToolCallRequested) -> list[Piece]:
        held, self._held = self._held, None
        call = piece.call
        made = json.dumps([call.name, call.arguments], sort_keys=True)
        is_more = held is not None or bool(self._made)
        if made in self._made or (self.takes_one and is_more):
            return []
        if held and not piece.valid:
            return []  # a call that was cut off is useless next to a whole one of the same tool
        self._names.add(call.name)
        self._made.add(made)
        return [*self._release(held or []), piece]

    def _release(self, held: list[CallOpened | CallArguments]) -> list[Piece]:
        return [
            self._begin(held_piece)
            if isinstance(held_piece, CallOpened)
            else replace(held_piece, index=self._count - 1)
            for held_piece in held
        ]


@dataclass(slots=True)
class _CheckedCalls:
    """Holds calls that do not fit their tool's schema, unless the client has seen part of them.

    So it checks calls of our own tools, and calls that came as a whole.
    """

    tools: dict[str, Tool]
    wrong: list[tuple[ToolCall, str]] = field(default_factory=list)
    """The calls that are held, and what is wrong with each."""
    held: list[Piece] = field(default_factory=list)
    _begun: list[Piece] = field(default_factory=list)

    def see(self, piece: Piece) -> list[Piece]:
        match piece:
            case CallOpened() if piece.is_whole or _is_ours(self.tools, piece.name):
                self._begun = [piece]
                return []
            case CallArguments() if self._begun:
                self._begun.append(piece)
                return []
            case ToolCallRequested() if self._begun or _is_ours(self.tools, piece.call.name):
                return self._check(piece)
            case _:
                return [piece]

    def _check(self, piece: ToolCallRequested) -> list[Piece]:
        made, self._begun = [*self._begun, piece], []
        tool = self.tools.get(piece.call.name)
        wrong = check.misfit(piece.call.arguments, tool.parameters) if tool else ""
        if not wrong or not piece.valid:
            return made
        self.wrong.append((piece.call, wrong))
        self.held += made
        return []


def _is_ours(tools: dict[str, Tool], name: str) -> bool:
    tool = tools.get(name)
    return tool is not None and tool.run is not None


class _Sieve:
    """Passes on the pieces of one turn of the model, without repeated calls.

    If arguments do not fit, the model is asked once more, and a grammar binds it to the tools'
    schemas. If that fails, the calls are passed on as they are.
    """

    def __init__(self, engine: Engine, request: ChatRequest) -> None:
        self._engine = engine
        self._request = request
        self._calls = _Calls(request.takes_one_call)
        self._checked = _CheckedCalls({tool.name: tool for tool in request.tools})

    async def see(self, piece: Piece) -> list[Piece]:
        if isinstance(piece, Finished) and self._checked.wrong:
            seen = await _ask_again(self._engine, self._request, self._checked, piece)
        else:
            seen = self._checked.see(piece)
        return [wanted for made in seen for wanted in self._calls.see(made)]


async def _ask_again(
    engine: Engine, request: ChatRequest, checked: _CheckedCalls, end: Finished
) -> list[Piece]:
    made: list[Piece] = []
    again = check.ask_again(request, checked.wrong)
    try:
        async with aclosing(engine.generate(again)) as pieces:
            async for piece in pieces:
                match piece:
                    case CallOpened() | CallArguments() | ToolCallRequested():
                        made.append(piece)
                    case Finished():
                        end = replace(end, usage=end.usage + piece.usage)
                        made.append(replace(piece, usage=end.usage))
    except AppError as error:
        log.info("a call that does not fit could not be asked for again: %s", error)
        made = []
    is_right = any(isinstance(piece, ToolCallRequested) and piece.valid for piece in made)
    return made if is_right else [*checked.held, end]


@dataclass(slots=True)
class _Turn:
    """One turn of the model: its text, the calls of our tools, and how it ended."""

    tools: dict[str, Tool]
    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    ours: list[ToolCall] = field(default_factory=list)
    theirs: bool = False
    hidden: set[int] = field(default_factory=set)
    end: Finished | None = None

    def see(self, piece: Piece) -> Event | None:
        match piece:
            case ToolCallRequested(call, valid):
                return self._request_call(call, valid=valid)
            case CallOpened(index, _, name) if _is_ours(self.tools, name):
                self.hidden.add(index)
            case CallArguments(index, _) if index in self.hidden:
                pass
            case Finished():
                self.end = piece
            case TextDelta(text):
                self.text.append(text)
                return piece
            case ReasoningDelta(text):
                self.thoughts.append(text)
                return piece
            case _:
                return piece
        return None

    def _request_call(self, call: ToolCall, *, valid: bool) -> Event | None:
        if valid and call.name in self.tools:
            check.check(call, self.tools[call.name])
        if _is_ours(self.tools, call.name) and valid:
            self.ours.append(call)
            return ToolCallStarted(call)
        self.theirs = True
        return ClientToolCall(call) if valid else None


def converse(means: Means, request: ChatRequest) -> Events:
    """Yields the events of the answer. Each choice ends with one Finished or Failed."""
    return _one(means, request) if request.choices == 1 else _several(means, request)


async def _one(means: Means, request: ChatRequest) -> AsyncGenerator[Event, None]:
    """Yields one answer: from a plugin's flow if one takes the question, else from the model."""
    choice = PluginChoice(means, request)
    try:
        async for note in choice.look():
            yield note
        async with aclosing(_answering(choice)) as events:
            async for event in events:
                yield event
    except AppError as error:
        yield Failed(error)


def _answering(choice: PluginChoice) -> AsyncGenerator[Event, None]:
    taken, means = choice.taken, choice.means
    if taken is None:
        return _turns(means, choice.request)
    return write_into_text(taken) if means.text_only else taken


async def _turns(means: Means, request: ChatRequest) -> AsyncGenerator[Event, None]:
    tools = {tool.name: tool for tool in request.tools}
    used = Usage()
    for _ in range(MAX_TURNS):
        turn, sieve = _Turn(tools), _Sieve(means.engine, request)
        async with aclosing(means.engine.generate(request)) as pieces:
            async for piece in pieces:
                for wanted in await sieve.see(piece):
                    event = turn.see(wanted)
                    if event is not None:
                        yield event
        if turn.end is None:
            raise AppError(Sentence("The model's answer ended without a reason."))
        used = used + turn.end.usage
        results = []
        for call in turn.ours:
            result = await _run_tool(tools[call.name], call)
            results.append(result)
            yield result
        if turn.theirs or not results:
            yield replace(turn.end, usage=used)
            return
        request = _with_results(request, turn, results)
    yield Finished("length", used)


async def _run_tool(tool: Tool, call: ToolCall) -> ToolCallFinished:
    assert tool.run is not None
    try:
        return ToolCallFinished(call.id, await tool.run(call.arguments))
    except AppError as error:
        return ToolCallFinished(call.id, str(error), failed=True)


def _with_results(
    request: ChatRequest, turn: _Turn, results: list[ToolCallFinished]
) -> ChatRequest:
    thought = "".join(turn.thoughts) or None
    text = "".join(turn.text)
    asked = Message("assistant", text, tool_calls=tuple(turn.ours), reasoning=thought)
    answers = tuple(
        Message("tool", result.result, tool_call_id=result.call_id, name=call.name)
        for call, result in zip(turn.ours, results, strict=True)
    )
    choice = replace(request.tool_choice, mode="auto", names=())
    return replace(request, messages=(*request.messages, asked, *answers), tool_choice=choice)


async def _several(means: Means, request: ChatRequest) -> AsyncGenerator[OfChoice, None]:
    """Yields several answers, generated in parallel. The engine reads their prompt once."""
    queue: asyncio.Queue[OfChoice] = asyncio.Queue()

    async def answer(index: int) -> None:
        seed = request.sampling.seed
        sampling = replace(request.sampling, seed=None if seed is None else seed + index)
        single = replace(request, choices=1, sampling=sampling)
        async with aclosing(_one(means, single)) as events:
            async for event in events:
                queue.put_nowait(OfChoice(index, event))

    def note_end(index: int, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            queue.put_nowait(
                OfChoice(index, Failed(AppError(Sentence("Something went wrong inside Moat."))))
            )

    tasks = [spawn(answer(index), f"choice {index}") for index in range(request.choices)]
    for index, task in enumerate(tasks):
        task.add_done_callback(partial(note_end, index))
    try:
        open_choices = request.choices
        while open_choices:
            item = await queue.get()
            open_choices -= isinstance(item.event, Finished | Failed)
            yield item
    finally:
        for task in tasks:
            await stop(task)
