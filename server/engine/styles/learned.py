"""Learns a style from what a template renders: its marks, its spacing and the form of values.

The worker renders a few turns with words that occur nowhere else. This module takes the results
apart: the text around those words is what the model was trained to write around its own words.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

from server.chat import Json, Tool, ToolCall
from server.engine.styles.base import THOUGHTS
from server.engine.styles.json_body import JsonBody, NamedBody
from server.engine.styles.lark import COUNT, ID, SPACING
from server.engine.styles.python_body import VALUES, PythonBody
from server.engine.styles.shape import Shape
from server.engine.styles.stream import shared_end, shared_start
from server.engine.styles.tagged_body import TaggedBody, kind_of

ANSWER, THOUGHT, RESULT = "needle-answer", "needle-thought", "needle-result"
FIRST = ToolCall("needle001", "needle_first", {"alpha": "needle-text", "beta": 31})
SECOND = ToolCall("needle002", "needle_second", {"gamma": "needle-more", "delta": 57})
TYPED = ToolCall(
    "needle003",
    "needle_typed",
    {
        "line_a": "needle-line",
        "count_b": 47,
        "flag_c": True,
        "list_d": ["needle-item", 2],
        "dict_e": {"deep": "needle-deep", "off": False},
        "text_f": "needle-last",
    },
)
ODD = ToolCall("needle004", "needle_first", {"alpha": "needle <odd> & more\nlines", "beta": 31})
KINDS = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
COMPACT = (",", ":")
LONGEST_MARK = 120
"""In characters. A longer text is not a mark."""
BODIES: dict[str, Any] = {
    body.__name__: body for body in (JsonBody, NamedBody, PythonBody, TaggedBody)
}
TAG_END = re.compile(r"[>\]]|:(?=\s|$)")
FIRST_TAG = re.compile(r"\s*(<[^<>]*>|\[[^\[\]]*\])")
LETTER = re.compile("[A-Za-z]")
END_OF_TURN = re.compile(
    r"<[|｜]?(?:[^<>]*(?:eos|eot|eom|end[_▁]of|im_end)[^<>]*|end|calls?|return)[|｜]?>",
    re.IGNORECASE,
)
"""Matches the tokens that end a turn, by their usual names."""


def probe_tools(*calls: ToolCall) -> list[Tool]:
    """Declares the functions that the sample calls use."""
    return [_declare(call) for call in calls]


def _declare(call: ToolCall) -> Tool:
    properties: Json = {
        key: {"type": KINDS[type(value)], "description": "A value."}
        for key, value in call.arguments.items()
    }
    given = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(call.name, "A function.", given)


@dataclass(frozen=True, slots=True)
class Samples:
    """The assistant's turns as a template renders them. A turn that it refuses is empty."""

    whole: str = ""
    """A whole conversation with tools, a call and its result."""
    opening: str = ""
    """The text that the template adds where the assistant's turn begins."""
    answer: str = ""
    thought: str = ""
    """A thought followed by an answer."""
    call: str = ""
    calls: str = ""
    """Two calls."""
    text_call: str = ""
    """Text followed by a call."""
    thought_call: str = ""
    typed: str = ""
    """A call with a value of every type."""
    odd: str = ""
    """A call whose text contains special characters and several lines."""

    @property
    def everything(self) -> str:
        return "\n".join(getattr(self, field.name) for field in fields(self))

    @property
    def loses_quotes(self) -> bool:
        """Whether the template drops the quotes that a model writes in Python-style calls."""
        return f"{FIRST.name}(alpha={FIRST.arguments['alpha']}, beta" in self.call

    def with_quotes(self) -> "Samples":
        return self.replaced("=(needle-[a-z]+)", r'="\1"')

    def replaced(self, pattern: str, instead: str) -> "Samples":
        """Returns the samples with every match of the pattern replaced."""
        texts = (getattr(self, field.name) for field in fields(self))
        return Samples(*(re.sub(pattern, instead, text) for text in texts))

    @property
    def shows_calls(self) -> bool:
        return FIRST.name in self.call


@dataclass(frozen=True, slots=True)
class Frame:
    """The marks around thoughts and text."""

    thoughts: tuple[str, str] | None = None
    text: tuple[str, ...] = ()
    """The marks before text, after it and sometimes at the turn's end; empty if there are none."""
    tail: str = ""
    """The text at the end of a turn."""


