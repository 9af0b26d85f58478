"""The style without tools: the text is the answer, except for thoughts between their marks."""

import re
from collections.abc import Generator

from server.chat import ChatRequest, Constraint
from server.engine.base import ModelFacts
from server.engine.styles import lark, messages
from server.engine.styles.base import (
    Format,
    Prepared,
    abilities,
    is_token,
    special_ids,
    starts_in_thought,
    text_marks,
    thought_marks,
    visible,
)
from server.engine.styles.stream import SPACE, Emit, More, Reader, Script, ScriptParser

FIRST_TOKEN = re.compile(r"^(<\|[^<>]*>)")
"""Matches a special token at the start. Some models write it twice where a thought begins."""


def prepare(request: ChatRequest, facts: ModelFacts) -> Prepared:
    able = abilities(facts)
    marks = thought_marks(facts)
    around = text_marks(facts)
    opened = starts_in_thought(request, facts)
    constraint, trigger = _constraint(request.constraint, facts, opened=opened)
    marked = bool(marks or around)
    return Prepared(
        messages=messages.native(request.messages, able) if not request.is_raw else (),
        parser=ScriptParser(
            script(marks, opened=opened, around=around), request.stop if marked else ()
        ),
        constraint=constraint,
        trigger=trigger,
        visible_tokens=visible(facts, (*(marks or ()), *around)) if around else marks or (),
        stop=() if marked else request.stop,
    )


def script(marks: tuple[str, str] | None, *, opened: bool, around: tuple[str, ...] = ()) -> Script:
    def read(reader: Reader) -> More:
        if marks:
            think = trim(reader.think)
            yield from read_thought(reader, marks, think, opened=opened, cut_by=around[:1])
        say = trim(reader.say) if around else reader.say
        yield from read_text(reader, say, (), marks, around)

    return read


def read_text(
    reader: Reader,
    say: Emit,
    ends: tuple[str, ...],
    thoughts: tuple[str, str] | None,
    around: tuple[str, ...] = (),
) -> Generator[None, None, str | None]:
    """Emits text up to one of `ends`, without the marks around text and later thoughts."""
    later = thoughts if thoughts and is_token(thoughts[0]) else ()
    skipped = (*filter(None, around), *later[1:])
    while True:
        found = yield from reader.until((*ends, *skipped, *later[:1]), say)
        if found is None or found in ends:
            return found
        if later and found == later[0]:
            yield from reader.until((later[1],), trim(reader.think))


def read_thought(
    reader: Reader,
    marks: tuple[str, str],
    think: Emit,
    *,
    opened: bool,
    cut_by: tuple[str, ...] = (),
) -> Generator[None, None, str | None]:
    """Emits the thought at an answer's start. It ends at its mark or before one of `cut_by`.

    Returns the text that ended it; None if there is no thought or no end.
    """
    begin, end = marks
    begun = yield from reader.accept(begin, f"\n{begin}", FIRST_TOKEN.sub(r"\1\1", begin))
    if not (begun or opened):
        yield from reader.accept(end)
        return None
    found = yield from reader.until((end, *cut_by), think)
    if found and found != end:
        reader.text = found + reader.text
    else:
        yield from reader.skip_space()
    return found


def trim(emit: Emit) -> Emit:
    """Returns an emitter that drops white space at both ends of the whole text."""
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


def _constraint(
    constraint: Constraint | None, facts: ModelFacts, *, opened: bool
) -> tuple[Constraint | None, str | None]:
    """Returns the constraint and its trigger. The answer may still begin with a thought."""
    marks = thought_marks(facts)
    if constraint is None or marks is None:
        return constraint, None
    if opened:
        return constraint, marks[1]
    rule = lark.constraint_rule(constraint)
    around = text_marks(facts)
    before = around_rule(around, facts)
    source = f"start: thought? {before} answer\nanswer: {rule}\n{thought_rules(marks, facts)}"
    return Constraint("lark", source, constraint.strict), None


def around_rule(around: tuple[str, ...], facts: ModelFacts) -> str:
    """Returns grammar text for the optional mark before an answer's text."""
    return f"({lark.literal(around[0], special_ids(facts))})?" if around else ""


def thought_rules(marks: tuple[str, str], facts: ModelFacts) -> str:
    """Returns the rule `thought`: a whole thought, including its begin mark."""
    specials = special_ids(facts)
    ending = lark.text_until("thought_text", marks[1], specials)
    begin = lark.literal(marks[0], specials)
    return f"thought: /\\n?/ {begin} thought_text /\\n*/\n{ending}"


FORMAT = Format("plain", lambda _facts: True, prepare)
