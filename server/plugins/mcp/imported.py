"""Reads the list of MCP servers of another program, and makes a plugin of each.

Known are the files of Claude Desktop and Cursor (`mcpServers`), of VS Code (`servers`) and the
`mcp` part of its settings. A short list of common servers comes with Moat.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from yarl import URL

from server.chat import Json
from server.egress import is_address
from server.errors import BadRequest
from server.face.plugins import CommonServer
from server.plugins.folder import is_key
from server.plugins.install import PluginRefused
from server.plugins.manifest import OPTION, SECRET
from server.system.paths import RESOURCES

LARGEST = 1024 * 1024
MOST_SERVERS = 50
SECRET_NAME = re.compile(r"key|token|secret|passw|auth|credential|cookie", re.IGNORECASE)
VARIABLE = re.compile(r"\$\{(?:input:|env:)?([A-Za-z0-9_.-]{1,64})\}")
COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
STORES = {
    "npx": ("https://registry.npmjs.org",),
    "uvx": ("https://pypi.org", "https://files.pythonhosted.org"),
    "pipx": ("https://pypi.org", "https://files.pythonhosted.org"),
    "bunx": ("https://registry.npmjs.org",),
}
"""Programs that fetch the server before they start it, and from where."""
FOLDERS = "folders"
COMMON = RESOURCES / "mcp_servers.json"


@dataclass(frozen=True, slots=True)
class Imported:
    key: str
    manifest: Json
    secrets: dict[str, str] = field(default_factory=dict)
    """Found in plain text; they go into the keyring."""
    folders: tuple[str, ...] = ()
    """Named in its arguments: it may read these."""


def read(path: Path) -> list[Imported]:
    listed = _listed(_parsed(path))
    if not listed:
        raise PluginRefused(f"{path.name} lists no MCP servers ('mcpServers' or 'servers').")
    if len(listed) > MOST_SERVERS:
        raise PluginRefused(f"{path.name} lists more than {MOST_SERVERS} MCP servers.")
    found: dict[str, Imported] = {}
    for name, entry in listed.items():
        made = _imported(str(name), entry, path.name)
        if made.key in found:
            raise PluginRefused(f"{path.name} has two servers that would be called '{made.key}'.")
        found[made.key] = made
    return list(found.values())


@cache
def _common() -> dict[str, Json]:
    found: dict[str, Json] = json.loads(COMMON.read_text("utf-8"))
    return found


def common() -> list[CommonServer]:
    return [
        CommonServer(
            name,
            entry["about"],
            entry["reaches"],
            entry["licence"],
            OPTION.sub(r"<\1>", " ".join((entry["command"], *entry["args"]))),
            asks_hosts=entry.get("asks_hosts", False),
        )
        for name, entry in _common().items()
    ]


def make_common(name: str, hosts: str) -> Imported:
    """Makes a plugin of a server of our list, as of one that another program lists."""
    entry = _common().get(name)
    if entry is None:
        raise BadRequest(f"There is no common MCP server '{name}'.", "name")
    named = [host.strip() for host in hosts.split(",") if host.strip()]
    if named and not entry.get("asks_hosts"):
        raise BadRequest(f"The MCP server '{name}' takes no hosts.", "hosts")
    if entry.get("asks_hosts") and not named:
        raise BadRequest(f"Name the hosts that '{name}' may reach.", "hosts")
    addresses = [host if "://" in host else f"https://{host}" for host in named]
    if wrong := next((address for address in addresses if not is_address(address)), None):
        raise BadRequest(f"'{wrong}' is not a host.", "hosts")
    made = _imported(name, entry, "Moat")
    made.manifest["description"] = entry["about"]
    made.manifest["hosts"] += addresses
    made.manifest["options"] = entry.get("options", [])
    return made


def _parsed(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise PluginRefused(f"{path.name} cannot be read: {error.strerror}.") from None
    if len(raw) > LARGEST:
        raise PluginRefused(f"{path.name} is larger than {LARGEST // 1024**2} MB.")
    try:
        return json.loads(COMMENT.sub("", raw.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        raise PluginRefused(f"{path.name} is not JSON.") from None


def _listed(data: Any) -> Json:
    places = [data, data.get("mcp")] if isinstance(data, dict) else []
    for place in places:
        for name in ("mcpServers", "servers"):
            if isinstance(place, dict) and isinstance(place.get(name), dict) and place[name]:
                found: Json = place[name]
                return found
    return {}


def _imported(name: str, entry: Any, origin: str) -> Imported:
    if not isinstance(entry, dict):
        raise PluginRefused(f"The MCP server '{name}' of {origin} is not an object.")
    secrets: dict[str, str] = {}
    server = _program(name, entry, secrets) or _remote(name, entry, secrets)
    if server is None:
        raise PluginRefused(f"The MCP server '{name}' of {origin} has no command and no address.")
    texts = [*server.get("env", {}).values(), *server.get("headers", {}).values()]
    folders = tuple(part for part in server.get("args", ()) if _is_place(part))
    manifest: Json = {
        "name": name[:14],
        "description": f"The MCP server '{name}', as {origin} lists it.",
        "version": "1.0.0",
        "mcp": {name: server},
        "hosts": list(STORES.get(Path(str(server.get("command", ""))).stem, ())),
        "secrets": [{"name": secret} for text in texts for secret in SECRET.findall(text)],
    }
    if folders:
        label = "Files and folders that it may read"
        manifest["options"] = [{"name": FOLDERS, "label": label, "kind": "folders"}]
    return Imported(_key(name), manifest, secrets, folders)


def _program(name: str, entry: Json, secrets: dict[str, str]) -> Json | None:
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not command.strip():
        return None
    given = arguments if isinstance(arguments, list) else []
    if any(VARIABLE.search(str(part)) for part in given):
        raise PluginRefused(f"The MCP server '{name}' has a variable in its arguments.")
    env = _hidden(entry.get("env"), secrets)
    return {"command": command, "args": [str(part) for part in given], "env": env}


def _remote(name: str, entry: Json, secrets: dict[str, str]) -> Json | None:
    url = entry.get("url") or entry.get("serverUrl")
    if not isinstance(url, str):
        return None
    if entry.get("type") == "sse":
        raise PluginRefused(f"The MCP server '{name}' speaks SSE, which the protocol has given up.")
    if not is_address(url) or URL(url).user or URL(url).password:
        raise PluginRefused(f"The address of the MCP server '{name}' cannot be used.")
    return {"url": url, "headers": _hidden(entry.get("headers"), secrets)}


def _hidden(given: Any, secrets: dict[str, str]) -> dict[str, str]:
    """Names each secret instead of writing it down."""
    found: dict[str, str] = {}
    for name, value in given.items() if isinstance(given, dict) else ():
        text = VARIABLE.sub(r"${secret:\1}", str(value))
        if text == str(value) and SECRET_NAME.search(str(name)) and text:
            kept = re.sub(r"[^A-Za-z0-9_.-]", "-", str(name))[:64]
            secrets[kept], text = text, f"${{secret:{kept}}}"
        found[str(name)] = text
    return found


def _is_place(argument: str) -> bool:
    path = Path(argument)
    return path.is_absolute() and len(path.parts) > 1 and path.exists()


def _key(name: str) -> str:
    key = re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip("-.")[:64]
    if not is_key(key):
        raise PluginRefused(f"'{name}' cannot be a plugin's name.")
    return key
