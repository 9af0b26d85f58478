"""Reads plugin.json: a plugin's name, how it signs in and what it may reach."""

import re
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any

from yarl import URL

from server.data.yaml_with_places import Findings, Map, Seq, key_at, nearest, start_of, value_at
from server.egress import is_address

ACCESS = "oidc-access-token"
REFRESH = "oidc-refresh-token"
EXPIRES = "oidc-expires-at"
TOKENS = (ACCESS, REFRESH, EXPIRES)
USUAL_SCOPE = "openid"


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID provider. Its `issuer` is asked for the two addresses, unless both are given."""

    client_id: str
    issuer: str = ""
    authorization_url: str = ""
    token_url: str = ""
    scope: str = USUAL_SCOPE

    @property
    def hosts(self) -> tuple[str, ...]:
        """The origins that Moat itself calls. The authorization page is opened by the browser."""
        named = (self.issuer, self.token_url)
        return tuple(dict.fromkeys(str(URL(address).origin()) for address in named if address))


def read_provider(auth: Map, findings: Findings) -> Provider | None:
    """Reads the provider of an oidc sign-in. Returns None if a person must paste a token."""
    given = {
        key: str(auth[key]).strip()
        for key in ("client_id", "issuer", "authorization_url", "token_url", "scope")
        if auth.get(key)
    }
    has_addresses = "authorization_url" in given and "token_url" in given
    if "client_id" not in given or not ("issuer" in given or has_addresses):
        return None
    for key in ("issuer", "authorization_url", "token_url"):
        if key in given and not is_safe(given[key]):
            message = f"'{key}' must be an https address (http only on this machine)."
            findings.error(value_at(auth, key), "oidc", message)
            return None
    return Provider(**given)


def is_safe(address: str) -> bool:
    """Whether a token may be sent to the address: https, or http on this machine."""
    if not is_address(address):
        return False
    url = URL(address)
    is_here = url.host in ("127.0.0.1", "::1", "localhost")
    return url.scheme == "https" or is_here


LONGEST_NAME = 15
LONGEST_DESCRIPTION = 1500
KEYS = (
    "id", "name", "description", "predefined_question", "automatic_flow", "auth", "version",
    "author", "license", "homepage", "min_app_version", "hosts", "database", "mcp", "secrets",
    "options",
)  # fmt: skip
AUTH_KINDS = {
    "param": "query", "params": "query", "query": "query", "header": "header", "cookie": "cookie",
    "oidc": "oidc",
}  # fmt: skip
"""The types of `auth` in plugin.json, and where each puts its arguments."""
SECRET = re.compile(r"\$\{secret:([A-Za-z0-9_.-]{1,64})\}")
OPTION = re.compile(r"\$\{option:([A-Za-z0-9_.-]{1,64})\}")
VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
OIDC_HEADER = "access-token"
OIDC_SECRET = "access-token"


@dataclass(frozen=True, slots=True)
class Auth:
    place: str
    """One of query, header and cookie."""
    args: dict[str, str]
    provider: Provider | None = None
    """The provider that the person signs in with. None if the person enters the secrets."""


@dataclass(frozen=True, slots=True)
class McpServer:
    name: str
    command: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a plugin that a person fills in: a text, a file, or folders."""

    name: str
    label: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Manifest:
    id: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    predefined_question: str = ""
    automatic_flow: bool = False
    auth: Auth | None = None
    hosts: tuple[str, ...] = ()
    database: str = ""
    tables: tuple[str, ...] = ()
    servers: tuple[McpServer, ...] = ()
    options: tuple[Option, ...] = ()
    secrets: tuple[str, ...] = ()


def read_manifest(folder: str, data: Any, findings: Findings) -> Manifest | None:
    """Reads plugin.json and adds problems to `findings`. Returns None if it is of no use."""
    if not isinstance(data, Map):
        findings.error(start_of(data), "manifest", "plugin.json must be an object.")
        return None
    for key in data:
        if key not in KEYS:
            message = f"'{key}' is unknown here and is ignored."
            findings.warn(key_at(data, key), "unknown-key", message, nearest(key, KEYS))
    name = _require_text(data, "name", findings)
    description = _require_text(data, "description", findings)
    if name is None or description is None:
        return None
    _check_texts(folder, name, description, data, findings)
    auth = _auth(data, findings)
    servers = _servers(data, findings)
    path, tables = _database(data, findings)
    return Manifest(
        _text(data, "id", findings),
        name,
        description,
        _version(data, findings),
        _text(data, "predefined_question", findings),
        data.get("automatic_flow") is True,
        auth,
        _hosts(data, findings),
        path,
        tables,
        servers,
        _options(data, findings),
        _secrets(data, auth, servers, findings),
    )


