"""Makes what an MCP server says readable for the protocol's library, which refuses what is odd.

Servers are written by many people. A tool with an odd detail is still a tool.
"""

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

from server.chat import Json
from server.system.limits import one_line, printable

MOST_LISTED = 500
LONGEST_NAME = 128
LONGEST_WORDS = 10_000
DEEPEST = 100
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
UNKNOWN = {"name": "", "version": ""}


def tidy(method: str, result: Json) -> Json:
    """Returns the result of a request with that method. What cannot be mended stays as it is."""
    mend = MENDED.get(method)
    return mend(result) if mend else result


def _greeting(result: Json) -> Json:
    abilities, info = result.get("capabilities"), result.get("serverInfo")
    is_known = isinstance(info, dict) and isinstance(info.get("name"), str)
    known = {"serverInfo": info if is_known else UNKNOWN}
    return {**result, "capabilities": abilities if isinstance(abilities, dict) else {}, **known}


def _tools(result: Json) -> Json:
    """Leaves out tools whose names cannot be shown as they are: they are called by them."""
    tools = result.get("tools")
    if not isinstance(tools, list) or not all(_is_named(tool) for tool in tools[:MOST_LISTED]):
        return result
    good = (tool for tool in tools if _is_named(tool) and _is_plain(tool["name"]))
    return {**result, "tools": [_tool(tool) for tool in islice(good, MOST_LISTED)]}


def _is_named(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str)


def _is_plain(name: str) -> bool:
    is_shown = name.isprintable() and name == one_line(name)
    return is_shown and 0 < len(name) <= LONGEST_NAME


def is_too_deep(value: Any) -> bool:
    """Whether a value is nested so deep that reading it could end whoever reads it."""
    level = [value]
    for _ in range(DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _tool(tool: Json) -> Json:
    """Keeps what we use. The schema of its answers is left out: its patterns run in our process."""
    hints = tool.get("annotations")
    given = hints if isinstance(hints, dict) else {}
    return {
        "name": tool["name"],
        "description": _words(tool),
        "inputSchema": _arguments(tool.get("inputSchema")),
        "annotations": {name: given[name] for name in HINTS if isinstance(given.get(name), bool)},
    }


def _words(entry: Json) -> str:
    return printable(str(entry.get("description") or entry.get("title") or ""))[:LONGEST_WORDS]


def _arguments(schema: Any) -> Json:
    if not isinstance(schema, dict):
        return {"type": "object"}
    found = {**schema, "type": "object"}
    if not isinstance(found.get("$schema", ""), str):
        del found["$schema"]
    parts, required = found.get("properties"), found.get("required")
    if "properties" in found:
        listed = parts.items() if isinstance(parts, dict) else ()
        found["properties"] = {name: part for name, part in listed if isinstance(part, dict | bool)}
    if "required" in found:
        names = required if isinstance(required, list) else ()
        found["required"] = [name for name in names if isinstance(name, str)]
    return found


def _answer(result: Json) -> Json:
    """Everything that is no text becomes one: we read nothing else."""
    if result.get("resultType", "complete") != "complete":
        return result
    content, data = result.get("content"), result.get("structuredContent")
    texts = (
        [_text(part) for part in content if isinstance(part, dict)]
        if isinstance(content, list)
        else []
    )
    if data is not None and not isinstance(data, dict):
        texts, data = [json.dumps(data)], None
    found: Json = {
        "content": [{"type": "text", "text": text} for text in texts if text is not None],
        "isError": bool(result.get("isError")),
    }
    kept = {name: result[name] for name in ("resultType",) if name in result}
    return found | kept | ({} if data is None else {"structuredContent": data})


def _text(part: Json) -> str | None:
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text", ""))
    if kind == "resource":
        held = part.get("resource")
        return str(held.get("text", "")) if isinstance(held, dict) else ""
    return f"[{kind}]" if kind else None


def _listed(key: str, *needed: str) -> Callable[[Json], Json]:
    """Keeps the entries that can be shown, and of each what is shown."""

    def mend(result: Json) -> Json:
        entries = result.get(key)
        good = [
            {
                **{name: one_line(entry[name])[:LONGEST_WORDS] for name in needed},
                "description": _words(entry),
            }
            for entry in (entries[:MOST_LISTED] if isinstance(entries, list) else ())
            if isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in needed)
        ]
        return {**result, key: good}

    return mend


MENDED: dict[str, Callable[[Json], Json]] = {
    "initialize": _greeting,
    "tools/list": _tools,
    "tools/call": _answer,
    "resources/list": _listed("resources", "name", "uri"),
    "resources/templates/list": _listed("resourceTemplates", "name", "uriTemplate"),
    "prompts/list": _listed("prompts", "name"),
}
