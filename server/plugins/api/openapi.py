"""openapi.yaml, 3.0 and 3.1: read into operations, with every defect found and placed."""

import re
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from server.data.findings import Findings, Map, Seq, start_of, value_at
from server.plugins.api.operations import Operation, read_operation
from server.plugins.manifest import Auth
from server.schemas.openapi import TYPES, Plain

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
NO_SCHEMAS = frozenset({
    "example", "examples", "default", "enum", "securitySchemes", "x-enum", "const", "mapping",
})  # fmt: skip
PLACES = ("query", "header", "cookie")
SECRET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
MEANT = {"timestamp": "a text or a number", "any": "anything"}


@dataclass(slots=True)
class Api:
    server: str = ""
    """Empty: the person must say where it is."""
    operations: dict[str, Operation] = field(default_factory=dict)
    auth: Auth | None = None
    """How its own description says calls sign in."""


def parse(data: Any, findings: Findings) -> Api | None:
    if not isinstance(data, Map):
        findings.error(start_of(data), "openapi", "openapi.yaml must be a mapping.")
        return None
    version = str(data.get("openapi", ""))
    if not version.startswith(("3.0", "3.1")):
        message = f"Only OpenAPI 3.0 and 3.1 are read, not '{version or data.get('swagger', '')}'."
        findings.error(value_at(data, "openapi"), "openapi-version", message)
        return None
    api = Api(_server(data, findings))
    paths = data.get("paths")
    if not isinstance(paths, Map):
        findings.error(value_at(data, "paths"), "paths", "'paths' is missing or no mapping.")
        return api
    for path, item in paths.items():
        if path.startswith("x-"):
            continue
        if not isinstance(item, Map):
            findings.error(value_at(paths, path), "path", f"{path} must be a mapping.")
            continue
        for method in METHODS:
            if method in item:
                operation = read_operation(data, (method, path), item, findings)
                if operation is not None:
                    api.operations[operation.key] = operation
    api.auth = _auth(data)
    _check_types(data, findings)
    _check_refs(data, Plain(data), findings)
    return api


def _server(data: Map, findings: Findings) -> str:
    servers = data.get("servers")
    if not isinstance(servers, Seq) or not servers:
        message = "There is no server: you must say where the API is."
        findings.warn(value_at(data, "servers"), "server", message)
        return ""
    found: list[str] = []
    for index, one in enumerate(servers):
        text = one.get("url") if isinstance(one, Map) else None
        at = value_at(one, "url") if isinstance(one, Map) else value_at(servers, index)
        if not isinstance(text, str):
            findings.error(at, "server", "A server needs 'url'.")
            continue
        url = _with_variables(text, one.get("variables"))
        try:
            parsed = URL(url)
        except (ValueError, IndexError) as error:
            findings.error(at, "server", f"'{url}' is no address: {error}.")
            continue
        if parsed.scheme not in ("http", "https") or not parsed.host:
            message = f"'{url}' is not a whole address: you must say where the API is."
            findings.warn(at, "server-relative", message)
        else:
            found.append(url.rstrip("/"))
    if len(servers) > 1 and found:
        at = value_at(data, "servers")
        findings.warn(at, "servers", f"{len(servers)} servers: one is used, https first.")
    secure = [url for url in found if url.startswith("https:")]
    return (secure or found or [""])[0]


def _with_variables(url: str, variables: Any) -> str:
    for name, one in variables.items() if isinstance(variables, dict) else ():
        default = one.get("default", "") if isinstance(one, dict) else ""
        url = url.replace(f"{{{name}}}", str(default))
    return url


def _auth(data: Map) -> Auth | None:
    """The first scheme that every call is asked for and that a secret can satisfy."""
    components = data.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Map) else None
    asked = data.get("security")
    if not isinstance(schemes, Map) or not isinstance(asked, Seq):
        return None
    names = [name for one in asked if isinstance(one, Map) for name in one]
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
    """Types no JSON Schema knows, wherever they are written."""
    if isinstance(item, Map):
        kind = item.get("type")
        if not is_names and isinstance(kind, str) and kind not in TYPES:
            told = MEANT.get(kind, "anything")
            at = value_at(item, "type")
            findings.warn(at, "schema-type", f"The type '{kind}' is unknown, read as {told}.")
        for key, part in item.items():
            if (is_names or key not in NO_SCHEMAS) and not key.startswith("x-"):
                _check_types(part, findings, is_names=key == "properties" and not is_names)
    elif isinstance(item, Seq):
        for part in item:
            _check_types(part, findings)


def _check_refs(item: Any, plain: Plain, findings: Findings) -> None:
    """References that lead nowhere, or out of the file."""
    if isinstance(item, Map):
        pointer = item.get("$ref")
        if isinstance(pointer, str) and plain.resolve(pointer) is None:
            findings.warn(value_at(item, "$ref"), "ref", f"'{pointer}' leads nowhere.")
        for part in item.values():
            if isinstance(part, Map | Seq):
                _check_refs(part, plain, findings)
    elif isinstance(item, Seq):
        for part in item:
            if isinstance(part, Map | Seq):
                _check_refs(part, plain, findings)