def behind(text: str, start: str) -> str:
    """Returns the text without the start that it shares with `start`. Marks are not split."""
    size = len(shared_start(text, start))
    if size < len(start):
        opened = max(text.rfind(sign, 0, size) for sign in "<[")
        closed = max(text.rfind(sign, 0, size) for sign in ">]")
        size = opened if opened > closed else size
    return text[size:]


def frame_of(samples: Samples) -> Frame:
    before, found, after = samples.answer.partition(ANSWER)
    if not found:
        return Frame(_thoughts(samples, ""))
    text = _text_marks(samples, behind(before, samples.opening), after)
    thoughts = _thoughts(samples, text[0] if text else "")
    if not text:
        return Frame(thoughts, (), after)
    tail = after.lstrip().removeprefix(text[1])
    closing = END_OF_TURN.split(tail)[0].strip()
    return Frame(thoughts, (*text, closing) if closing else text, tail)


def _text_marks(samples: Samples, before: str, after: str) -> tuple[str, ...]:
    """Returns the marks around text; empty if the prompt already contains them."""
    if not before.strip():
        return ()
    _, shown, rest = samples.text_call.partition(ANSWER)
    first = FIRST_TAG.match(after)
    end = _whole_tags(shared_start(after, rest)) if shown else first[0] if first else ""
    if begin := _opening_of(before, end):
        return begin, end.strip()
    if first and not END_OF_TURN.match(first[1]) and (begin := _opening_of(before, first[1])):
        return begin, ""  # the calls of a turn stand between its marks
    alone = re.fullmatch(r"<\|[^<>]*\|>", before.strip())
    return (before.strip(), "") if alone and before.strip() not in samples.opening else ()


def _thoughts(samples: Samples, text_begin: str) -> tuple[str, str] | None:
    before, found, rest = samples.thought.partition(THOUGHT)
    if found:
        between = rest.partition(ANSWER)[0]
        end = (between.partition(text_begin)[0] if text_begin else between).strip()
    else:
        before, found, rest = samples.thought_call.partition(THOUGHT)
        tag = FIRST_TAG.match(rest) if found else None
        end = tag[1] if tag else ""
    header = samples.opening.strip().splitlines()[:1]
    if not LETTER.search(end) or (header and header[0] in end and not text_begin):
        return None
    begin = behind(before, samples.opening).strip() or _opening_of(before, end)
    return (begin, end) if begin and "\n" not in begin + end else None


def calls_of(samples: Samples, frame: Frame) -> Shape | None:
    """Returns the shape of calls; None if the template's form is irregular."""
    samples = samples.replaced("|".join(call.id for call in (FIRST, SECOND, TYPED, ODD)), ID)
    found = _find(samples.call, FIRST)
    if found is None or samples.call.count(FIRST.name) != 1:
        return None
    before = _before_calls(samples, frame, samples.call[: found.begin]).lstrip()
    after = _without_end(samples.call[found.end :], frame)
    shape = _shape(samples, found, before, after)
    whole = f"{before}{_text_of(samples.call, found)}{after}".replace(ID, FIRST.id)
    if shape is None or not _are_alike(shape, shape.write([FIRST]), whole):
        return None
    if max(map(len, shape.texts)) > LONGEST_MARK:
        return None
    return _with_values(shape, samples, frame)


def agrees(shape: Shape, samples: Samples, frame: Frame) -> bool:
    """Whether the shape writes calls exactly as the template does."""
    rendered = [([FIRST], samples.call), ([TYPED], samples.typed)]
    rendered += [] if shape.single else [([FIRST, SECOND], samples.calls)]
    return all(_is_written(shape, calls, text, frame) for calls, text in rendered if text)


def store(shape: Shape) -> Json:
    """Returns the shape as plain data that can be sent between processes."""
    return {**asdict(shape), "kind": type(shape.body).__name__}


def restore(data: Json) -> Shape:
    known = {field.name for field in fields(Shape)} - {"body"}
    body = BODIES[data["kind"]](**{key: _as_tuple(part) for key, part in data["body"].items()})
    return Shape(body, **{key: _as_tuple(data[key]) for key in known})


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value


class _Found(NamedTuple):
    """A call found in a text, with its place."""

    body: Any
    begin: int
    end: int


def _text_of(text: str, found: _Found) -> str:
    return text[found.begin : found.end]


def _find(text: str, call: ToolCall) -> _Found | None:
    at = text.find(call.name)
    if at < 0:
        return None
    return _in_json(text, call, at) or _in_python(text, call, at) or _in_tags(text, call, at)


