"""Native styles as data: the marks around calls, and the form of the calls between them."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from server.chat import ChatRequest, Constraint, Tool, ToolCall
from server.engine.base import ModelFacts
from server.engine.styles import lark, messages, plain
from server.engine.styles.base import (
    Format,
    Prepared,
    abilities,
    callable_tools,
    most_calls,
    special_ids,
    starts_in_thought,
    text_marks,
    thought_marks,
    visible,
    wants_tools,
)
from server.engine.styles.parameters import declare
from server.engine.styles.stream import SPACE, More, Reader, Script, ScriptParser

Tools = Mapping[str, Tool]


class Body(Protocol):
    """The form of a call. `rules` define call_{at}; `read` returns whether there was a call."""

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]: ...
    def write(self, call: ToolCall) -> str: ...
    def read(self, reader: Reader, tools: Tools) -> Generator[None, None, bool]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    body: Body
    mark: str
    """Announces calls. A constraint that begins in mid-answer waits for it."""
    opens: str = ""
    call: tuple[str, str] = ("", "")
    between: str = ""
    closes: str = ""
    repeats: bool = False
    """Whether the mark stands before each call, instead of once before all calls."""
    also: tuple[str, ...] = ()
    """Other beginnings of calls, for models that omit the mark."""
    lead: str | None = None
    """The mark counts only at the answer's start or right after this text. None: anywhere."""
    anywhere: tuple[str, ...] = ()
    """The beginnings from `also` that count after any text."""
    cuts_thought: bool = False
    """Whether calls end an unclosed thought. In other styles they stay part of the thought."""
    short_ids: bool = False
    single: bool = False
    """Whether the template shows only one call at a time. The model then may make only one."""
    weak: bool = False
    """Whether the mark may also begin text. Then only a tool's name after it makes a call."""
    count_from: int = 0
    """The number of the first call, if the style counts calls."""

    @property
    def marks(self) -> tuple[str, ...]:
        return (self.mark, *self.also)

    @property
    def later(self) -> tuple[str, ...]:
        """The texts that announce calls after other text."""
        if self.lead is None:
            return self.marks
        return (f"{self.lead}{self.mark}", *self.anywhere) if self.lead else self.anywhere

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the shape itself, which may contain special tokens."""
        return (self.mark, self.opens, *self.call, self.between, self.closes, *self.also)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Writes calls as the model would write them."""
        numbered = enumerate(calls, self.count_from)
        made = [self._write_call(call, at) for at, call in numbered]
        if self.repeats:
            return self.between.join(made)
        return f"{self.mark}{self.opens}{self.between.join(made)}{self.closes}"

    def _write_call(self, call: ToolCall, at: int) -> str:
        made = f"{self.call[0]}{self.body.write(call)}{self.call[1]}"
        if self.repeats:
            made = f"{self.mark}{self.opens}{made}{self.closes}"
        return made.replace(lark.COUNT, str(at)).replace(lark.ID, call.id)


def native(name: str, shape: Shape, *signs: str) -> Format:
    """Returns the style for templates that contain all the signs."""
    return Format(name, has(*signs), partial(prepare, shape), shape=shape)


def has(*signs: str) -> Callable[[ModelFacts], bool]:
    return lambda facts: all(sign in facts.template for sign in signs)


def prepare(shape: Shape, request: ChatRequest, facts: ModelFacts) -> Prepared:
    able = abilities(facts)
    thoughts = thought_marks(facts)
    around = text_marks(facts)
    opened = starts_in_thought(request, facts)
    constraint, trigger = constraint_for(shape, request, facts, opened=opened)
    tools = {tool.name: tool for tool in request.tools}
    lazy = trigger == shape.mark
    skipped = thoughts if lazy and not shape.cuts_thought else None
    texts = (*shape.texts, *getattr(shape.body, "texts", ()), *(thoughts or ()), *around)
    turn = TurnMarks(thoughts, around, opened)
    return Prepared(
        messages=messages.native(
            request.messages,
            replace(able, single_call=able.single_call or shape.single),
            short_ids=shape.short_ids,
            write=shape.write,
        ),
        tools=tuple(declare(tool) for tool in request.tools),
        parser=ScriptParser(script(shape, tools, turn), request.stop),
        constraint=constraint,
        trigger=trigger,
        trigger_lead=shape.lead if lazy else None,
        trigger_thought=("" if opened else skipped[0], skipped[1]) if skipped else None,
        visible_tokens=visible(facts, texts),
    )


def prepare_parts(
    request: ChatRequest,
    facts: ModelFacts,
    script: Script,
    bound: tuple[Constraint | None, str | None],
    marks: Iterable[str],
) -> Prepared:
    """Prepares a request in a style whose answers consist of parts.

    `bound` is the constraint with its trigger. `marks` are texts that may contain special tokens.
    """
    tools = request.tools if wants_tools(request) else ()
    return Prepared(
        messages=messages.native(request.messages, abilities(facts)),
        tools=tuple(map(declare, tools)),
        parser=ScriptParser(script, request.stop),
        constraint=bound[0],
        trigger=bound[1],
        visible_tokens=visible(facts, marks),
    )


