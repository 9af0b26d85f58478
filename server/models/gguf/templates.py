"""Warns about chat templates, which are code from strangers.

Compares a template with the one its makers publish, and looks for parts that resemble back doors.
"""

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import SandboxedEnvironment

from server.face.models import TemplateNote
from server.models.gguf.header import Header
from server.sentences import Sentence

KNOWN = Path(__file__).resolve().parents[3] / "resources" / "templates"
MOST_CHARACTERS = 256 * 1024
MOST_DIFF_LINES = 400
ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|file|data|javascript):[^\s'\"<>]{3,}")
WORDS = re.compile(r"[^\W\d_]{3,}")
MARKS = re.compile(r"[<>\[\]{}|`\\]|^/?(no_?)?think$|^(none|null|true|false)$", re.IGNORECASE)
GENERATION = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")
"""A tag of training tools. It does not change the rendered text."""
CLOCKS = {"strftime_now", "now"}


def notes(header: Header) -> tuple[TemplateNote, ...]:
    """Returns warnings, the most important first; empty if the template is the published one."""
    template = header.template
    if not template:
        if header.is_embedder:
            return ()
        return (
            TemplateNote(
                "missing", Sentence("The file has no chat template; a plain one is used.")
            ),
        )
    known = _known_for(header)
    if known is not None and _plain(known) == _plain(template):
        return ()
    found = list(_oddities(template))
    if known is not None:
        found.append(compare(known, template))
    return tuple(found)


def compare(known: str, template: str) -> TemplateNote:
    text = Sentence("The chat template is not the one the model's makers publish.")
    return TemplateNote("differs", text, diff(known, template))


def diff(known: str, template: str) -> str:
    lines = difflib.unified_diff(
        known.splitlines(), template.splitlines(), "as published", "in this file", lineterm="", n=2
    )
    return "\n".join(line for line, _ in zip(lines, range(MOST_DIFF_LINES), strict=False))


def _oddities(template: str) -> Iterator[TemplateNote]:
    if len(template) > MOST_CHARACTERS:
        yield TemplateNote(
            "unreadable", Sentence("The chat template is far longer than any known one.")
        )
        return
    for address in dict.fromkeys(ADDRESS.findall(template)):
        yield TemplateNote(
            "address", Sentence("The chat template contains the address {0}.", address[:120])
        )
    try:
        tree = SandboxedEnvironment(extensions=["jinja2.ext.loopcontrols"]).parse(
            GENERATION.sub("", template)
        )
    except (TemplateSyntaxError, RecursionError):
        yield TemplateNote("unreadable", Sentence("The chat template cannot be read."))
        return
    yield from _gates(tree)


def _gates(tree: nodes.Template) -> Iterator[TemplateNote]:
    """Yields branches that depend on a message's text or on the date, as back doors do."""
    carriers = _content_names(tree)
    tests = [branch.test for branch in tree.find_all(nodes.If)]
    tests += [choice.test for choice in tree.find_all(nodes.CondExpr)]
    seen: set[str] = set()
    for test in tests:
        if not _reads_content(test, carriers):
            continue
        for text in _plain_texts(test):
            if text not in seen:
                seen.add(text)
                yield TemplateNote(
                    "content",
                    Sentence(
                        "The chat template acts differently when a message holds “{0}”.", text[:80]
                    ),
                    Sentence("line {0}", test.lineno),
                )
    for test in tests:
        called = {name.name for name in test.find_all(nodes.Name)} & CLOCKS
        if called and any(isinstance(node, nodes.Compare) for node in _with_self(test)):
            text = Sentence("The chat template acts differently at certain dates.")
            yield TemplateNote("content", text, Sentence("line {0}", test.lineno))


def _content_names(tree: nodes.Template) -> set[str]:
    """Returns the variables that hold a message's text or a value derived from it."""
    names = {"content"}
    for _ in range(3):
        for assigned in tree.find_all(nodes.Assign):
            if isinstance(assigned.target, nodes.Name) and _reads_content(assigned.node, names):
                names.add(assigned.target.name)
    return names


def _reads_content(node: nodes.Node, names: set[str]) -> bool:
    for part in _with_self(node):
        if isinstance(part, nodes.Getattr) and part.attr == "content":
            return True
        if isinstance(part, nodes.Getitem) and _constant(part.arg) == "content":
            return True
        if isinstance(part, nodes.Name) and part.name in names:
            return True
    return False


def _plain_texts(test: nodes.Node) -> Iterator[str]:
    """Yields constants with words in them that are neither format marks nor field names."""
    keys = {id(item.arg) for item in test.find_all(nodes.Getitem)}
    for node in _with_self(test):
        text = _constant(node)
        if id(node) in keys or not isinstance(text, str):
            continue
        if WORDS.search(text) and not MARKS.search(text.strip()) and text not in FIELD_WORDS:
            yield text


FIELD_WORDS = {
    *("user", "assistant", "system", "tool", "function", "developer", "ipython"),
    *("content", "role", "text", "type", "name", "arguments", "object", "string", "mapping"),
    *("image", "image_url", "video", "audio", "tools", "tool_calls", "reasoning_content"),
    *("thinking", "parts", "blocks"),
}


def _constant(node: Any) -> Any:
    return node.value if isinstance(node, nodes.Const) else None


def _with_self(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    yield from node.find_all(nodes.Node)


def _known_for(header: Header) -> str | None:
    said = " ".join(
        str(header.metadata.get(key, ""))
        for key in ("general.basename", "general.name", "general.base_model.0.name")
    ).lower()
    for known in _index():
        is_named = any(name in said for name in known["names"])
        if is_named and not any(name in said for name in known["not"]):
            return _published(known["file"])
    return None


@cache
def _index() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((KNOWN / "index.json").read_text("utf-8"))["known"]
    return found


@cache
def _published(name: str) -> str:
    return (KNOWN / name).read_text("utf-8")


def _plain(template: str) -> str:
    return "\n".join(line.rstrip() for line in template.strip().splitlines())
