"""Reads openapi.yaml (3.0 to 3.2): operations, their arguments and their risk."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from yarl import URL

from server.chat import Json
from server.data.yaml_with_places import At, Findings, Map, Seq, key_at, start_of, value_at
from server.flows.base import Risk
from server.plugins.manifest import Auth
from server.schemas.openapi import TYPES, Plain

CALLABLE = ("get", "post", "put", "patch", "delete", "query")
JSON_BODY = "application/json"
FORM_BODY = "application/x-www-form-urlencoded"
MULTIPART_BODY = "multipart/form-data"
BODIES = {
    JSON_BODY: JSON_BODY, FORM_BODY: FORM_BODY, "x-www-form-urlencoded": FORM_BODY,
    MULTIPART_BODY: MULTIPART_BODY,
}  # fmt: skip
Place = Literal["path", "query", "header", "cookie"]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    place: Place
    slot: str
    """The parameter's name among the arguments: `name@place` if `name` alone is not unique."""
    explode: bool = True
    style: str = "form"


@dataclass(frozen=True, slots=True)
class Body:
    media: str
    is_object: bool
    """Whether its properties are arguments. If not, the whole body is the argument `body`."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The arguments and the answer of an operation, with resolved schemas."""

    schema: Json
    parameters: tuple[Parameter, ...]
    body: Body | None
    example: Any
    answer: Json


@dataclass(frozen=True)
class Operation:
    """An operation of an API. Its schemas are resolved when they are first needed."""

    method: str
    path: str
    description: str
    risk: Risk
    at: At
    source: tuple[Map, Map, Map]
    """The document, the path item, and the operation."""

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @cached_property
    def parts(self) -> Parts:
        document, item, given = self.source
        return _parts(Plain(document), item, given, Findings(""))


class Glance(Plain):
    """Reads schemas without resolving them, which is enough to check what is around them."""

    def schema(self, given: Any, depth: int = 0, seen: tuple[str, ...] = ()) -> Json:  # noqa: ARG002
        kind = given.get("type") if isinstance(given, dict) else None
        return {"type": kind, "properties": {}} if kind == "object" else {"type": "string"}


def read_operation(
    data: Map, where: tuple[str, str], item: Map, findings: Findings
) -> Operation | None:
    method, path = where
    at = key_at(item, method)
    given = item[method]
    if not isinstance(given, Map):
        findings.error(value_at(item, method), "operation", f"{method} {path} must be a mapping.")
        return None
    if method not in CALLABLE:
        return None
    if method not in ("get", "post", "query"):
        message = f"{method.upper()} {path} is off until you allow changing methods."
        findings.warn(at, "method", message)
    if not isinstance(given.get("responses"), Map):
        findings.warn(at, "responses", f"{method.upper()} {path} does not say what it answers.")
    _parts(Glance(data), item, given, findings)
    text = given.get("description") or given.get("summary") or given.get("operationId") or ""
    source = (data, item, given)
    return Operation(method.upper(), path, str(text), _risk(method, given), at, source)


def _parts(plain: Plain, item: Map, given: Map, findings: Findings) -> Parts:
    parameters, properties, required = _parameters(plain, item, given, findings)
    body, schema = _body(plain, given, findings)
    if body is not None and schema is not None:
        own = schema.get("properties", {}).keys() if body.is_object else {"body"}
        taken = properties.keys() & own
        parameters, properties, required = _rename_taken(parameters, properties, required, taken)
        if body.is_object:
            properties = {**properties, **schema["properties"]}
            required = [*required, *schema.get("required", [])]
        else:
            properties, required = {**properties, "body": schema}, [*required, "body"]
    example, answer = _answer(plain, given, findings)
    taken_schema = {"type": "object", "properties": properties, "required": required}
    return Parts(taken_schema, tuple(parameters), body, example, answer)