def _in_json(text: str, call: ToolCall, at: int) -> _Found | None:
    """Finds a call with JSON arguments. The name is in the same object or right before it."""
    span = _json_span(text, call.arguments, at)
    if span is None:
        return None
    begin, end = span
    compact = json.dumps(call.arguments, ensure_ascii=False, separators=COMPACT)
    spaced = json.dumps(call.arguments, ensure_ascii=False, separators=SPACING)
    spacing = {compact: COMPACT, spaced: SPACING}.get(text[begin:end], ())
    middle = text[at + len(call.name) : begin]
    for opened in re.finditer("{", text[:at]):
        value, size = _decode(text[opened.start() :])
        keys = _keys(value, call)
        if keys and opened.start() + size >= end:
            close = opened.start() + size
            spelling = (text[opened.start() : at], middle, text[end:close])
            body = JsonBody(keys[0], keys[1], spelling=spelling, nest=keys[2], spacing=spacing)
            return _Found(body, opened.start(), close)
    named = NamedBody(between=middle, spacing=spacing) if middle and ID not in middle else None
    return _Found(named, at, end) if named else None


def _json_span(text: str, arguments: Json, at: int) -> tuple[int, int] | None:
    for opened in re.finditer("{", text[at:]):
        value, size = _decode(text[at + opened.start() :])
        if value == arguments:
            return at + opened.start(), at + opened.start() + size
    return None


def _decode(text: str) -> tuple[Any, int]:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0


def _keys(value: Any, call: ToolCall, nest: str = "") -> tuple[str, str, str] | None:
    """Returns the keys of the name, the arguments and the object that holds them."""
    if not isinstance(value, dict):
        return None
    names = [key for key, part in value.items() if part == call.name]
    given = [key for key, part in value.items() if part == call.arguments]
    if names and given:
        return names[0], given[0], nest
    inner = (_keys(part, call, key) for key, part in value.items() if not nest)
    return next(filter(None, inner), None)


def _in_python(text: str, call: ToolCall, at: int) -> _Found | None:
    for values in VALUES:
        body = PythonBody(values=values)
        if text.startswith(body.write(call), at):
            return _Found(body, at, at + len(body.write(call)))
    return None


def _in_tags(text: str, call: ToolCall, at: int) -> _Found | None:
    """Finds a call that has tags for each argument."""
    places = _places(text, call, at + len(call.name))
    if places is None or len(call.arguments) < 2:
        return None
    gaps = [text[before[1] : after[0]] for before, after in pairwise(places)]
    first, opened, again = gaps[0], gaps[1::2], gaps[2]
    key = _last_tag(shared_end(first, again))
    ending = again.removesuffix(key)
    if not key or not ending.strip() or "<" not in key + ending:
        return None
    rest = text[places[-1][1] :]
    if not rest.startswith(ending):
        space = ending[len(ending.rstrip()) :]
        key, ending = space + key, ending.rstrip()
    if not (rest.startswith(ending) and first.endswith(key)):
        return None
    middle = opened[0].rstrip(" \n")
    after = ending.lstrip(" \n")
    kinds = tuple(
        (kind_of(value), gap.rstrip(" \n"))
        for value, gap in zip(call.arguments.values(), opened, strict=True)
    )
    body = TaggedBody(
        name=("", first.removesuffix(key)),
        key=(key, middle),
        value=(opened[0][len(middle) :], ending[: len(ending) - len(after)]),
        end=after,
        closes="",
        kinds=tuple(dict(kinds).items()) if len({text for _, text in kinds}) > 1 else (),
    )
    return _Found(body, at, places[-1][1] + len(ending))


def _places(text: str, call: ToolCall, start: int) -> list[tuple[int, int]] | None:
    """Returns the places of the name's end and of each key and value; None if irregular."""
    places = [(start, start)]
    for key, value in call.arguments.items():
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for options in ((key,), dict.fromkeys((written, str(value)))):
            ends = [(text.find(part, places[-1][1]), part) for part in options]
            at, part = min((end for end in ends if end[0] >= 0), default=(-1, ""))
            if at < 0:
                return None
            places.append((at, at + len(part)))
        if text.count(key, start, places[-1][1]) != 1:
            return None
    return places