def constraint_for(
    shape: Shape, request: ChatRequest, facts: ModelFacts, *, opened: bool
) -> tuple[Constraint | None, str | None]:
    """Constrains from the start if the answer's form is given, else from the mark on."""
    specials = special_ids(facts)
    thoughts = thought_marks(facts)
    after_thought = thoughts[1] if thoughts and opened else None
    first = "thought? " if thoughts and not opened else ""
    mark = lark.literal(shape.mark, specials)
    forms = [f"{first}{_no_text(facts)} space {mark} calls {_turn_end(facts)}"]
    rules = [*call_rules(shape, request, specials), "space: /[ \\n]{0,4}/"]
    rules += [plain.thought_rules(thoughts, facts)] if thoughts and first else []
    if request.tool_choice.mode == "required":
        return lark.grammar(lark.any_of(forms), rules), after_thought
    if request.constraint is None:
        return (None, None) if shape.weak else (lark.grammar("calls", rules), shape.mark)
    answer = lark.constraint_rule(request.constraint)
    before = plain.around_rule(text_marks(facts), facts)
    forms.append(f"{first}{before} answer")
    return lark.grammar(lark.any_of(forms), [*rules, f"answer: {answer}"]), after_thought


def _no_text(facts: ModelFacts) -> str:
    """Returns grammar text for the marks of an empty text, which some models write before calls."""
    around = text_marks(facts)
    if not around:
        return ""
    begin, end = (lark.literal(text, special_ids(facts)) for text in around[:2])
    return f"(({begin})? {end})?" if around[1] else f"({begin})?"


def _turn_end(facts: ModelFacts) -> str:
    """Returns grammar text for the closing mark that some models write at the end of a turn."""
    closing = [lark.literal(text, special_ids(facts)) for text in text_marks(facts)[2:]]
    return f"({closing[0]})?" if closing else ""


def call_rules(shape: Shape, request: ChatRequest, specials: Mapping[str, int]) -> list[str]:
    tools = callable_tools(request)
    before, after, between, opens, closes, mark = (
        lark.literal(text, specials)
        for text in (*shape.call, shape.between, shape.opens, shape.closes, shape.mark)
    )
    rules = [rule for at, tool in enumerate(tools) for rule in shape.body.rules(at, tool, specials)]
    rules.append(f"call: {before} ({lark.any_call(tools)}) {after}")
    if shape.between and shape.closes.startswith(shape.between):
        # The lexer is greedy: marks with a common beginning must share it.
        closes = f"{between} {lark.literal(shape.closes.removeprefix(shape.between), specials)}"
    most = 1 if shape.single else most_calls(request)
    if shape.repeats:
        gap = f"({between})?" if between else ""
        again = f"({gap} {mark} {opens} call {closes}){{0,{most - 1}}}" if most > 1 else ""
        return [*rules, f"calls: {opens} call {closes} {again}"]
    return [*rules, f"calls: {opens} {lark.repeat('call', between, most)} {closes}"]


@dataclass(frozen=True, slots=True)
class TurnMarks:
    """The marks in an answer, other than those of calls."""

    thoughts: tuple[str, str] | None = None
    around: tuple[str, ...] = ()
    opened: bool = False
    """Whether the prompt ends within a thought."""


def script(shape: Shape, tools: Tools, turn: TurnMarks) -> Script:
    def read(reader: Reader) -> More:
        if turn.thoughts:
            yield from _read_thought(shape, reader, turn.thoughts, turn)
        say = plain.trim(reader.say)
        yield from reader.skip_space()
        while (yield from reader.accept(*filter(None, turn.around))):
            yield from reader.skip_space()
        found = yield from reader.accept(*shape.marks)
        while True:
            if not found:
                found = yield from plain.read_text(
                    reader, say, shape.later, turn.thoughts, turn.around
                )
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


def _read_thought(shape: Shape, reader: Reader, marks: tuple[str, str], turn: TurnMarks) -> More:
    """Reads a thought. A call in an endless thought counts: the model waits for its result."""
    think = plain.trim(reader.think)
    cut_by = (*turn.around[:1], *(shape.marks if shape.cuts_thought else (shape.mark,)))
    ended = yield from plain.read_thought(reader, marks, think, opened=turn.opened, cut_by=cut_by)
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
    """Returns the calls at the end of a thought without an end mark."""
    begin, closes = len(thought), shape.closes.strip()
    while closes and thought[:begin].rstrip(SPACE).endswith(closes):
        at = thought.rfind(shape.mark, 0, begin)
        if at < 0:
            break
        begin = at
    return thought[begin:]


def _calls(shape: Shape, reader: Reader, tools: Tools) -> Generator[None, None, bool]:
    """Reads calls and the shape's texts around them. Returns whether there were any."""
    texts = [shape.opens, *shape.call, shape.between, shape.closes, ",", "["]
    texts += [shape.mark] if shape.repeats else []
    if "[" in shape.opens:
        # The list's closing bracket may stand on a separate line.
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
