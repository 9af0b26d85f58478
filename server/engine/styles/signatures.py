"""Tools as TypeScript, which takes half the tokens of JSON schema."""

import json
from collections.abc import Sequence
from typing import Any

from server.chat import Json, Tool
from server.engine.styles.parameters import parameters_of

NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean",
         "null": "null", "object": "object", "array": "any[]"}  # fmt: skip
DEPTH = 6


def typescript(tools: Sequence[Tool]) -> str:
    return "\n".join(_function(tool) for tool in tools)


def json_schemas(tools: Sequence[Tool]) -> str:
    return "\n".join(json.dumps(declare(tool), ensure_ascii=False) for tool in tools)


def declare(tool: Tool) -> Json:
    """Declares the tool as OpenAI's API does, which is what templates expect."""
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
        return _type(_follow(node["$ref"], root), root, depth - 1)
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


def _follow(reference: Any, root: Json) -> Any:
    node: Any = root
    for part in str(reference).removeprefix("#").strip("/").split("/"):
        node = node.get(part) if isinstance(node, dict) else None
    return node