def _before_calls(samples: Samples, frame: Frame, before: str) -> str:
    """Returns the text that announces calls: it stands between ordinary text and the first call."""
    _, shown, rest = samples.text_call.partition(ANSWER)
    spoken = _find(rest, FIRST) if shown else None
    if spoken:
        announced = rest[: spoken.begin]
        announced = announced.removeprefix(frame.text[1]) if frame.text else announced
        if before.endswith(announced.lstrip()):
            return announced
    announced = behind(before, samples.opening)
    thoughts = [frame.thoughts, *THOUGHTS] if frame.thoughts else THOUGHTS
    for mark in (*(end for _, end in thoughts), *frame.text[1:2]):
        announced = announced.rpartition(mark)[2] if mark else announced
    return announced


def _shape(samples: Samples, found: _Found, before: str, after: str) -> Shape | None:
    """Finds the text before, between and after calls, from turns with one call and with two."""
    if SECOND.name not in samples.calls:
        return _with_mark(Shape(found.body, mark="", single=True), samples, before, after)
    first, second = _find(samples.calls, FIRST), _find(samples.calls, SECOND)
    body = _common_body(first.body, second.body) if first and second else None
    if body is None or first is None or second is None:
        return None
    between = samples.calls[first.end : second.begin]
    shape = Shape(body, mark="", count_from=_first_count(first.body, second.body))
    mark = _mark(samples, before)
    if mark and between.startswith(after) and between[len(after) :].lstrip() == before:
        gap = between[len(after) : len(between) - len(before)]
        return _with_mark(replace(shape, between=gap, repeats=True), samples, before, after)
    opening = _last_opening(shared_end(before, between))
    between = between.removesuffix(opening)
    ending = _whole_tags(shared_start(after, between))
    shape = replace(shape, call=(opening, ending), between=between.removeprefix(ending))
    return _with_mark(shape, samples, before.removesuffix(opening), after.removeprefix(ending))


def _common_body(first: Any, second: Any) -> Any:
    """Returns the body that both calls share; None if they differ in more than a number."""
    if isinstance(first, JsonBody) and isinstance(second, JsonBody):
        made = (_with_number(*pair) for pair in zip(first.spelling, second.spelling, strict=True))
        spelling = tuple(part for part in made if part is not None)
        return replace(first, spelling=spelling) if len(spelling) == len(first.spelling) else None
    if isinstance(first, TaggedBody) and isinstance(second, TaggedBody):
        after = _with_number(first.name[1], second.name[1])
        return replace(first, name=(first.name[0], after)) if after is not None else None
    return first if first == second else None


def _with_number(first: str, second: str) -> str | None:
    if first == second:
        return first
    parts, others = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(parts) != len(others) or parts[::2] != others[::2]:
        return None
    return "".join(
        part if part == other else COUNT for part, other in zip(parts, others, strict=True)
    )


def _first_count(first: Any, second: Any) -> int:
    """Returns the number of the first call; 0 if calls are not numbered."""
    for mine, other in zip(_texts(first), _texts(second), strict=True):
        if mine != other and _with_number(mine, other) is not None:
            pairs = zip(re.findall(r"\d+", mine), re.findall(r"\d+", other), strict=True)
            return next(int(number) for number, later in pairs if number != later)
    return 0


def _texts(body: Any) -> tuple[str, ...]:
    return (
        body.spelling
        if isinstance(body, JsonBody)
        else (body.name[1],)
        if isinstance(body, TaggedBody)
        else ()
    )


def _with_mark(shape: Shape, samples: Samples, before: str, after: str) -> Shape | None:
    """Adds the mark that announces calls; without one, the text before the name is used."""
    body, mark = shape.body, _mark(samples, before)
    if isinstance(body, TaggedBody) and not shape.call[1] and after.startswith("</"):
        closes = _whole_tags(after[: after.find(">") + 1])
        if after.removeprefix(closes).strip():
            body, after = replace(body, closes=closes), after.removeprefix(closes)
    elif isinstance(body, TaggedBody) and shape.call[1]:
        closes = shape.call[1].rstrip()
        body = replace(body, closes=closes)
        shape = replace(shape, call=(shape.call[0], shape.call[1].removeprefix(closes)))
    if mark:
        opens = before.removeprefix(mark)
        return replace(shape, body=body, mark=mark, opens=opens, closes=after)
    if isinstance(body, PythonBody) and before:
        body = replace(body, known_only=True)
        return replace(shape, body=body, mark=before, closes=after, lead="", weak=True)
    if not isinstance(body, JsonBody) or shape.call != ("", ""):
        return None
    head, middle, foot = body.spelling
    if {COUNT, ID} & {*head, *middle, *foot}:
        return None
    named = NamedBody(between=middle, after=foot, spacing=body.spacing)
    between = f"{shape.between}{head}"
    return replace(shape, body=named, mark=before + head, between=between, closes=after, lead="")


