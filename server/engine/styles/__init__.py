"""Tool-call styles: how each family of models writes its calls.

A model gets the style that the worker found by rendering its template; without that, the first in
`FORMATS` that fits the template's text. The last one, `generic`, fits every model.
"""

from dataclasses import replace
from functools import partial
from typing import Any, cast

from server.chat import ChatRequest
from server.engine.base import ModelFacts
from server.engine.styles import (
    gemma4,
    generic,
    gpt_oss,
    learned,
    llama3,
    minimax_m3,
    muse,
    plain,
    recipient,
    table,
)
from server.engine.styles.base import (
    Format,
    Prepared,
    starts_in_thought,
    text_marks,
    thought_marks,
    wants_tools,
)
from server.engine.styles.learned import Frame, Samples
from server.engine.styles.loose_calls import LooseCalls, asks_for_json, may_call_loosely
from server.engine.styles.shape import Shape, TurnMarks, prepare, script
from server.engine.styles.stream import ScriptParser

LEARNED = "learned"
"""The name of a style that is known only from what the template renders."""

FORMATS: tuple[Format, ...] = (
    muse.FORMAT,
    gpt_oss.FORMAT,
    recipient.FUNCTIONARY_V3_2,
    recipient.FUNCTIONARY_V2,
    table.FIREFUNCTION,
    minimax_m3.FORMAT,
    gemma4.FORMAT,
    gemma4.FUNCTION_GEMMA,
    table.LFM2,
    table.KIMI,
    table.DEEPSEEK_V4,
    table.DEEPSEEK_R1,
    table.DEEPSEEK,
    table.SEED,
    table.GLM,
    table.QWEN_CODER,
    table.NEMOTRON,
    table.APRIEL,
    table.MINIMAX_M1,
    table.APERTUS,
    table.COHERE,
    table.COMMAND_R,
    table.MISTRAL_SMALL,
    table.DEVSTRAL,
    table.MISTRAL_NEMO,
    table.GIGACHAT,
    table.GIGACHAT3,
    table.FUNCTIONARY_V3_1,
    table.PHI4,
    table.HERMES,
    table.GRANITE3,
    llama3.FORMAT,
    generic.FORMAT,
)
"""In the order in which they are tried: of similar styles, the more specific one comes first."""


def choose(facts: ModelFacts) -> Format:
    """Chooses the style for a model. Its parser also reads calls in other forms (`loose_calls`)."""
    style = _recognised_style(facts) or next(style for style in FORMATS if style.fits(facts))
    return Format(style.name, style.fits, partial(_prepare, style), style.always, style.shape)


def recognise(samples: Samples) -> dict[str, Any]:
    """Returns facts about a template's style, found in what the template renders.

    A known style that writes calls exactly as the template does is used unchanged. If only the mark
    is equal, the style adds what it knows of the family; spacing and values are the template's.
    """
    frame = learned.frame_of(samples)
    rendered = ModelFacts(template=samples.everything)
    known = next((style for style in FORMATS[:-1] if _fits(style, rendered, samples)), None)
    found: dict[str, Any] = {"style": known.name if known else ""}
    if frame.thoughts and not (known and known.always):
        found["thoughts"] = list(frame.thoughts)
    if frame.text and not (known and known.always):
        found["text_marks"] = list(frame.text)
    own = _own_shape(known, samples, frame)
    if own is not None:
        found |= {"style": found["style"] or LEARNED, "shape": learned.store(own)}
    return found


def _fits(style: Format, rendered: ModelFacts, samples: Samples) -> bool:
    """Whether the template renders the style's signs and begins its calls with its mark."""
    if not style.fits(rendered):
        return False
    unmarked = style.shape is None or not samples.shows_calls
    return unmarked or any(mark in samples.call for mark in style.shape.marks)


def _own_shape(known: Format | None, samples: Samples, frame: Frame) -> Shape | None:
    """Returns the shape learned from the template; None if the known style already writes it."""
    if known and (known.shape is None or learned.agrees(known.shape, samples, frame)):
        return None
    own = learned.calls_of(samples, frame)
    if own is None or known is None or known.shape.mark != own.mark:
        return own
    family: Shape = known.shape
    return replace(
        own,
        also=family.also,
        lead=family.lead,
        anywhere=family.anywhere,
        cuts_thought=family.cuts_thought,
        short_ids=family.short_ids,
    )


def _recognised_style(facts: ModelFacts) -> Format | None:
    """Returns the style that the worker found; None if it found neither a style nor calls."""
    found = facts.extra.get("template", {})
    if "style" not in found or not (found["style"] or found.get("calls")):
        return None
    name = found["style"] or generic.FORMAT.name
    known = next((style for style in FORMATS if style.name == name), generic.FORMAT)
    if not found.get("shape"):
        return known
    shape = learned.restore(found["shape"])
    return Format(name, known.fits, partial(prepare, shape), known.always, shape)


def _prepare(style: Format, request: ChatRequest, facts: ModelFacts) -> Prepared:
    used = style if style.always or wants_tools(request) else plain.FORMAT
    prepared = used.prepare(request, facts)
    is_bound = style.name == generic.FORMAT.name
    if may_call_loosely(request) and not is_bound and isinstance(prepared.parser, ScriptParser):
        if asks_for_json(request) and style.shape and _json_marks(style.shape):
            prepared = _with_json_as_text(prepared, style.shape, request, facts)
        cast("ScriptParser", prepared.parser).pass_through(LooseCalls(request))
    if request.continues and request.constraint is not None and not wants_tools(request):
        # The prompt already holds what a style writes before an answer.
        return replace(prepared, constraint=request.constraint, trigger=None)
    return prepared


def _json_marks(shape: Shape) -> tuple[str, ...]:
    """Returns the marks of the shape's calls with which ordinary JSON may also begin."""
    return tuple(mark for mark in shape.marks if mark.startswith(("{", "[{")))


def _with_json_as_text(
    prepared: Prepared, shape: Shape, request: ChatRequest, facts: ModelFacts
) -> Prepared:
    """Treats JSON that the user requested as text, although calls begin the same way."""
    turn = TurnMarks(thought_marks(facts), text_marks(facts), starts_in_thought(request, facts))
    marks = tuple(mark for mark in shape.marks if mark not in _json_marks(shape))
    if marks:
        tools = {tool.name: tool for tool in request.tools}
        read = script(replace(shape, mark=marks[0], also=marks, lead=None), tools, turn)
    else:
        read = plain.script(turn.thoughts, opened=turn.opened, around=turn.around)
    return replace(
        prepared,
        parser=ScriptParser(read, request.stop),
        constraint=None,
        trigger=None,
        trigger_lead=None,
        trigger_thought=None,
    )
