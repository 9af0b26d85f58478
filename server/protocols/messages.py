"""Reads messages, tools and the choice of a tool in OpenAI's format."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from server.chat import ChatRequest, Image, Json, Message, Role, Tool, ToolCall, ToolChoice
from server.errors import BadRequest
from server.protocols.base import Ask, Reply
from server.protocols.fields import Fields, parse_json, sendable

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
NO_PARAMETERS: Json = {"type": "object", "properties": {}, "additionalProperties": False}
NAME = re.compile(r"[\w.:/-]{1,128}")
NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions"})
LISTED_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
LISTED_NAMES = frozenset({"required", "type"})
ONE_SCHEMA = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains"})
SCHEMA_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(NAMED_SCHEMAS, (dict,)),
    **dict.fromkeys(LISTED_SCHEMAS | {"enum", "required"}, (list,)),
    **dict.fromkeys(ONE_SCHEMA, (dict, bool)),
    **dict.fromkeys(("$ref", "pattern", "format"), (str,)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), (int,)),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), (int, float)),
    "items": (dict, bool, list),
    "type": (str, list),
}
CLIENT_TOOLS = ("function", "custom")
DESCRIBED = ("function", "parameters", "input_schema")
DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)


def messages_of(fields: Fields) -> tuple[Message, ...]:
    listed = fields.objects("messages")
    if not listed:
        raise fields.wrong("messages", "must be an array with at least one message")
    messages: list[Message] = []
    open_calls: dict[str, str] = {}
    for item in listed:
        message = _message(item, open_calls)
        open_calls.update({call.id: call.name for call in message.tool_calls})
        messages.append(message)
    return tuple(messages)


def tools_of(fields: Fields) -> tuple[Tool, ...]:
    return listed_tools(fields, _tool)


def listed_tools(
    fields: Fields, read: Callable[[Fields], Tool], name: str = "tools"
) -> tuple[Tool, ...]:
    """Reads each tool with `read`. Skips tools that a provider would run; refuses equal names."""
    tools: dict[str, Tool] = {}
    for given in fields.objects(name):
        if _is_hosted(given):
            continue
        tool = read(given)
        if tool.name in tools:
            raise fields.wrong(name, f"has two tools named '{tool.name}'")
        tools[tool.name] = tool
    return tuple(tools.values())


def left_out(fields: Fields, *others: str) -> tuple[str, ...]:
    """Returns a warning for each tool that a provider would run: the answer is made without it.

    `others` are names of fields that ask for such a tool.
    """
    found = [_hosted_names(item) for item in fields.list("tools")]
    names = [
        f"{names[-1]}' ({names[0]})" if names[1:] else f"{names[0]}'" for names in found if names
    ]
    names += [f"{name}'" for name in others if fields.value(name)]
    return tuple(f"The tool '{name} is not available here and was left out." for name in names)


def _is_hosted(tool: Fields) -> bool:
    """Whether the provider of the API would run the tool, rather than the client."""
    kind = tool.value("type")
    # OpenAI's custom tools take free text. Anthropic's are the client's own and have a schema.
    is_free_text = kind == "custom" and not isinstance(tool.value("input_schema"), dict)
    if kind is None or (kind in CLIENT_TOOLS and not is_free_text):
        return False
    if not isinstance(kind, str):
        raise tool.wrong("type", "must be a string")
    if any(isinstance(tool.value(name), dict) for name in DESCRIBED):
        raise tool.wrong("type", f"is '{kind}', but the tool is described like a function")
    return True


def _hosted_names(item: Any) -> list[str]:
    """Returns the type and the name of a tool that a provider would run; empty for other tools."""
    if not isinstance(item, dict) or not _is_hosted(Fields(item, "tools")):
        return []
    inner = item.get("custom")
    own = inner.get("name") if isinstance(inner, dict) else item.get("name")
    return [item["type"], *([own] if isinstance(own, str) else [])]


def function_tool(function: Fields, schema: str = "parameters") -> Tool:
    """Reads a function. `schema` is the field that holds the schema of its arguments."""
    name = function.some_text("name")
    if not NAME.fullmatch(name):
        raise function.wrong("name", "may have letters, digits and _ . : / - only, at most 128")
    parameters = function.value(schema)
    if parameters is not None and not isinstance(parameters, dict):
        raise function.wrong(schema, "must be a JSON schema object")
    known = tidy(sendable(parameters)) if parameters else NO_PARAMETERS
    strict = function.flag("strict") is True
    if strict and parameters and known != sendable(parameters):
        raise function.wrong(schema, "has keywords of the wrong kind, and is strict")
    about = function.text("description") or ""
    return Tool(name, about, known, strict=strict, param=function.path(schema))


def tidy(schema: Any) -> Any:
    """Returns the schema without keywords of the wrong type, which generated schemas can have."""
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    made: Json = {}
    for keyword, value in schema.items():
        kinds = SCHEMA_KINDS.get(keyword)
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and int in kinds)):
            continue
        if keyword in NAMED_SCHEMAS:
            made[keyword] = {name: tidy(part) for name, part in value.items()}
        elif isinstance(value, list) and keyword in LISTED_SCHEMAS:
            made[keyword] = [tidy(part) for part in value]
        elif isinstance(value, list) and keyword in LISTED_NAMES:
            made[keyword] = [name for name in value if isinstance(name, str)]
        else:
            made[keyword] = tidy(value) if keyword in ONE_SCHEMA else value
    return made


def choice_of(
    given: Any, tools: tuple[Tool, ...], param: str = "tool_choice", hosted: Sequence[str] = ()
) -> tuple[tuple[Tool, ...], ToolChoice]:
    """Returns the tools that may be called, and the choice. `hosted` names those left out."""
    if given is None:
        return tools, ToolChoice()
    if given == "none":
        return tools, ToolChoice("none")
    if isinstance(given, dict):
        check_hosted(Fields(given, param), hosted)
    elif given in ("required", "any") and hosted and not tools:
        raise BadRequest(f"'{param}' needs '{hosted[0]}', which is not available here.", param)
    if not tools and hosted:
        return tools, ToolChoice()
    if not tools:
        raise BadRequest(f"'{param}' needs 'tools' to choose from.", param)
    if isinstance(given, dict):
        return _choice_object(given, tools, param)
    if given == "auto":
        return tools, ToolChoice()
    if given in ("required", "any"):
        return tools, ToolChoice("required")
    raise BadRequest(f"'{param}' must be none, auto, required or an object.", param)


def check_hosted(choice: Fields, hosted: Sequence[str]) -> None:
    """Raises BadRequest if the choice names a tool that was left out."""
    kind = choice.value("type")
    inner = choice.object("function") or choice.object("custom") or choice
    named = [name for name in hosted if name in (kind, inner.value("name"))]
    if named and kind != "allowed_tools":
        raise choice.wrong("type", f"asks for '{named[0]}', which is not available here")


def hosted_names(fields: Fields) -> list[str]:
    """Returns the types and names of the tools that were left out."""
    return [name for item in fields.list("tools") for name in _hosted_names(item)]


def token_count(request: ChatRequest, reply: Callable[[int], Reply]) -> Ask:
    """Asks the engine for the number of tokens in a request's prompt."""

    def count(prompt: str) -> Ask:
        return Ask("tokenize", request.model, {"text": prompt}, lambda found: reply(len(found)))

    return Ask("apply_template", request.model, {"request": request}, count)