def _mark(samples: Samples, before: str) -> str:
    """Returns the shortest beginning of `before` that turns without calls do not contain."""
    plain = f"{samples.opening}\n{samples.answer}\n{samples.thought}"
    ends = [found.end() for found in TAG_END.finditer(before)]
    options = (before[:end] for end in ends if LETTER.search(before[:end]))
    own = next((mark for mark in options if mark not in plain), "")
    return own or (before.strip() if LETTER.search(before) else "")


def _with_values(shape: Shape, samples: Samples, frame: Frame) -> Shape | None:
    """Adds how values are written, as far as the typed sample confirms it."""
    if isinstance(shape.body, TaggedBody):
        shape = _with_tagged_values(shape, shape.body, samples)
    tried = [shape]
    if isinstance(shape.body, PythonBody):
        tried += [replace(shape, body=replace(shape.body, values=values)) for values in VALUES]
    typed_text = samples.typed
    fitting = (
        candidate
        for candidate in tried
        if not typed_text or _is_written(candidate, [TYPED], typed_text, frame)
    )
    return next(fitting, shape)


def _with_tagged_values(shape: Shape, body: TaggedBody, samples: Samples) -> Shape:
    typed = _find(samples.typed, TYPED)
    if typed and isinstance(typed.body, TaggedBody):
        call_text = _text_of(samples.typed, typed)
        python = f"{body.value[0]}True{body.value[1]}" in call_text
        body = replace(body, kinds=typed.body.kinds, python_words=python)
    before, found, after = samples.odd.partition(str(ODD.arguments["alpha"]))
    middle = f"{dict(body.kinds).get('string', body.key[1])}{body.value[0]}"
    if found and middle in before:
        wraps = (before.rpartition(middle)[2], after.partition(f"{body.value[1]}{body.end}")[0])
        body = replace(body, wraps=wraps)
    return replace(shape, body=body)


def _is_written(shape: Shape, calls: Sequence[ToolCall], text: str, frame: Frame) -> bool:
    rendered = _without_end(text.replace(ID, calls[0].id), frame).rstrip()
    made = shape.write(calls).rstrip()
    return _are_alike(shape, rendered[-len(made) :], made) or (
        not _spacing(shape) and _without_space(rendered).endswith(_without_space(made))
    )


def _are_alike(shape: Shape, text: str, other: str) -> bool:
    """Whether the texts are equal, without white space if arguments are spread over lines."""
    return text == other or (not _spacing(shape) and _without_space(text) == _without_space(other))


def _spacing(shape: Shape) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(shape.body, "spacing", SPACING)
    return found


def _without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


def _without_end(text: str, frame: Frame) -> str:
    """Removes the end of the turn. A turn with calls may have its own end token."""
    tail = frame.tail.strip()
    return END_OF_TURN.split(text.partition(tail)[0] if tail else text)[0]


def _last_tag(text: str) -> str:
    """Returns the text from the last mark on; empty if that contains no letter."""
    found = text[max(text.rfind("<"), text.rfind("[")) :] if re.search(r"[<\[]", text) else ""
    return found if LETTER.search(found) else ""


def _last_opening(text: str) -> str:
    """Returns the text from the last mark on; with an id, from the last mark before the id."""
    head, found, rest = text.partition(ID)
    return _last_tag(head) + found + rest if found else _last_tag(text)


def _whole_tags(text: str) -> str:
    """Returns the text up to the end of its last whole mark and the white space after it."""
    found = re.match(r"(?s).*[>\]]\s*", text)
    return found[0] if found and LETTER.search(found[0]) else ""


def _opening_of(text: str, end: str) -> str:
    """Returns the text from the last mark that shares a word with the closing mark."""
    words = sorted(re.findall("[A-Za-z]{3,}", end.lower()), key=len, reverse=True)
    text = text.rstrip()
    starts = [found.start() for found in re.finditer(r"[<\[]", text)]
    options = [text[start:] for start in reversed(starts)]
    found = (option for word in words for option in options if word in option.lower())
    return next(found, "")
