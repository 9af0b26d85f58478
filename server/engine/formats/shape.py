"""A native style as data: the marks around calls, and what a call looks like between them."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from server.chat import ChatRequest, Constraint, Tool, ToolCall
from server.engine.base import ModelFacts
from server.engine.formats import lark, messages, plain
from server.engine.formats.abilities import (
    abilities,
    special_ids,
    starts_in_thought,
    thought_marks,
    visible,
)
from server.engine.formats.base import Format, Prepared
from server.engine.formats.choice import callable_tools, most_calls
from server.engine.formats.signatures import declared
from server.engine.formats.stream import SPACE, More, Reader, Script, ScriptParser

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
        return (self.mark, self.opens, *self.call, self.between, self.closes, *self.also)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Calls as the model would have said them."""
        made = [f"{self.call[0]}{self.body.write(call)}{self.call[1]}" for call in calls]
        if self.repeats:
            return self.between.join(f"{self.mark}{self.opens}{one}{self.closes}" for one in made)
        return f"{self.mark}{self.opens}{self.between.join(made)}{self.closes}"


def native(name: str, shape: Shape, *signs: str) -> Format:
    """The style of every template that has all the signs in it."""
    return Format(name, has(*signs), partial(prepare, shape))


def has(*signs: str) -> Callable[[ModelFacts], bool]:
    return lambda facts: all(sign in facts.template for sign in signs)


def prepare(shape: Shape, request: ChatRequest, facts: ModelFacts) -> Prepared:
    able = abilities(facts)
    thoughts = thought_marks(facts)
    opened = starts_in_thought(request, facts)
    constraint, trigger = bound(shape, request, facts, opened=opened)
    tools = {tool.name: tool for tool in request.tools}
    lazy = trigger == shape.mark
    skipped = thoughts if lazy and not shape.cuts_thought else None
    texts = (*shape.texts, *getattr(shape.body, "texts", ()), *(thoughts or ()))
    return Prepared(
        messages=messages.native(
            request.messages, able, short_ids=shape.short_ids, write=shape.write
        ),
        tools=tuple(declared(tool) for tool in request.tools),
        parser=ScriptParser(script(shape, tools, thoughts, opened=opened), request.stop),
        constraint=constraint,
        trigger=trigger,
        trigger_lead=shape.lead if lazy else None,
        trigger_thought=("" if opened else skipped[0], skipped[1]) if skipped else None,
        visible_tokens=visible(facts, texts),
    )


def bound(
    shape: Shape, request: ChatRequest, facts: ModelFacts, *, opened: bool
) -> tuple[Constraint, str | None]:
    """Bound from the start where the answer's form is given, else from the first mark on."""
    specials = special_ids(facts)
    thoughts = thought_marks(facts)
    after_thought = thoughts[1] if thoughts and opened else None
    forms = [f"space {lark.literal(shape.mark, specials)} calls"]
    rules = [*call_rules(shape, request, specials), "space: /[ \\n]{0,2}/"]
    if request.tool_choice.mode == "required":
        return _lark(forms, rules), after_thought
    if request.constraint is None:
        return _lark(["calls"], rules), shape.mark
    answer = lark.constraint_rule(request.constraint)
    return _lark([*forms, "answer"], [*rules, f"answer: {answer}"]), after_thought


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


def script(shape: Shape, tools: Tools, thoughts: tuple[str, str] | None, *, opened: bool) -> Script:
    def read(reader: Reader) -> More:
        if thoughts:
            cut_by = shape.marks if shape.cuts_thought else ()
            reader.keep()
            yield from plain.thought(reader, thoughts, opened=opened, cut_by=cut_by)
            if reader.ended and not reader.text and thoughts[1] not in reader.kept:
                reader.text = _unclosed_calls(shape, reader.kept)
        say = plain.trimmed(reader.say)
        yield from reader.skip_space()
        found = yield from reader.accept(*shape.marks)
        while found or (found := (yield from reader.until(shape.later, say))):
            reader.keep()
            if found in shape.also:
                reader.text = found + reader.text
            if not (yield from _calls(shape, reader, tools)):
                reader.text = reader.kept
                reader.take_back(found)
                say(found)
            found = None

    return read


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
    around = {text.strip() for text in (shape.opens, *shape.call, shape.closes, ",", "[")}
    if shape.repeats:
        around.add(shape.mark)
    options = sorted(filter(None, around), key=len, reverse=True)
    announced = shape.mark if shape.repeats else shape.call[0].strip()
    count = reader.calls
    while True:
        yield from reader.skip_space()
        seen = set()
        while found := (yield from reader.accept(*options)):
            seen.add(found)
            yield from reader.skip_space()
        if reader.calls > count and announced and announced not in seen:
            return True
        if not (yield from shape.body.read(reader, tools)):
            return reader.calls > count
        reader.close_call()


def _lark(forms: list[str], rules: list[str]) -> Constraint:
    source = f"start: {lark.any_of(forms)}\n" + "\n".join(rules) + "\n"
    return Constraint("lark", source, strict=False)
