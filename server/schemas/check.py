"""Checks a call's arguments against the tool's schema, and asks again if they do not fit."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Any

from server.chat import ChatRequest, Json, Message, Tool, ToolCall, ToolChoice
from server.schemas.patterns import change_parts, matches, pattern_keywords
from server.system.lazy import Late

jsonschema = Late("jsonschema")
referencing = Late("referencing")

log = logging.getLogger(__name__)
MOST_STEPS = 10_000
FAULT = "The call was not made: {fault}. Call again with arguments that fit the schema."
UNCHECKED = frozenset({"format", "unevaluatedItems", "unevaluatedProperties", "$schema"})
"""Keywords that take long for few characters, or switch to another draft."""
LONGEST_CHECKED = 1_000
PATTERN_STEPS = 200
"""The steps that a pattern counts as: it is compiled and then followed byte by byte."""

Keyword = Callable[[Any, Any, Any, Any], Any]


class _TooLong(Exception):
    pass


def check(call: ToolCall, tool: Tool) -> None:
    """Logs what is wrong with a call, without its values. The client gets the call unchanged."""
    wrong = misfit(call.arguments, tool.parameters)
    if wrong:
        log.warning("a call of %s does not fit the tool's schema: %s", tool.name, wrong)


def ask_again(request: ChatRequest, wrong: Sequence[tuple[ToolCall, str]]) -> ChatRequest:
    """Returns the request with a report of each wrong call, limited to the tools they called."""
    calls = tuple(call for call, _ in wrong)
    faults = tuple(
        Message("tool", FAULT.format(fault=fault), tool_call_id=call.id, name=call.name)
        for call, fault in wrong
    )
    names = tuple(dict.fromkeys(call.name for call in calls))
    return replace(
        request,
        messages=(*request.messages, Message("assistant", "", tool_calls=calls), *faults),
        tool_choice=ToolChoice("required", names),
        parallel_calls=request.parallel_calls and len(calls) > 1,
    )


def misfit(value: Any, schema: Json) -> str:
    """Returns the first wrong place and the keyword it breaks; empty if nothing is wrong.

    It takes bounded time for any schema.
    """
    try:
        error = next(_validator(schema).iter_errors(value), None)
    except (_TooLong, RecursionError, jsonschema.exceptions.UnknownType):
        return ""
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return ""  # it is not a schema
    except referencing.exceptions.Unresolvable:
        return ""
    if error is None:
        return ""
    place = "/".join(map(str, error.absolute_path))
    return f"'{place}' breaks {error.validator}" if place else f"{error.validator} is broken"


def _validator(schema: Json) -> Any:
    draft = jsonschema.Draft202012Validator
    left = [MOST_STEPS]

    def is_found(pattern: str, text: str) -> bool:
        left[0] -= PATTERN_STEPS
        if left[0] < 0:
            raise _TooLong
        return len(text) > LONGEST_CHECKED or matches(pattern, text)

    keywords = {**draft.VALIDATORS, **pattern_keywords(is_found), "uniqueItems": _check_unique}
    counted = {name: _count_steps(keyword, left) for name, keyword in keywords.items()}
    made = jsonschema.validators.create(draft.META_SCHEMA, counted, type_checker=draft.TYPE_CHECKER)
    # The registry is empty, so that nothing a schema refers to is fetched.
    return made(_checkable(schema), registry=referencing.Registry())


def _check_unique(_validator: Any, is_wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Does what jsonschema does, but compares no pairs: that would take long for many items."""
    if is_wanted is True and isinstance(instance, list):
        texts = {json.dumps(_as_whole(item), sort_keys=True) for item in instance}
        if len(texts) < len(instance):
            yield jsonschema.ValidationError("an item is there twice")


def _as_whole(value: Any) -> Any:
    """Replaces numbers such as 1.0 by 1, which are the same in JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _as_whole(part) for name, part in value.items()}
    return [_as_whole(part) for part in value] if isinstance(value, list) else value


def _checkable(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {key: part for key, part in schema.items() if key not in UNCHECKED}
    return change_parts(kept, _checkable)


def _count_steps(keyword: Keyword, left: list[int]) -> Keyword:
    def check_keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        left[0] -= 1 + (len(value) if isinstance(value, Sized) else 0)
        if left[0] < 0:
            raise _TooLong
        yield from keyword(validator, value, instance, schema) or ()

    return check_keyword