def _parameters(
    plain: Plain, item: Map, given: Map, findings: Findings
) -> tuple[list[Parameter], Json, list[str]]:
    found: dict[tuple[str, str], tuple[Parameter, Any]] = {}
    for source in (item.get("parameters"), given.get("parameters")):
        for index, item_found in enumerate(source if isinstance(source, Seq) else ()):
            at = value_at(source, index)
            target = (
                plain.resolve(item_found["$ref"])
                if isinstance(item_found, Map) and isinstance(item_found.get("$ref"), str)
                else item_found
            )
            if not isinstance(target, Map) or not isinstance(target.get("name"), str):
                findings.error(at, "parameter", "A parameter needs 'name' and 'in'.")
                continue
            place = target.get("in")
            if place not in ("path", "query", "header", "cookie"):
                findings.error(at, "parameter", f"A parameter cannot be in '{place}'.")
                continue
            if "schema" not in target:
                message = f"The parameter '{target['name']}' has no schema."
                findings.warn(at, "parameter-bare", message)
            elif not target.get("description"):
                message = f"The parameter '{target['name']}' has no description."
                findings.warn(at, "parameter-bare", message)
            explode = target.get("explode") is not False
            style = str(target.get("style") or ("form" if place == "query" else "simple"))
            one_parameter = Parameter(target["name"], place, target["name"], explode, style)
            found[(target["name"], place)] = (one_parameter, target)
    return _as_slots(plain, list(found.values()))


def _as_slots(
    plain: Plain, found: list[tuple[Parameter, Any]]
) -> tuple[list[Parameter], Json, list[str]]:
    names = [parameter.name for parameter, _ in found]
    parameters, properties, required = [], {}, []
    for parameter, target in found:
        if parameter.place == "header" and parameter.name.lower() in ("authorization", "accept"):
            continue
        clashes = names.count(parameter.name) > 1
        slot = f"{parameter.name}@{parameter.place}" if clashes else parameter.name
        content, given = target.get("content"), target.get("schema", {})
        if isinstance(content, Map) and content:
            media = next(iter(content.values()))
            given = media.get("schema", {}) if isinstance(media, Map) else {}
        schema = plain.schema(given)
        if isinstance(target.get("description"), str):
            schema = {**schema, "description": target["description"]}
        properties[slot] = schema
        if target.get("required") is True or parameter.place == "path":
            required.append(slot)
        parameters.append(replace(parameter, slot=slot))
    return parameters, properties, required


def _rename_taken(
    parameters: list[Parameter], properties: Json, required: list[str], taken: set[str]
) -> tuple[list[Parameter], Json, list[str]]:
    new = {
        parameter.slot: f"{parameter.name}@{parameter.place}"
        for parameter in parameters
        if parameter.slot in taken
    }
    return (
        [replace(taker, slot=new.get(taker.slot, taker.slot)) for taker in parameters],
        {new.get(name, name): schema for name, schema in properties.items()},
        [new.get(name, name) for name in required],
    )


def _body(plain: Plain, given: Map, findings: Findings) -> tuple[Body | None, Json | None]:
    body = given.get("requestBody")
    if isinstance(body, Map) and isinstance(body.get("$ref"), str):
        body = plain.resolve(body["$ref"])
    if not isinstance(body, Map):
        return None, None
    content = body.get("content")
    if not isinstance(content, Map) or not content:
        findings.warn(start_of(body), "body", "The request body has no 'content'.")
        return None, None
    for media, known in BODIES.items():
        name = next((kind for kind in content if kind.split(";")[0].strip().lower() == media), None)
        if name is not None:
            return _body_of(plain, content, name, known, findings)
    name = next((kind for kind in content if kind.split(";")[0].endswith("+json")), None)
    if name is not None:
        return _body_of(plain, content, name, JSON_BODY, findings)
    at = key_at(content, next(iter(content)))
    findings.warn(at, "media-type", f"Bodies of '{next(iter(content))}' cannot be sent.")
    return None, None