def several_calls(flag: bool | None, tools: tuple[Tool, ...], choice: ToolChoice) -> bool:
    """Whether the model may make several calls at once.

    Without the client's `flag`, the only tool is called once if it must be called.
    """
    if flag is not None:
        return flag
    callable_count = len(choice.names) or len(tools)
    return not (choice.mode == "required" and callable_count == 1)


def arguments_of(text: str) -> Json:
    """Reads the arguments of an earlier call. Keeps a text that is not JSON as `arguments`."""
    arguments = sendable(parse_json(text or "{}", text))
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def parts_of(fields: Fields, name: str = "content") -> tuple[str, tuple[Image, ...]]:
    content = fields.value(name)
    if content is None or isinstance(content, str):
        return content or "", ()
    if not isinstance(content, list):
        raise fields.wrong(name, "must be a string or an array of parts")
    texts: list[str] = []
    images: list[Image] = []
    length = 0
    for part in fields.objects(name):
        kind = part.value("type")
        if kind in ("text", "input_text", "output_text", "refusal"):
            texts.append(part.text("refusal" if kind == "refusal" else "text") or "")
            length += len(texts[-1])
        elif kind in ("image_url", "input_image"):
            images.append(replace(_image(part), at=length))
        else:
            raise part.wrong("type", "is not supported here: text and images are")
    return "".join(texts), tuple(images)


