"""A tool's parameters as one object, however its schema is composed, and as TypeScript."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from server.chat import Json, Tool
from server.errors import BadSchema
from server.schemas.bounded import LONGEST_ARGUMENT, NOTES, harden

DEEPEST = 8
"""How many references and combined schemas are followed."""
FREE: Json = {}
OF_AN_OBJECT = frozenset({
    "type", "properties", "required", "additionalProperties", "$ref", "allOf", "$defs",
    "definitions", "$schema", "$id", "format",
})  # fmt: skip

KEYWORDS = {"object": OF_AN_OBJECT, "array": ("type", "items", "minItems", "maxItems")}


@dataclass(frozen=True, slots=True)
class Parameters:
    properties: Json = field(default_factory=dict)
    required: tuple[str, ...] = ()
    more: Any = None
    """The schema of other members. False: other members are forbidden. None: not specified."""
    beyond: str = ""
    """The first keyword that these fields do not cover; empty if all are covered."""
    root: Json = field(default_factory=dict)

    @property
    def other(self) -> Any:
        """The schema of unnamed members; None if only named members are allowed."""
        if self.more is None:
            return None if self.properties else FREE
        if self.more is False:
            return None
        return FREE if self.more is True else self.more


def call_parameters(tool: Tool) -> Parameters:
    """Returns the parameters with bounded lengths, for styles that name each argument."""
    return parameters_of(harden(tool.parameters, LONGEST_ARGUMENT))


def enforced_parameters(tool: Tool) -> Parameters:
    """Returns bounded parameters. Raises `BadSchema` if a strict tool's cannot be enforced."""
    made = call_parameters(tool)
    if tool.strict and made.beyond:
        raise not_enforced(made.beyond, tool)
    return made


def not_enforced(keyword: str, tool: Tool) -> BadSchema:
    return BadSchema(
        f"The parameters of '{tool.name}' cannot be enforced with this model: '{keyword}'.",
        f"{tool.param}.{keyword}" if tool.param else "tools",
    )


def is_plain(shape: Json, kind: str, tool: Tool) -> bool:
    """Whether the schema is of this kind and, if strict, fully covered by the style's rules."""
    plain = not tool.strict or not beyond(shape, KEYWORDS[kind])
    return plain and shape.get("type") == kind


def parameters_of(schema: Any, root: Json | None = None) -> Parameters:
    node = schema if isinstance(schema, dict) else {}
    root = node if root is None else root
    found = _seen(node, root, DEEPEST)
    empty = found.more is None and "properties" in node
    more = False if empty and not found.properties else found.more
    return Parameters(found.properties, found.required, more, found.beyond, root)


def resolve(schema: Any, root: Mapping[str, Any]) -> Any:
    """Follows a reference within the document. Anything else is returned unchanged."""
    for _ in range(DEEPEST):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            break
        schema = root
        for part in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            name = part.replace("~1", "/").replace("~0", "~")
            schema = schema.get(name) if isinstance(schema, dict) else None
    return schema


def beyond(node: Mapping[str, Any], known: Iterable[str]) -> str:
    """Returns the first keyword that is neither known nor an annotation; empty if there is none."""
    return next((key for key in node if key not in known and key not in NOTES), "")


def _seen(node: Any, root: Json, depth: int) -> Parameters:
    if not isinstance(node, dict) or not depth:
        return Parameters()
    known, required = node.get("properties"), node.get("required")
    own = Parameters(
        {key: part for key, part in known.items() if part is not False}
        if isinstance(known, dict)
        else {},
        tuple(key for key in required if isinstance(key, str))
        if isinstance(required, list)
        else (),
        node.get("additionalProperties"),
        beyond(node, OF_AN_OBJECT),
    )
    parts = [{"$ref": node["$ref"]}] if "$ref" in node else []
    views = [own, *(_seen(resolve(part, root), root, depth - 1) for part in parts)]
    views += [_seen(part, root, depth - 1) for part in _list_at(node, "allOf")]
    for union in ("anyOf", "oneOf"):
        choices = [_seen(part, root, depth - 1) for part in _list_at(node, union)]
        views += [_either(choices)] if choices else []
    return _both(views)


