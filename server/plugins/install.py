"""Installs plugins from a zip or a folder: checks them before unpacking, and keeps the old version.

It also makes plugins from MCP servers: from the configuration files of Claude Desktop and Cursor
(`mcpServers`) and of VS Code (`servers`, also in the `mcp` part of its settings), and from a short
list of common servers that ships with Moat.
"""

import json
import re
import shutil
import stat
import tempfile
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from yarl import URL

from server.chat import Json
from server.egress import is_address
from server.errors import AppError, BadRequest
from server.face.plugins import CommonServer
from server.plugins.folder import (
    APART,
    MAX_BYTES,
    MAX_FILES,
    Loaded,
    is_key,
    load,
    measure,
)
from server.plugins.manifest import OPTION, SECRET
from server.plugins.mcp.packages import STORES
from server.sentences import Sentence
from server.system.paths import RESOURCES

PREVIOUS = ".previous"
MAX_RATIO = 200
"""The largest ratio of a file's size to its packed size. More looks like a zip bomb."""
SMALL = 64 * 1024


class PluginRefused(AppError):
    code = "plugin_refused"
    status = 422


def install(source: Path, home: Path) -> Loaded:
    """Installs the plugin and keeps the earlier version for a rollback. Raises PluginRefused."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=home) as name:
        draft = Path(name)
        folder = _from_folder(source, draft) if source.is_dir() else _from_zip(source, draft)
        _make_private(folder)
        loaded = load(folder)
        if loaded.manifest is None:
            told = "; ".join(str(finding) for finding in loaded.findings[:3])
            raise PluginRefused(Sentence("This is not a plugin: {0}", told))
        target = home / folder.name
        if target.exists():
            keep_previous(home, folder.name)
        shutil.move(folder, target)
    return load(target)


def keep_previous(home: Path, key: str) -> None:
    previous = home / PREVIOUS / key
    if previous.exists():
        shutil.rmtree(previous)
    previous.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.move(home / key, previous)


def roll_back(home: Path, key: str) -> None:
    """Swaps the current and the earlier version. Raises PluginRefused if there is none."""
    current, previous = _place(home, key), home / PREVIOUS / key
    if not previous.is_dir():
        raise PluginRefused(Sentence("There is no earlier version of {0}.", key))
    aside = home / PREVIOUS / f"{key}.aside"
    if current.exists():
        shutil.move(current, aside)
    shutil.move(previous, current)
    if aside.exists():
        shutil.move(aside, previous)


def remove(home: Path, key: str) -> None:
    for folder in (_place(home, key), home / PREVIOUS / key):
        if folder.is_dir():
            shutil.rmtree(folder)


def _place(home: Path, key: str) -> Path:
    """Returns the plugin's folder. Refuses a key that leads outside the folder of all plugins."""
    folder = home / key
    if folder.resolve().parent != home.resolve():
        raise PluginRefused(Sentence("'{0}' cannot be a plugin's name.", key))
    return folder


def _check_key(key: str, name: str = "") -> str:
    if not is_key(key):
        raise PluginRefused(Sentence("'{0}' cannot be a plugin's name.", name or key))
    return key


def _from_folder(source: Path, draft: Path) -> Path:
    _check_key(source.name)
    link, is_too_large = measure(source)
    if link is not None:
        raise PluginRefused(Sentence("{0} is a link; links are not copied.", link.name))
    if is_too_large:
        raise PluginRefused(_too_large())
    skipped = shutil.ignore_patterns(*APART)
    return Path(shutil.copytree(source, draft / source.name, ignore=skipped))


def _from_zip(source: Path, draft: Path) -> Path:
    try:
        with zipfile.ZipFile(source) as archive:
            entries = [entry for entry in archive.infolist() if _is_meant(entry)]
            _check(entries)
            top = _top(entries)
            folder = draft / _check_key(top or source.stem)
            for entry in entries:
                _unpack(archive, entry, draft if top else folder)
    except FileNotFoundError:
        raise PluginRefused(Sentence("There is no file {0}.", source.name)) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise PluginRefused(
            Sentence("{0} is not a zip file that can be unpacked.", source.name)
        ) from error
    return folder