def _require_text(data: Map, key: str, findings: Findings) -> str | None:
    value = data.get(key)
    if isinstance(value, str) and value.strip():
        return value
    at = value_at(data, key)
    hint = next((f"Rename '{other}'." for other in data if nearest(other, [key])), "")
    findings.error(at, "missing", f"plugin.json needs '{key}', a text that is not empty.", hint)
    return None


def _text(data: Map, key: str, findings: Findings) -> str:
    value = data.get(key, "")
    if isinstance(value, str):
        return value
    findings.warn(value_at(data, key), "type", f"'{key}' should be a text.")
    return str(value)


def _check_texts(folder: str, name: str, description: str, data: Map, findings: Findings) -> None:
    own = data.get("id")
    if own is not None and own != folder:
        message = f"The id '{own}' is not the folder's name '{folder}', which counts."
        findings.warn(value_at(data, "id"), "id", message)
    elif isinstance(own, str) and own != own.lower():
        findings.warn(value_at(data, "id"), "id", "An id is written in lower case.")
    if len(name) >= LONGEST_NAME:
        message = f"A name has fewer than {LONGEST_NAME} characters; this has {len(name)}."
        findings.warn(value_at(data, "name"), "name-length", message)
    if len(description) > LONGEST_DESCRIPTION:
        message = f"The description is longer than {LONGEST_DESCRIPTION} characters."
        findings.warn(value_at(data, "description"), "description-length", message)


def _version(data: Map, findings: Findings) -> str:
    version = _text(data, "version", findings)
    if version and not VERSION.fullmatch(version):
        findings.warn(value_at(data, "version"), "version", "A version looks like 1.2.3.")
    return version


def _auth(data: Map, findings: Findings) -> Auth | None:
    auth = data.get("auth")
    if auth is None:
        return None
    if not isinstance(auth, Map):
        findings.error(value_at(data, "auth"), "auth", "'auth' must be an object.")
        return None
    kind = auth.get("type")
    place = AUTH_KINDS.get(kind) if isinstance(kind, str) else None
    if place is None:
        hint = nearest(str(kind), AUTH_KINDS)
        message = f"'{kind}' is not a way to sign in: use param, header, cookie or oidc."
        findings.error(value_at(auth, "type"), "auth", message, hint)
        return None
    if place == "oidc":
        return _oidc(auth, findings)
    args = auth.get("args")
    if not isinstance(args, Map):
        findings.error(value_at(auth, "args"), "auth", "'auth' needs 'args', names with values.")
        return None
    for name, value in args.items():
        if value in ("", None):
            message = f"'{name}' has no value: calls are sent without it."
            findings.warn(value_at(args, name), "auth-empty", message)
        elif not SECRET.search(str(value)):
            message = f"'{name}' stands here in plain text."
            hint = f'Write "${{secret:{name}}}" and enter it in Moat.'
            findings.warn(value_at(args, name), "auth-plain", message, hint)
    return Auth(place, {name: str(value) for name, value in args.items() if value})


def _oidc(auth: Map, findings: Findings) -> Auth:
    """Returns a sign-in in the browser if a provider is named, else one by a pasted token."""
    provider = read_provider(auth, findings)
    if provider is not None:
        return Auth("header", {"Authorization": f"Bearer ${{secret:{ACCESS}}}"}, provider)
    message = "Sign-in by oidc needs a token that you paste as a secret."
    findings.warn(value_at(auth, "type"), "oidc", message)
    return Auth("header", {OIDC_HEADER: f"${{secret:{OIDC_SECRET}}}"})


