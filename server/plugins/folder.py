"""Reads a plugin's folder: what it offers, what is wrong with it, which hosts it would reach."""

import ast
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from server.data.yaml_with_places import Finding, Findings, Map, read_file
from server.flows import spec
from server.flows.base import Flow, Step
from server.models.names import is_plain
from server.plugins.api import operations
from server.plugins.api.operations import Api
from server.plugins.manifest import Manifest, read_manifest
from server.system.limits import without_halves

KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
MAX_BYTES = 20 * 1024 * 1024
MAX_FILES = 500
ENTRIES = frozenset({"plugin.json", "openapi.yaml", "openapi.yml", "openapi.json", "lib", "flows"})
QUIET = frozenset({"README.md", "LICENSE", "NOTICE", "data", "icon.png", "icon.svg"})
"""Entries beside ENTRIES that are expected in a plugin's folder and cause no warning."""
APART = frozenset({"__pycache__", ".git"})
"""Folders that are not part of a plugin: they are not counted, copied or watched."""
NATIVE = frozenset({".so", ".dylib", ".dll", ".pyd", ".exe", ".node", ".pyc"})
NATIVE_BEGINNINGS = (
    b"\x7fELF", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe", b"MZ",
)  # fmt: skip
"""The first bytes of ELF, Mach-O and Windows programs."""
REFUSED = frozenset({
    "ctypes", "_ctypes", "cffi", "socket", "_socket", "subprocess", "_posixsubprocess",
    "multiprocessing", "pty", "webbrowser",
})  # fmt: skip

State = Literal["ok", "warnings", "partly broken", "broken"]


@dataclass(frozen=True, slots=True)
class ToolSeen:
    """A tool of lib/, found by reading its code without running it."""

    name: str
    description: str = ""


