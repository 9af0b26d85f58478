"""No tools: the text is the answer, and what stands in the model's thought marks is reasoning."""

from server.chat import ChatRequest, Constraint
from server.engine.base import ModelFacts
from server.engine.formats import lark, messages
from server.engine.formats.abilities import (
    abilities,
    special_ids,
    starts_in_thought,
    thought_marks,
)
from server.engine.formats.base import Format, Prepared
from server.engine.formats.stream import SPACE, Emit, More, Reader, Script, ScriptParser


def prepare(request: ChatRequest, facts: ModelFacts) -> Prepared:
    able = abilities(facts)
    marks = thought_marks(facts)
    opened = starts_in_thought(request, facts)
    constraint, trigger = _bound(request.constraint, facts, opened=opened)
    return Prepared(
        messages=messages.native(request.messages, able) if not request.is_raw else (),
        parser=ScriptParser(script(marks, opened=opened), request.stop if marks else ()),
        constraint=constraint,
        trigger=trigger,
        visible_tokens=marks or (),
        stop=() if marks else request.stop,
    )


def script(marks: tuple[str, str] | None, *, opened: bool) -> Script:
    def read(reader: Reader) -> More:
        if marks:
            yield from thought(reader, marks, opened=opened)
        yield from reader.until((), reader.say)

    return read


def thought(
    reader: Reader, marks: tuple[str, str], *, opened: bool, cut_by: tuple[str, ...] = ()
) -> More:
    """The thought a model may begin with; it ends at its mark or before one of `cut_by`."""
    begin, end = marks
    begun = yield from reader.accept(begin, f"\n{begin}")
    if not (begun or opened):
        yield from reader.accept(end)
        return
    found = yield from reader.until((end, *cut_by), trimmed(reader.think))
    if found and found != end:
        reader.text = found + reader.text
    yield from reader.skip_space()


def trimmed(emit: Emit) -> Emit:
    """Emits without white space at either end, whatever the cuts."""
    waiting = ""
    begun = False

    def emit_trimmed(text: str) -> None:
        nonlocal waiting, begun
        text = waiting + text if begun else (waiting + text).lstrip(SPACE)
        kept = text.rstrip(SPACE)
        waiting = text[len(kept) :]
        begun = begun or bool(kept)
        emit(kept)

    return emit_trimmed


def _bound(
    constraint: Constraint | None, facts: ModelFacts, *, opened: bool
) -> tuple[Constraint | None, str | None]:
    """An answer that must match something may still be thought about first."""
    marks = thought_marks(facts)
    if constraint is None or marks is None:
        return constraint, None
    if opened:
        return constraint, marks[1]
    rule = lark.constraint_rule(constraint)
    begin = lark.literal(marks[0], special_ids(facts))
    ending = lark.text_until("thought_text", marks[1], special_ids(facts))
    source = (
        f"start: thought? answer\nthought: {begin} thought_text /\\n*/\nanswer: {rule}\n{ending}"
    )
    return Constraint("lark", source, constraint.strict), None


FORMAT = Format("plain", lambda _facts: True, prepare)