def _body_of(
    plain: Plain, content: Map, name: str, media: str, findings: Findings
) -> tuple[Body | None, Json | None]:
    described = content[name]
    given = described.get("schema") if isinstance(described, Map) else None
    if isinstance(given, Seq):
        at = value_at(described, "schema")
        findings.error(at, "schema", "'schema' must be a mapping, not a list.")
        return None, None
    schema = plain.schema(given if given is not None else {"type": "object"})
    shapes = given.get("anyOf") if isinstance(given, Map) else None
    has_shapes = isinstance(shapes, Seq) and len(shapes) > 1
    if isinstance(given, Map) and ("oneOf" in given or has_shapes):
        findings.warn(start_of(given), "one-of", "The body has several shapes: one is chosen.")
    if schema.get("type") == "object" and schema.get("properties"):
        return Body(media, is_object=True), schema
    if schema.get("type") == "object" and "anyOf" not in schema:
        return Body(media, is_object=True), {"type": "object", "properties": {}}
    return Body(media, is_object=False), schema


def _answer(plain: Plain, given: Map, findings: Findings) -> tuple[Any, Json]:
    """Returns the example of a successful answer, or None, and the answer's schema."""
    responses = given.get("responses")
    if not isinstance(responses, Map):
        return None, {}
    good = [code for code in responses if str(code).startswith("2")] or ["default"]
    answer = responses.get(good[0])
    if isinstance(answer, Map) and isinstance(answer.get("$ref"), str):
        answer = plain.resolve(answer["$ref"])
    content = answer.get("content") if isinstance(answer, Map) else None
    if not isinstance(content, Map) or not content:
        return None, {}
    name = next((kind for kind in content if "json" in kind), None)
    if name is None:
        if not any(kind.startswith("text/") or kind == "*/*" for kind in content):
            message = f"Answers of '{', '.join(content)}' are not read."
            findings.warn(start_of(content), "answer-type", message)
        return None, {}
    described = content[name]
    if not isinstance(described, Map):
        return None, {}
    if isinstance(described.get("schema"), Seq):
        message = "'schema' must be a mapping, not a list."
        findings.error(value_at(described, "schema"), "schema", message)
        return None, {}
    return described.get("example"), plain.schema(described.get("schema") or {})


def _risk(method: str, given: Map) -> Risk:
    flags = ("dangerous", "confirm", "x-openai-isConsequential")
    if method == "delete" or any(given.get(flag) is True for flag in flags):
        return "danger"
    return "read" if method == "get" else "change"


METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace", "query")
NO_SCHEMAS = frozenset({
    "example", "examples", "default", "enum", "securitySchemes", "x-enum", "const", "mapping",
})  # fmt: skip
"""Keys whose values are not schemas, so that a `type` in them is not checked."""
PLACES = ("query", "header", "cookie")
SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
MEANT = {"timestamp": "a text or a number", "any": "anything"}


@dataclass(slots=True)
class Api:
    server: str = ""
    """The address of the API. If it is empty, a person must enter it."""
    operations: dict[str, Operation] = field(default_factory=dict)
    auth: Auth | None = None
    """The sign-in from the description's security schemes."""


def parse(data: Any, findings: Findings) -> Api | None:
    if not isinstance(data, Map):
        findings.error(start_of(data), "openapi", "openapi.yaml must be a mapping.")
        return None
    version = str(data.get("openapi", ""))
    if not version.startswith(("3.0", "3.1", "3.2")):
        message = (
            f"Only OpenAPI 3.0, 3.1 and 3.2 are read, not '{version or data.get('swagger', '')}'."
        )
        findings.error(value_at(data, "openapi"), "openapi-version", message)
        return None
    api = Api(_server(data, findings))
    paths = data.get("paths")
    if not isinstance(paths, Map):
        findings.error(value_at(data, "paths"), "paths", "'paths' is missing or not a mapping.")
        return api
    for path, item in paths.items():
        if path.startswith("x-"):
            continue
        if not isinstance(item, Map):
            findings.error(value_at(paths, path), "path", f"{path} must be a mapping.")
            continue
        for operation in _operations(data, path, item, findings):
            api.operations[operation.key] = operation
    api.auth = _auth(data)
    _check_types(data, findings)
    _check_refs(data, Plain(data), findings)
    return api