def _hosts(data: Map, findings: Findings) -> tuple[str, ...]:
    hosts = _list(data, "hosts", "host", findings) or ()
    found = []
    for index, host in enumerate(hosts):
        address = str(host) if "://" in str(host) else f"https://{host}"
        if is_address(address):
            found.append(str(URL(address).origin()))
        else:
            findings.error(value_at(hosts, index), "host", f"'{host}' is not a host.")
    return tuple(found)


def _database(data: Map, findings: Findings) -> tuple[str, tuple[str, ...]]:
    database = data.get("database")
    if database is None:
        return "", ()
    path = database.get("path") if isinstance(database, Map) else None
    # Windows knows both slashes and drives, so what stays inside there does so everywhere.
    inside = PureWindowsPath(str(path))
    if not isinstance(path, str) or inside.anchor or ".." in inside.parts:
        message = "'database' needs 'path': a file inside the plugin, or ${option:NAME}."
        findings.error(value_at(data, "database"), "database", message)
        return "", ()
    tables = _list(database, "tables", "database", findings)
    # Without a valid list of tables all of them could be read, so there is no database then.
    return ("", ()) if tables is None else (path, tuple(map(str, tables)))


def _servers(data: Map, findings: Findings) -> tuple[McpServer, ...]:
    listed = data.get("mcp")
    if isinstance(listed, Map) and isinstance(listed.get("mcpServers"), Map):
        listed = listed["mcpServers"]
    if listed is None:
        return ()
    if not isinstance(listed, Map):
        findings.error(value_at(data, "mcp"), "mcp", "'mcp' must be an object of servers by name.")
        return ()
    servers = []
    for name, entry in listed.items():
        command, url = (
            (entry.get("command"), entry.get("url")) if isinstance(entry, Map) else (None,) * 2
        )
        if isinstance(command, str) and command:
            arguments = _list(entry, "args", "mcp", findings)
            env = _strings(entry, "env", findings)
            if arguments is not None and env is not None:
                servers.append(McpServer(name, (command, *map(str, arguments)), env))
        elif isinstance(url, str) and is_address(url):
            headers = _strings(entry, "headers", findings)
            if headers is not None:
                servers.append(McpServer(name, url=url, headers=headers))
        else:
            message = f"The MCP server '{name}' needs 'command' or an http 'url'."
            findings.error(value_at(listed, name), "mcp", message)
    return tuple(servers)


def _options(data: Map, findings: Findings) -> tuple[Option, ...]:
    listed = _list(data, "options", "option", findings) or ()
    found = []
    for index, entry in enumerate(listed):
        name = entry.get("name") if isinstance(entry, Map) else None
        kind = entry.get("kind", "text") if isinstance(entry, Map) else ""
        if not isinstance(name, str) or kind not in ("text", "file", "folder", "folders"):
            message = "An option needs a name and a kind: text, file, folder or folders."
            findings.error(value_at(listed, index), "option", message)
        else:
            found.append(Option(name, str(entry.get("label") or name), kind))
    return tuple(found)


def _list(data: Map, key: str, rule: str, findings: Findings) -> Seq | tuple[()] | None:
    """Returns a list, which may be left out. Returns None, with an error, if it is no list."""
    value = data.get(key)
    if value is None or isinstance(value, Seq):
        return () if value is None else value
    findings.error(value_at(data, key), rule, f"'{key}' must be a list.")
    return None


def _strings(data: Map, key: str, findings: Findings) -> dict[str, str] | None:
    given = data.get(key)
    if given is None or isinstance(given, Map):
        return {name: str(value) for name, value in (given or {}).items()}
    findings.error(value_at(data, key), "mcp", f"'{key}' must be an object.")
    return None


def _secrets(
    data: Map, auth: Auth | None, servers: tuple[McpServer, ...], findings: Findings
) -> tuple[str, ...]:
    """Lists the secrets that plugin.json names and that a person must enter."""
    texts = list(auth.args.values()) if auth else []
    for server in servers:
        texts += [*server.env.values(), *server.headers.values()]
    named = [name for text in texts for name in SECRET.findall(text)]
    for entry in _list(data, "secrets", "secret", findings) or ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            named.append(entry["name"])
    # A sign-in fetches these tokens; nobody enters them.
    by_sign_in = TOKENS if auth and auth.provider else ()
    return tuple(name for name in dict.fromkeys(named) if name not in by_sign_in)