def _make_private(folder: Path) -> None:
    """Makes the files readable by their owner only. Programs stay executable."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o700 if runs else 0o600)


def _path(entry: zipfile.ZipInfo) -> PurePosixPath:
    """Returns the entry's path with slashes, without a leading "./"."""
    return PurePosixPath(entry.filename.replace("\\", "/"))


def _is_meant(entry: zipfile.ZipInfo) -> bool:
    """Whether the entry belongs to the plugin: not what macOS adds, and not the root itself."""
    path = _path(entry)
    return bool(path.parts) and path.parts[0] != "__MACOSX" and path.name != ".DS_Store"


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Checks everything that the archive states, before anything is unpacked."""
    if len(entries) > MAX_FILES:
        raise PluginRefused(
            Sentence("{0} This archive has {1} entries.", _too_large(), len(entries))
        )
    size = 0
    for entry in entries:
        name = entry.filename
        path = _path(entry)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
            raise PluginRefused(
                Sentence("The archive has an entry that leads outside: '{0}'.", name)
            )
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise PluginRefused(
                Sentence("The archive has an entry that is not a file: '{0}'.", name)
            )
        if entry.flag_bits & 1:
            raise PluginRefused(Sentence("The archive is encrypted."))
        size += entry.file_size
        packed = max(entry.compress_size, 1)
        if size > MAX_BYTES or (entry.file_size > SMALL and entry.file_size / packed > MAX_RATIO):
            raise PluginRefused(Sentence("{0} '{1}' would go beyond that.", _too_large(), name))


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, root: Path) -> None:
    target = root / _path(entry)
    if entry.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, target.open("xb") as file:
        # The header may state a wrong size, so count the bytes too.
        left = entry.file_size
        while chunk := packed.read(64 * 1024):
            left -= len(chunk)
            if left < 0:
                raise PluginRefused(Sentence("'{0}' is larger than it says.", entry.filename))
            file.write(chunk)


def _too_large() -> str:
    return Sentence("A plugin has at most {0} files and {1} MB.", MAX_FILES, MAX_BYTES // 2**20)


def _top(entries: list[zipfile.ZipInfo]) -> str:
    """Returns the only top folder; empty if plugin.json lies at the root."""
    firsts = {_path(entry).parts[0] for entry in entries}
    names = {str(_path(entry)) for entry in entries}
    if len(firsts) == 1 and "plugin.json" not in names:
        return firsts.pop()
    if "plugin.json" not in names:
        raise PluginRefused(
            Sentence("The archive has no plugin.json at its root or in its one folder.")
        )
    return ""


LARGEST = 1024 * 1024
MOST_SERVERS = 50
SECRET_NAME = re.compile(r"key|token|secret|passw|auth|credential|cookie", re.IGNORECASE)
VARIABLE = re.compile(r"\$\{(?:input:|env:)?([A-Za-z0-9_.-]{1,64})\}")
COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
FOLDERS = "folders"
COMMON = RESOURCES / "mcp_servers.json"


@dataclass(frozen=True, slots=True)
class Imported:
    key: str
    manifest: Json
    secrets: dict[str, str] = field(default_factory=dict)
    """Secrets that the entry held in plain text, by name. They go into the keyring."""
    folders: tuple[str, ...] = ()
    """The files and folders in its arguments, which it may read."""


def read_servers(path: Path) -> list[Imported]:
    listed = _listed(_parsed(path))
    if not listed:
        raise PluginRefused(
            Sentence("{0} lists no MCP servers ('mcpServers' or 'servers').", path.name)
        )
    if len(listed) > MOST_SERVERS:
        raise PluginRefused(
            Sentence("{0} lists more than {1} MCP servers.", path.name, MOST_SERVERS)
        )
    found: dict[str, Imported] = {}
    for name, entry in listed.items():
        made = _imported(str(name), entry, path.name)
        if made.key in found:
            raise PluginRefused(
                Sentence("{0} has two servers that would be called '{1}'.", path.name, made.key)
            )
        found[made.key] = made
    return list(found.values())


@cache
def _common_servers() -> dict[str, Json]:
    found: dict[str, Json] = json.loads(COMMON.read_text("utf-8"))
    return found


def common_servers() -> list[CommonServer]:
    return [
        CommonServer(
            name,
            entry["about"],
            entry["reaches"],
            entry["licence"],
            OPTION.sub(r"<\1>", " ".join((entry["command"], *entry["args"]))),
            asks_hosts=entry.get("asks_hosts", False),
        )
        for name, entry in _common_servers().items()
    ]


def make_common_server(name: str, hosts: str) -> Imported:
    """Makes a plugin from a server of the list that ships with Moat."""
    entry = _common_servers().get(name)
    if entry is None:
        raise BadRequest(Sentence("There is no common MCP server '{0}'.", name), "name")
    named = [host.strip() for host in hosts.split(",") if host.strip()]
    if named and not entry.get("asks_hosts"):
        raise BadRequest(Sentence("The MCP server '{0}' takes no hosts.", name), "hosts")
    if entry.get("asks_hosts") and not named:
        raise BadRequest(Sentence("Name the hosts that '{0}' may reach.", name), "hosts")
    addresses = [host if "://" in host else f"https://{host}" for host in named]
    if wrong := next((address for address in addresses if not is_address(address)), None):
        raise BadRequest(Sentence("'{0}' is not a host.", wrong), "hosts")
    made = _imported(name, entry, "Moat")
    made.manifest["description"] = entry["about"]
    stores = (host for store in entry.get("stores", ()) for host in STORES[store])
    made.manifest["hosts"] += [*stores, *addresses]
    made.manifest["options"] = entry.get("options", [])
    return made


def _parsed(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise PluginRefused(
            Sentence("{0} cannot be read: {1}.", path.name, error.strerror)
        ) from None
    if len(raw) > LARGEST:
        raise PluginRefused(Sentence("{0} is larger than {1} MB.", path.name, LARGEST // 1024**2))
    try:
        return json.loads(COMMENT.sub("", raw.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        raise PluginRefused(Sentence("{0} is not JSON.", path.name)) from None


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
        raise PluginRefused(Sentence("The MCP server '{0}' of {1} is not an object.", name, origin))
    secrets: dict[str, str] = {}
    server = _program(name, entry, secrets) or _remote(name, entry, secrets)
    if server is None:
        raise PluginRefused(
            Sentence("The MCP server '{0}' of {1} has no command and no address.", name, origin)
        )
    texts = [*server.get("env", {}).values(), *server.get("headers", {}).values()]
    named = [(part, Path(part)) for part in server.get("args", ())]
    folders = tuple(
        part for part, path in named if path.is_absolute() and len(path.parts) > 1 and path.exists()
    )
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
    key = re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip("-.")[:64]
    return Imported(_check_key(key, name), manifest, secrets, folders)


def _program(name: str, entry: Json, secrets: dict[str, str]) -> Json | None:
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not command.strip():
        return None
    given = arguments if isinstance(arguments, list) else []
    if any(VARIABLE.search(str(part)) for part in given):
        raise PluginRefused(Sentence("The MCP server '{0}' has a variable in its arguments.", name))
    env = _hidden(entry.get("env"), secrets)
    return {"command": command, "args": [str(part) for part in given], "env": env}


def _remote(name: str, entry: Json, secrets: dict[str, str]) -> Json | None:
    url = entry.get("url") or entry.get("serverUrl")
    if not isinstance(url, str):
        return None
    if entry.get("type") == "sse":
        raise PluginRefused(
            Sentence("The MCP server '{0}' speaks SSE, which the protocol has given up.", name)
        )
    if not is_address(url) or URL(url).user or URL(url).password:
        raise PluginRefused(Sentence("The address of the MCP server '{0}' cannot be used.", name))
    return {"url": url, "headers": _hidden(entry.get("headers"), secrets)}


def _hidden(given: Any, secrets: dict[str, str]) -> dict[str, str]:
    """Replaces each secret by its name, and adds it to `secrets`."""
    found: dict[str, str] = {}
    for name, value in given.items() if isinstance(given, dict) else ():
        text = VARIABLE.sub(r"${secret:\1}", str(value))
        if text == str(value) and SECRET_NAME.search(str(name)) and text:
            kept = re.sub(r"[^A-Za-z0-9_.-]", "-", str(name))[:64]
            secrets[kept], text = text, f"${{secret:{kept}}}"
        found[str(name)] = text
    return found