@dataclass(slots=True)
class Loaded:
    """A plugin's folder as it was read: its parts, and the problems that were found."""

    key: str
    folder: Path
    manifest: Manifest | None = None
    api: Api | None = None
    flows: dict[str, Flow] = field(default_factory=dict)
    tools: tuple[ToolSeen, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    digest: str = ""
    """The checksum of all files in the folder; empty if the folder is not within the limits."""

    @property
    def state(self) -> State:
        errors = any(finding.level == "error" for finding in self.findings)
        if self.manifest is None or (errors and not self._is_usable()):
            return "broken"
        if errors:
            return "partly broken"
        return "warnings" if self.findings else "ok"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every address that its files name. A person may set another address for its API."""
        assert self.manifest
        listed = [self.api.server] if self.api and self.api.server else []
        listed += [
            *self.manifest.hosts,
            *(server.url for server in self.manifest.servers if server.url),
        ]
        if self.manifest.auth is not None and self.manifest.auth.provider is not None:
            listed += self.manifest.auth.provider.hosts
        return tuple(dict.fromkeys(listed))

    def files(self) -> dict[str, str]:
        """Returns the checksum of every file, by path, including compiled and native ones.

        A file elsewhere that a command line names is included too, because the plugin runs it.
        """
        named = {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if ".git" not in path.relative_to(self.folder).parts
        }
        for server in self.manifest.servers if self.manifest else ():
            named |= {
                argument: Path(argument)
                for argument in server.command[1:]
                if Path(argument).is_absolute()
            }
        return {
            without_halves(name, "?"): _sum(path, _state(path))
            for name, path in named.items()
            if path.is_file()
        }

    def _is_usable(self) -> bool:
        offers = bool(self.tools) or bool(self.manifest and self.manifest.servers)
        has_operations = bool(self.api and self.api.operations)
        return offers or has_operations or any(flow.is_usable for flow in self.flows.values())


def is_key(name: str) -> bool:
    return KEY.fullmatch(name) is not None and is_plain(name)


def load(folder: Path) -> Loaded:
    loaded = Loaded(folder.name, folder)
    own = Findings("plugin.json")
    if not is_key(folder.name):
        own.error((1, 1), "folder", f"'{folder.name}' cannot be a plugin's folder name.")
    if _is_within_limits(folder, own):
        data = read_file(folder / "plugin.json", "plugin.json", own)
        if data is not None:
            loaded.manifest = read_manifest(folder.name, data, own)
        loaded.digest = digest(folder)
    loaded.findings += own.found
    if loaded.manifest is None:
        return loaded
    _load_parts(loaded)
    loaded.findings.sort()
    return loaded


def _load_parts(loaded: Loaded) -> None:
    assert loaded.manifest
    folder = loaded.folder
    about = Findings("plugin.json")
    note = _load_api(loaded)
    _load_tools(loaded)
    known = spec.Known(
        tuple(loaded.api.operations) if loaded.api else (),
        tuple(tool.name for tool in loaded.tools),
        tuple(server.name for server in loaded.manifest.servers),
        bool(loaded.manifest.database),
        note,
    )
    _load_flows(loaded, known)
    _look_for_native_code(loaded)
    if loaded.manifest.automatic_flow and loaded.api:
        for key, operation in loaded.api.operations.items():
            step = Step("start", "api", {"endpoint": key})
            loaded.flows.setdefault(
                key, Flow(loaded.key, key, operation.description or key, (step,))
            )
    offers = loaded.api or loaded.flows or loaded.tools or loaded.manifest.servers
    if not offers and not any(finding.level == "error" for finding in loaded.findings):
        message = "There is nothing to call: no openapi.yaml, no flows, no lib, no mcp."
        about.warn((1, 1), "empty", message)
    named = [loaded.manifest.database]
    for server in loaded.manifest.servers:
        named += server.command
    # A database or a program may lie in a folder of the plugin.
    entries = ENTRIES | QUIET | {path.removeprefix("./").split("/")[0] for path in named}
    for entry in sorted(folder.iterdir()):
        name = without_halves(entry.name, "?")
        if name not in entries and not name.startswith((".", "_")):
            about.warn((1, 1), "entry", f"'{name}' is not part of a plugin and is ignored.")
    loaded.findings += about.found


def _load_api(loaded: Loaded) -> str:
    """Loads the API description. Returns why there is none; empty if it was loaded."""
    for name in ("openapi.yaml", "openapi.yml", "openapi.json"):
        path = loaded.folder / name
        if path.is_file():
            findings = Findings(name)
            data = read_file(path, name, findings)
            if data is not None:
                loaded.api = operations.parse(data, findings)
            loaded.findings += findings.found
            return "" if loaded.api else f"{name} could not be read."
    return "The plugin has no openapi.yaml."


def _load_flows(loaded: Loaded, known: spec.Known) -> None:
    read: list[tuple[Flow, Map, Findings]] = []
    folder = loaded.folder / "flows"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
            continue
        findings = Findings(f"flows/{path.name}")
        data = read_file(path, findings.file, findings)
        if data is None and not findings.found:
            findings.warn((1, 1), "empty", "The file is empty.")
        flow = spec.parse(loaded.key, data, known, findings) if data is not None else None
        if flow is not None and flow.name in loaded.flows:
            findings.error((1, 1), "duplicate-flow", f"There is already a flow '{flow.name}'.")
        elif flow is not None:
            loaded.flows[flow.name] = flow
            read.append((flow, data, findings))
        loaded.findings += findings.found
        findings.found.clear()
    for flow, data, findings in read:
        spec.check_follows(flow, data, tuple(loaded.flows), findings)
        loaded.findings += findings.found


def _load_tools(loaded: Loaded) -> None:
    lib = loaded.folder / "lib"
    found: list[ToolSeen] = []
    for path in sorted(lib.glob("*.py")) if lib.is_dir() else ():
        findings = Findings(f"lib/{path.name}")
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError) as error:
            at = (getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1)
            message = f"This is not Python: {getattr(error, 'msg', error)}."
            findings.error(at, "syntax", message)
        else:
            found += [tool for node in tree.body for tool in _tool(node)]
            _look_at_imports(tree, findings)
        loaded.findings += findings.found
    loaded.tools = tuple({tool.name: tool for tool in found}.values())


def _look_for_native_code(loaded: Loaded) -> None:
    """Warns about native code: nobody can read it, and the sandbox keeps tools from loading it."""
    for path in _files(loaded.folder):
        with path.open("rb") as file:
            begins = file.read(8)
        if path.suffix.lower() in NATIVE or begins.startswith(NATIVE_BEGINNINGS):
            name = without_halves(path.relative_to(loaded.folder).as_posix(), "?")
            findings = Findings(name)
            findings.warn((1, 1), "native", "This is native code: nobody can read what it does.")
            loaded.findings += findings.found


def _look_at_imports(tree: ast.Module, findings: Findings) -> None:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            if name.split(".")[0] in REFUSED:
                at = (getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
                message = f"'{name}' is refused: a tool has no network, programs or native code."
                findings.warn(at, "refused-import", message)


def _tool(node: ast.stmt) -> Iterator[ToolSeen]:
    if not isinstance(node, ast.ClassDef):
        return
    texts: dict[str, str] = {}
    has_call = False
    for part in node.body:
        targets: list[ast.expr] = []
        if isinstance(part, ast.Assign):
            targets = part.targets
        elif isinstance(part, ast.AnnAssign):
            targets = [part.target]
        has_call = has_call or (
            isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == "call"
        )
        value = getattr(part, "value", None)
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                texts[target.id.lstrip("_")] = str(value.value)
    if has_call and "name" in texts:
        yield ToolSeen(texts["name"], texts.get("description", ""))


def digest(folder: Path) -> str:
    """Returns a checksum that changes when any file in the folder does."""
    summed = hashlib.sha256()
    for path in _files(folder):
        summed.update(os.fsencode(path.relative_to(folder).as_posix()) + b"\0")
        summed.update(hashlib.sha256(path.read_bytes()).digest())
    return summed.hexdigest()


@lru_cache(maxsize=4096)
def _sum(path: Path, _state: tuple[int, ...]) -> str:
    """Returns a file's checksum. It is cached, because it is needed for every question."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _state(path: Path) -> tuple[int, ...]:
    """Returns what changes with a file's content, even if its size and time were restored."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def everything_in(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in APART]
        yield from (Path(root, name) for name in (*folders, *names))


def _files(folder: Path) -> list[Path]:
    found = sorted(everything_in(folder))
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _is_within_limits(folder: Path, findings: Findings) -> bool:
    link, is_too_large = measure(folder)
    if link is not None:
        findings.error((1, 1), "symlink", f"{link.name} is a link: links are not followed.")
    elif is_too_large:
        message = f"A plugin has at most {MAX_FILES} files and {MAX_BYTES // 2**20} MB."
        findings.error((1, 1), "too-large", message)
    return link is None and not is_too_large


def measure(folder: Path) -> tuple[Path | None, bool]:
    """Returns the first link in the folder, or None, and whether the folder is too large."""
    size = 0
    for count, path in enumerate(everything_in(folder), 1):
        if path.is_symlink():
            return path, False
        size += path.stat().st_size if path.is_file() else 0
        if count > MAX_FILES or size > MAX_BYTES:
            return None, True
    return None, False