def _operations(data: Map, path: str, item: Map, findings: Findings) -> Iterator[Operation]:
    if "additionalOperations" in item:
        message = f"{path} has methods of its own; those are not called."
        findings.warn(value_at(item, "additionalOperations"), "methods", message)
    for method in METHODS:
        if method in item:
            operation = read_operation(data, (method, path), item, findings)
            if operation is not None:
                yield operation


def _server(data: Map, findings: Findings) -> str:
    servers = data.get("servers")
    if not isinstance(servers, Seq) or not servers:
        message = "There is no server: enter the address of the API."
        findings.warn(value_at(data, "servers"), "server", message)
        return ""
    found: list[str] = []
    for index, entry in enumerate(servers):
        text = entry.get("url") if isinstance(entry, Map) else None
        at = value_at(entry, "url") if isinstance(entry, Map) else value_at(servers, index)
        if not isinstance(text, str):
            findings.error(at, "server", "A server needs 'url'.")
            continue
        url = _with_variables(text, entry.get("variables"))
        try:
            parsed = URL(url)
        except (ValueError, IndexError) as error:
            findings.error(at, "server", f"'{url}' is not an address: {error}.")
            continue
        if parsed.scheme not in ("http", "https") or not parsed.host:
            message = f"'{url}' is not a full address: enter the address of the API."
            findings.warn(at, "server-relative", message)
        else:
            found.append(url.rstrip("/"))
    if len(servers) > 1 and found:
        at = value_at(data, "servers")
        findings.warn(at, "servers", f"{len(servers)} servers: one is used, https first.")
    secure = [url for url in found if url.startswith("https:")]
    return (secure or found or [""])[0]


def _with_variables(url: str, variables: Any) -> str:
    for name, variable in variables.items() if isinstance(variables, dict) else ():
        default = variable.get("default", "") if isinstance(variable, dict) else ""
        url = url.replace(f"{{{name}}}", str(default))
    return url


def _auth(data: Map) -> Auth | None:
    """Returns the first required scheme that a secret can satisfy; None if there is none."""
    components = data.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Map) else None
    asked = data.get("security")
    if not isinstance(schemes, Map) or not isinstance(asked, Seq):
        return None
    names = [name for requirement in asked if isinstance(requirement, Map) for name in requirement]
    for name in names:
        scheme = schemes.get(name)
        if not isinstance(scheme, Map) or not SECRET_NAME.fullmatch(name):
            continue
        secret = f"${{secret:{name}}}"
        place, key = scheme.get("in"), scheme.get("name")
        if scheme.get("type") == "apiKey" and place in PLACES and isinstance(key, str):
            return Auth(str(place), {key: secret})
        if scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer":
            return Auth("header", {"Authorization": f"Bearer {secret}"})
    return None


def _check_types(item: Any, findings: Findings, *, is_names: bool = False) -> None:
    """Warns about types that JSON Schema does not have, at any depth."""
    if isinstance(item, Map):
        kind = item.get("type")
        if not is_names and isinstance(kind, str) and kind not in TYPES:
            meaning = MEANT.get(kind, "anything")
            at = value_at(item, "type")
            findings.warn(at, "schema-type", f"The type '{kind}' is unknown, read as {meaning}.")
        for key, part in item.items():
            if (is_names or key not in NO_SCHEMAS) and not key.startswith("x-"):
                _check_types(part, findings, is_names=key == "properties" and not is_names)
    elif isinstance(item, Seq):
        for part in item:
            _check_types(part, findings)


def _check_refs(item: Any, plain: Plain, findings: Findings) -> None:
    """Warns about references that lead nowhere or out of the file."""
    if isinstance(item, Map):
        pointer = item.get("$ref")
        if isinstance(pointer, str) and plain.resolve(pointer) is None:
            findings.warn(value_at(item, "$ref"), "ref", f"'{pointer}' leads nowhere.")
    for part in item.values() if isinstance(item, Map) else item:
        if isinstance(part, Map | Seq):
            _check_refs(part, plain, findings)