def _message(fields: Fields, open_calls: dict[str, str]) -> Message:
    role = fields.some_word("role", ROLES)
    content, images = parts_of(fields)
    if role in ("tool", "function"):
        return replace(_result(fields, role, content, open_calls), images=images)
    if role == "assistant":
        return replace(_answer(fields, content), images=images)
    if fields.value("content") is None:
        raise fields.wrong("content", "is missing")
    speaker: Role = "user" if role == "user" else "system"
    return Message(speaker, content, images, name=fields.text("name"))


def _answer(fields: Fields, content: str) -> Message:
    calls = tuple(map(_call, fields.objects("tool_calls")))
    old = fields.object("function_call")
    if old:
        name = old.some_text("name")
        calls = (ToolCall(name, name, arguments_of(old.text("arguments") or "")),)
    if not calls and fields.value("content") is None and fields.value("refusal") is None:
        raise fields.wrong("content", "is missing")
    return Message(
        "assistant",
        content or fields.text("refusal") or "",
        tool_calls=calls,
        reasoning=fields.text("reasoning_content") or fields.text("reasoning"),
    )


def _call(fields: Fields) -> ToolCall:
    function = fields.some_object("function")
    arguments = function.value("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        raise function.wrong("arguments", "must be a string of JSON")
    made = sendable(arguments) if isinstance(arguments, dict) else arguments_of(arguments or "")
    return ToolCall(fields.some_text("id"), function.some_text("name"), made)


def _result(fields: Fields, role: str, content: str, open_calls: dict[str, str]) -> Message:
    field = "tool_call_id" if role == "tool" else "name"
    answered = fields.some_text(field)
    if answered not in open_calls:
        raise fields.wrong(field, "must name a call in an earlier assistant message")
    return Message("tool", content, tool_call_id=answered, name=open_calls[answered])


def _tool(fields: Fields) -> Tool:
    if fields.value("type") not in (None, "function"):
        raise fields.wrong("type", "is not supported here: 'function' is")
    return function_tool(fields.some_object("function"))


def _choice_object(
    given: Json, tools: tuple[Tool, ...], param: str
) -> tuple[tuple[Tool, ...], ToolChoice]:
    fields = Fields(given, param)
    if given.get("type") == "allowed_tools":
        allowed = fields.object("allowed_tools") or fields
        listed = [Fields(item, param) for item in allowed.list("tools")]
        names = [_require_tool(item, tools) for item in listed if not _is_hosted(item)]
        if listed and not names:
            raise fields.wrong("tools", "has no tool that is available here")
        mode = allowed.word("mode", ("auto", "required")) or "auto"
        kept = tuple(tool for tool in tools if tool.name in names)
        return kept, ToolChoice("required" if mode == "required" else "auto")
    if given.get("type") not in ("function", "tool", None):
        raise fields.wrong("type", "must be function or allowed_tools")
    return tools, ToolChoice("required", (_require_tool(fields, tools),))


def _require_tool(fields: Fields, tools: tuple[Tool, ...]) -> str:
    name = (fields.object("function") or fields).some_text("name")
    if name not in {tool.name for tool in tools}:
        raise fields.wrong("function.name", f"is '{name}', which is not among the tools")
    return name


def _image(part: Fields) -> Image:
    found = part.value("image_url")
    url = found.get("url") if isinstance(found, dict) else found
    match = DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        raise part.wrong("image_url", "must be a data: URL; nothing is fetched from elsewhere")
    return Image(match[1], part.decode(match[2], "image_url"))
