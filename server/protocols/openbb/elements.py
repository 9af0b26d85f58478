"""Reads the client's data in all its forms: lists of items, old contents, errors, results."""

import re
from typing import Any

from server.chat import Json
from server.dashboard.query import Element, Entry, Item
from server.protocols.fields import parse

PROBLEM_CHARACTERS = 300
MOST_FAILURE = 20_000
"""The most characters of a failure: a longer text is data."""
FAILURE = re.compile(r'^\s*\{.*"(?:isError|error_type)"', re.DOTALL)
WHY = ("content", "message", "error", "error_type")
"""The fields that may hold the reason of a failure, best first."""
OWN_NAME = re.compile(r"_[0-9a-f]{6}$")
"""The end of a name that our writer made."""
ARTIFACTS = frozenset({"chart", "table", "html"})


def read_elements(data: Any, content: Any) -> tuple[Element, ...]:
    """Reads the elements of a tool message. Its `content` counts if `data` is empty."""
    if isinstance(data, list):
        return tuple(read_element(entry) for entry in data)
    if isinstance(data, dict):
        found = read_element(data)
        if found.items or found.problem or found.outcome:
            return (found,)
    if isinstance(data, str) and data:
        return (Element((Item(data),)),)
    if isinstance(content, str) and content:
        return (Element((Item(content),)),)
    return (Element(),)


def read_element(element: Any) -> Element:
    if not isinstance(element, dict):
        return Element((Item(element),)) if isinstance(element, str) else Element()
    if "error_type" in element:
        return Element(problem=_problem(element))
    if isinstance(element.get("items"), list):
        items = [_item(entry) for entry in element["items"] if isinstance(entry, dict)]
        return _element_of(items, _objects(element.get("extra_citations")))
    alone = _item(element)
    if alone.content or alone.url:
        return _element_of([alone])
    return _outcome(element) if "status" in element else Element()


def read_context(context: Any) -> tuple[Entry, ...]:
    """Reads a list of entries, with data in the new or the old form, or one plain text."""
    if isinstance(context, str):
        return (Entry("Context", "", Element((Item(context),))),) if context.strip() else ()
    if not isinstance(context, list):
        return ()
    return tuple(_entry(entry) for entry in context if isinstance(entry, dict | str))


def _entry(entry: Json | str) -> Entry:
    if isinstance(entry, str):
        return Entry("Context", "", Element((Item(entry),)))
    element = read_elements(entry.get("data"), entry.get("content"))[0]
    name = _text(entry.get("name")) or "Context"
    is_artifact = any(item.read_as in ARTIFACTS for item in element.items)
    is_own = is_artifact and OWN_NAME.search(name) is not None
    return Entry(name, _text(entry.get("description")), element, is_own)


def _item(item: Json) -> Item:
    form = item.get("data_format")
    form = form if isinstance(form, dict) else {}
    content = item.get("content")
    return Item(
        content if isinstance(content, str) else "",
        _text(form.get("data_type")).lower(),
        _text(form.get("parse_as")).lower(),
        _text(form.get("filename")),
        _text(item.get("url")),
    )


def _element_of(items: list[Item], citations: tuple[Json, ...] = ()) -> Element:
    """A client's tool may report in its content that it failed."""
    failures = [_failure(item) for item in items]
    kept = tuple(item for item, why in zip(items, failures, strict=True) if not why)
    return Element(kept, "; ".join(filter(None, failures)), citations=citations)


def _failure(item: Item) -> str:
    if len(item.content) > MOST_FAILURE or not FAILURE.search(item.content):
        return ""
    found = parse(item.content)
    if not isinstance(found, dict):
        return ""
    has_failed = found.get("isError") is True or isinstance(found.get("error_type"), str)
    return _problem(found) if has_failed else ""


def _outcome(element: Json) -> Element:
    status, message = element.get("status"), _text(element.get("message"))
    if status == "error":
        return Element(problem=message[:PROBLEM_CHARACTERS] or "The client reports an error.")
    return Element(outcome={"status": status, "message": message, "data": element.get("data")})


def _problem(element: Json) -> str:
    reason = next(
        filter(None, (_reason_text(element.get(field)) for field in WHY)), "unknown error"
    )
    return " ".join(reason.split())[:PROBLEM_CHARACTERS]


def _reason_text(found: Any) -> str:
    """Reads a text, or the texts of MCP's parts."""
    if isinstance(found, list):
        return " ".join(_text(part.get("text")) for part in _objects(found))
    return _text(found)


def _objects(found: Any) -> tuple[Json, ...]:
    return (
        tuple(entry for entry in found if isinstance(entry, dict))
        if isinstance(found, list)
        else ()
    )


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""
