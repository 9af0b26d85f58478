"""A native style as data: the marks around calls, and what a call looks like between them."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from server.chat import ChatRequest, Constraint, Tool, ToolCall
from server.engine.base import ModelFacts
from server.engine.styles import lark, messages, plain
from server.engine.styles.abilities import (
    abilities,
    special_ids,
    starts_in_thought,
    text_marks,
    thought_marks,
    visible,
)
from server.engine.styles.base import Format, Prepared, callable_tools, most_calls
from server.engine.styles.signatures import declared
from server.engine.styles.stream import SPACE, More, Reader, Script, ScriptParser

Tools = Mapping[str, Tool]


class Body(Protocol):
    """One call. `rules` define call_{at}; `read` tells whether there was one."""

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]: ...
    def write(self, call: ToolCall) -> str: ...
    def read(self, reader: Reader, tools: Tools) -> Generator[None, None, bool]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    body: Body
    mark: str
    """Announces calls: what a lazy constraint waits for."""
    opens: str = ""
    call: tuple[str, str] = ("", "")
    between: str = ""
    closes: str = ""
    repeats: bool = False
    """The mark stands before each call, not once before all."""
    also: tuple[str, ...] = ()
    """Other texts calls begin with when a model forgets the mark."""
    lead: str | None = None
    """The mark counts only where an answer begins, or right behind this; None: everywhere."""
    anywhere: tuple[str, ...] = ()
    """Of `also`, what counts behind any text all the same."""
    cuts_thought: bool = False
    """Calls end a thought that was not closed; with the others, it is only thought about."""
    short_ids: bool = False
    single: bool = False
    """The template shows one call at a time, so the model may make one."""
    weak: bool = False
    """The mark may begin an answer, too: only a tool's name behind it makes a call."""
    count_from: int = 0
    """The number of the first call, in a style that counts them."""

    @property
    def marks(self) -> tuple[str, ...]:
        return (self.mark, *self.also)

    @property
    def later(self) -> tuple[str, ...]:
        """What announces calls when something else was said first."""
        if self.lead is None:
            return self.marks
        return (f"{self.lead}{self.mark}", *self.anywhere) if self.lead else self.anywhere

    @property
    def texts(self) -> tuple[str, ...]:
        """All of its own text, where special tokens may be."""
        return (self.mark, self.opens, *self.call, self.between, self.closes, *self.also)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Calls as the model would have said them."""
        numbered = enumerate(calls, self.count_from)
        made = [self._written(call, at) for at, call in numbered]
        if self.repeats:
            return self.between.join(made)
        return f"{self.mark}{self.opens}{self.between.join(made)}{self.closes}"

    def _written(self, call: ToolCall, at: int) -> str:
        made = f"{self.call[0]}{self.body.write(call)}{self.call[1]}"
        if self.repeats:
            made = f"{self.mark}{self.opens}{made}{self.closes}"
        return made.replace(lark.COUNT, str(at)).replace(lark.ID, call.id)


def native(name: str, shape: Shape, *signs: str) -> Format:
    """The style of every template that has all the signs in it."""
    return Format(name, has(*signs), partial(prepare, shape), shape=shape)


def has(*signs: str) -> Callable[[ModelFacts], bool]:
    return lambda facts: all(sign in facts.template for sign in signs)


def prepare(shape: Shape, request: ChatRequest, facts: ModelFacts) -> Prepared:
    able = abilities(facts)
    thoughts = thought_marks(facts)
    around = text_marks(facts)
    opened = starts_in_thought(request, facts)
    constraint, trigger = bound(shape, request, facts, opened=opened)
    tools = {tool.name: tool for tool in request.tools}
    lazy = trigger == shape.mark
    skipped = thoughts if lazy and not shape.cuts_thought else None
    texts = (*shape.texts, *getattr(shape.body, "texts", ()), *(thoughts or ()), *around)
    turn = Turn(thoughts, around, opened)
    return Prepared(
        messages=messages.native(
            request.messages,
            replace(able, single_call=able.single_call or shape.single),
            short_ids=shape.short_ids,
            write=shape.write,
        ),
        tools=tuple(declared(tool) for tool in request.tools),
        parser=ScriptParser(script(shape, tools, turn), request.stop),
        constraint=constraint,
        trigger=trigger,
        trigger_lead=shape.lead if lazy else None,
        trigger_thought=("" if opened else skipped[0], skipped[1]) if skipped else None,
        visible_tokens=visible(facts, texts),
    )


def bound(
    shape: Shape, request: ChatRequest, facts: ModelFacts, *, opened: bool
) -> tuple[Constraint | None, str | None]:
    """Bound from the start where the answer's form is given, else from the first mark on."""
    specials = special_ids(facts)
    thoughts = thought_marks(facts)
    after_thought = thoughts[1] if thoughts and opened else None
    first = "thought? " if thoughts and not opened else ""
    mark = lark.literal(shape.mark, specials)
    forms = [f"{first}{_no_text(facts)} space {mark} calls {_turn_end(facts)}"]
    rules = [*call_rules(shape, request, specials), "space: /[ \\n]{0,4}/"]
    rules += [plain.thought_rules(thoughts, facts)] if thoughts and first else []
    if request.tool_choice.mode == "required":
        return _lark(forms, rules), after_thought
    if request.constraint is None:
        return (None, None) if shape.weak else (_lark(["calls"], rules), shape.mark)
    answer = lark.constraint_rule(request.constraint)
    before = plain.around_rule(text_marks(facts), facts)
    forms.append(f"{first}{before} answer")
    return _lark(forms, [*rules, f"answer: {answer}"]), after_thought