def _list_at(node: Json, key: str) -> list[Any]:
    found = node.get(key)
    return found if isinstance(found, list) else []


def _both(views: list[Parameters]) -> Parameters:
    given = [view.more for view in views if view.more is not None]
    more = False if False in given else next(iter(given), None)
    required = dict.fromkeys(key for view in views for key in view.required)
    uncovered = next((view.beyond for view in views if view.beyond), "")
    return Parameters(_merge(views, "allOf"), tuple(required), more, uncovered)


def _either(choices: list[Parameters]) -> Parameters:
    given = [choice.more for choice in choices if choice.more is not None]
    more = next((schema for schema in given if schema is not False), False if given else None)
    shared = [
        key for key in choices[0].required if all(key in choice.required for choice in choices)
    ]
    return Parameters(_merge(choices, "anyOf"), tuple(shared), more, "anyOf")


def _merge(views: list[Parameters], joint: str) -> Json:
    found: dict[str, list[Any]] = {}
    for view in views:
        for key, part in view.properties.items():
            parts = found.setdefault(key, [])
            if part not in parts:
                parts.append(part)
    return {key: parts[0] if len(parts) == 1 else {joint: parts} for key, parts in found.items()}


NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean",
         "null": "null", "object": "object", "array": "any[]"}  # fmt: skip
DEPTH = 6
"""How many levels of a schema are written as TypeScript. Deeper values are `any`."""


def typescript(tools: Sequence[Tool]) -> str:
    return "\n".join(_function(tool) for tool in tools)


def json_schemas(tools: Sequence[Tool]) -> str:
    return "\n".join(json.dumps(declare(tool), ensure_ascii=False) for tool in tools)


def declare(tool: Tool) -> Json:
    """Declares the tool as in OpenAI's API, the form that templates expect."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _function(tool: Tool) -> str:
    comment = "".join(f"// {line}\n" for line in tool.description.splitlines() if line.strip())
    seen = parameters_of(tool.parameters)
    shown = {"properties": seen.properties, "required": list(seen.required)}
    arguments = _object(shown, tool.parameters, DEPTH) if seen.properties else "{}"
    return f"{comment}function {tool.name}(arguments: {arguments})"


def _type(node: Any, root: Json, depth: int) -> str:
    if not isinstance(node, dict) or depth == 0:
        return "any"
    if "$ref" in node:
        return _type(resolve(node, root), root, depth - 1)
    choices = _choices(node, root, depth)
    return " | ".join(choices) if choices else _plain_type(node, root, depth)


def _choices(node: Json, root: Json, depth: int) -> list[str]:
    if "const" in node:
        return [json.dumps(node["const"], ensure_ascii=False)]
    if isinstance(node.get("enum"), list):
        return [json.dumps(value, ensure_ascii=False) for value in node["enum"]]
    parts = node.get("anyOf", node.get("oneOf"))
    if not isinstance(parts, list) and isinstance(node.get("type"), list):
        parts = [{**node, "type": kind} for kind in node["type"]]
    return [_type(part, root, depth - 1) for part in parts] if isinstance(parts, list) else []


def _plain_type(node: Json, root: Json, depth: int) -> str:
    if node.get("type") == "array":
        return f"({_type(node.get('items', {}), root, depth - 1)})[]"
    if isinstance(node.get("properties"), dict):
        return _object(node, root, depth)
    return NAMES.get(str(node.get("type")), "any")


def _object(node: Json, root: Json, depth: int) -> str:
    required = node.get("required") or []
    fields = []
    for name, part in node["properties"].items():
        mark = "" if name in required else "?"
        about = part.get("description") if isinstance(part, dict) else None
        note = f" /* {' '.join(str(about).split())} */" if about else ""
        fields.append(f"{name}{mark}: {_type(part, root, depth - 1)}{note}")
    return "{" + ", ".join(fields) + "}"