def _no_text(facts: ModelFacts) -> str:
    """The marks of an empty text, which some models write before calls."""
    around = [lark.literal(text, special_ids(facts)) for text in text_marks(facts)]
    return f"(({around[0]})? {around[1]})?" if around and around[1] else ""


def _turn_end(facts: ModelFacts) -> str:
    """What some models write at the end of a turn, calls or not."""
    closing = [lark.literal(text, special_ids(facts)) for text in text_marks(facts)[2:]]
    return f"({closing[0]})?" if closing else ""


def call_rules(shape: Shape, request: ChatRequest, specials: Mapping[str, int]) -> list[str]:
    tools = callable_tools(request)
    before, after, between, opens, closes, mark = (
        lark.literal(text, specials)
        for text in (*shape.call, shape.between, shape.opens, shape.closes, shape.mark)
    )
    rules = [rule for at, tool in enumerate(tools) for rule in shape.body.rules(at, tool, specials)]
    any_call = lark.any_of([f"call_{at}" for at in range(len(tools))])
    rules.append(f"call: {before} ({any_call}) {after}")
    if shape.between and shape.closes.startswith(shape.between):
        # The lexer is greedy: where one mark begins another, they must share that beginning.
        closes = f"{between} {lark.literal(shape.closes.removeprefix(shape.between), specials)}"
    most = 1 if shape.single else most_calls(request)
    if shape.repeats:
        gap = f"({between})?" if between else ""
        again = f"({gap} {mark} {opens} call {closes}){{0,{most - 1}}}" if most > 1 else ""
        return [*rules, f"calls: {opens} call {closes} {again}"]
    return [*rules, f"calls: {opens} {lark.repeated('call', between, most)} {closes}"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What stands in an answer beside calls: the marks of thoughts and of text."""

    thoughts: tuple[str, str] | None = None
    around: tuple[str, ...] = ()
    opened: bool = False
    """The prompt ends inside a thought."""


def script(shape: Shape, tools: Tools, turn: Turn) -> Script:
    def read(reader: Reader) -> More:
        if turn.thoughts:
            yield from _thought(shape, reader, turn.thoughts, turn)
        say = plain.trimmed(reader.say)
        yield from reader.skip_space()
        while (yield from reader.accept(*filter(None, turn.around))):
            yield from reader.skip_space()
        found = yield from reader.accept(*shape.marks)
        while True:
            if not found:
                found = yield from plain.said(reader, say, shape.later, turn.thoughts, turn.around)
            if not found:
                return
            reader.keep()
            if found in shape.also:
                reader.text = found + reader.text
            if not (yield from _calls(shape, reader, tools)):
                reader.text = reader.kept
                reader.take_back(found)
                say(found)
            found = None

    return read


def _thought(shape: Shape, reader: Reader, marks: tuple[str, str], turn: Turn) -> More:
    """A call in a thought is a call where the thought never ends: the model waits for a result."""
    think = plain.trimmed(reader.think)
    cut_by = (*turn.around[:1], *(shape.marks if shape.cuts_thought else (shape.mark,)))
    ended = yield from plain.thought(reader, marks, think, opened=turn.opened, cut_by=cut_by)
    if ended != shape.mark or shape.cuts_thought:
        return
    parts: list[str] = []
    closed = yield from reader.until(marks[1:], parts.append)
    rest = "".join(parts)
    calls = "" if closed else _unclosed_calls(shape, rest)
    think(rest.removesuffix(calls))
    reader.text = calls + reader.text
    yield from reader.skip_space()


def _unclosed_calls(shape: Shape, thought: str) -> str:
    """The calls that a thought without an end stops at: the model waits for their results."""
    begin, closes = len(thought), shape.closes.strip()
    while closes and thought[:begin].rstrip(SPACE).endswith(closes):
        at = thought.rfind(shape.mark, 0, begin)
        if at < 0:
            break
        begin = at
    return thought[begin:]


def _calls(shape: Shape, reader: Reader, tools: Tools) -> Generator[None, None, bool]:
    """Reads calls and whatever of the shape's own text stands around them."""
    texts = [shape.opens, *shape.call, shape.between, shape.closes, ",", "["]
    texts += [shape.mark] if shape.repeats else []
    if "[" in shape.opens:
        # The list may end on a line of its own.
        texts += ["]", shape.closes.strip().removeprefix("]")]
    around = dict(lark.split_any(text.strip()) for text in texts)
    options = tuple(filter(None, around))
    announced = shape.mark if shape.repeats else lark.split_any(shape.call[0].strip())[0]
    count = reader.calls
    while True:
        yield from reader.skip_space()
        seen = set()
        while found := (yield from reader.accept(*options)):
            seen.add(found)
            if around[found]:
                yield from reader.until((around[found],), reader.skip)
            yield from reader.skip_space()
        if reader.calls > count and announced and announced not in seen:
            return True
        if not (yield from shape.body.read(reader, tools)):
            return reader.calls > count
        reader.close_call()


def _lark(forms: list[str], rules: list[str]) -> Constraint:
    source = f"start: {lark.any_of(forms)}\n" + "\n".join(rules) + "\n"
    return Constraint("lark", source, strict=False)
