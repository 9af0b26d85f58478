"""The system's sandbox around what plugins run: turns a command into a sandboxed one.

Linux: namespaces, made by bubblewrap if it is installed, else by `server.plugins.walls.inside`; a
filter of system calls; no capabilities. macOS: a profile for sandbox-exec. Other systems have no
sandbox.
"""

import functools
import json
import logging
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from server.plugins.walls import inside
from server.system import processes

log = logging.getLogger(__name__)

Kind = Literal["bubblewrap", "namespaces", "sandbox-exec", ""]
CODE_BYTES = 64 * 1024 * 1024
"""The size in bytes of the scratch folder of Python tools; programs have PROGRAM_BYTES."""
PROGRAM_BYTES = 512 * 1024 * 1024
TRIAL_S = 60.0
"""Seconds for a trial; a busy machine may be slow. If it fails, plugins wait for a new review."""
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/nix/store",
    "/gnu/store",
)
_SETTINGS = ("ssl", "ca-certificates", "pki", "localtime", "alternatives", "ld.so.cache")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_KEYRINGS = ("com.apple.SecurityServer", "com.apple.securityd", "com.apple.secd")


@dataclass(frozen=True, slots=True)
class Room:
    """The places that a sandbox allows: `folder` and `readable` to read, `scratch` to write.

    `kept`: a folder to write whose contents stay; on Linux `scratch` is empty at each start.
    `is_code`: Python tools, whose folders hold nothing that may run as native code.
    """

    folder: Path
    scratch: Path
    readable: tuple[str, ...] = field(default=())
    is_code: bool = False
    kept: Path | None = None


@functools.cache
def kind() -> Kind:
    """Returns the kind of sandbox that works here, by trying each. Cached until Moat ends."""
    room = Room(Path(__file__).parent, Path("/tmp/moat-trial"), is_code=True)
    for kind_tried in _candidates():
        command = (
            walled([], room, kind_tried)
            if kind_tried != "sandbox-exec"
            else walled(["/bin/ls"], room, kind_tried)
        )
        try:
            tried = subprocess.run(
                command, capture_output=True, timeout=TRIAL_S, check=False, env={}, text=True
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            log.info("No wall by %s: %s", kind_tried, error)
            continue
        if tried.returncode == 0:
            return kind_tried
        log.info("No wall by %s: %s", kind_tried, tried.stderr.strip()[-300:])
    return ""


CERTIFICATES = (
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
)  # fmt: skip
"""Variables that name certificates. Some company networks cannot be used without them."""
_SCRIPTS = {".js", ".mjs", ".cjs", ".ts", ".py"}
_INSTALLED = {"node_modules", "site-packages", "dist-packages"}
_SIGNS = ("package.json", "pyproject.toml")


def walled(
    command: list[str], room: Room, by: Kind, door: int | None = None, port: int = inside.PORT
) -> list[str]:
    """Returns the command in a sandbox. Tools start in `scratch`, programs in `folder`.

    `door`: the descriptor over which the sandbox sends its listening socket to Moat.
    """
    if not by:
        return command
    if by == "sandbox-exec":
        return ["sandbox-exec", "-p", _profile(room, command, port), *command]
    links = [[path, str(Path(path).readlink())] for path in _SYSTEM if Path(path).is_symlink()]
    shown = _readable_places(room, command)
    # A folder that the person chose may lie in the plugin's folder, so only the plugin's is named.
    # A program may run what it fetches into its scratch folder, as uvx does, within the same
    # sandbox.
    inert = [str(room.folder), str(room.scratch)] if room.is_code else []
    asked = {
        "own": by == "namespaces", "door": door, "links": links, "inert": inert,
        "shown": [[os.path.realpath(place), place] for place in shown],
        "devices": [f"/dev/{name}" for name in _DEVICES], "scratch": str(room.scratch),
        "kept": [os.path.realpath(room.kept), str(room.kept)] if room.kept else [],
        "size": CODE_BYTES if room.is_code else PROGRAM_BYTES, "command": command,
        "cwd": str(room.scratch if room.is_code else room.folder),
    }  # fmt: skip
    last_steps = [*_inside(), json.dumps(asked)]
    if by == "namespaces":
        return last_steps
    return [*_bubblewrap(room, links, shown), *last_steps]


def surroundings(env: dict[str, str], room: Room, port: int = inside.PORT) -> dict[str, str]:
    """Returns a program's variables: its home is the scratch folder, its proxy is the doorway."""
    scratch = str(room.scratch)
    proxy = f"http://127.0.0.1:{port}"
    proxies = {
        name: proxy
        for word in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        for name in (word, word.lower())
    }
    home = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), scratch)
    return {**env, **home, **proxies, "NODE_USE_ENV_PROXY": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def find_certificates(env: dict[str, str]) -> tuple[str, ...]:
    """Returns the files and folders of certificates that the variables name."""
    named = (env.get(name, "") for name in CERTIFICATES)
    found = [path for paths in named for path in paths.split(os.pathsep)]
    return tuple(path for path in found if os.path.isabs(path) and not _holds_a_home(path))  # noqa: PTH117


def _candidates() -> tuple[Kind, ...]:
    if sys.platform == "linux":
        return ("bubblewrap", "namespaces") if shutil.which("bwrap") else ("namespaces",)
    return ("sandbox-exec",) if sys.platform == "darwin" else ()


def _inside() -> list[str]:
    if getattr(sys, "frozen", False):
        return processes.command("inside")
    return [sys.executable, "-I", "-S", inside.__file__]


def _bubblewrap(room: Room, links: list[list[str]], shown: list[str]) -> list[str]:
    size = CODE_BYTES if room.is_code else PROGRAM_BYTES
    made = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--die-with-parent",
    ]
    # The last steps drop this right again. They need it to forbid running programs from folders.
    made += ["--cap-add", "CAP_SYS_ADMIN", "--proc", "/proc"]
    for link, target in links:
        made += ["--symlink", target, link]
    for name in _DEVICES:
        made += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for place in shown:
        made += ["--ro-bind", place, place]
    made += ["--size", str(size), "--tmpfs", str(room.scratch)]
    if room.kept:
        made += ["--bind", str(room.kept), str(room.kept)]
    return [*made, "--remount-ro", "/", "--"]


def _readable_places(room: Room, command: list[str]) -> list[str]:
    """Returns everything that may be read. A folder includes its contents."""
    found = [path for path in _SYSTEM if not Path(path).is_symlink()]
    found += [f"/etc/{name}" for name in _SETTINGS]
    found += [*_python(), *_program(command), str(room.folder), *room.readable]
    spelled = {os.path.abspath(path) for path in found}  # noqa: PTH100
    real = {os.path.realpath(path) for path in spelled}
    there = {path for path in spelled | real if Path(path).exists()} - {"/", str(room.scratch)}
    return sorted(path for path in there if not there.intersection(map(str, Path(path).parents)))


def _python() -> list[str]:
    """Returns the folders of the interpreter, its packages and Moat's own code."""
    packages = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    own = [str(Path(__file__).resolve().parents[2]), getattr(sys, "_MEIPASS", "")]
    if getattr(sys, "frozen", False):
        own.append(str(Path(sys.executable).parent))
    found = [sys.prefix, sys.base_prefix, *packages, *own]
    return [path for path in found if path and not _holds_a_home(path)]


def _program(command: list[str]) -> list[str]:
    """Returns the program, what is installed beside it, and the places its command line names."""
    found = [path for path in command if os.path.isabs(path)]  # noqa: PTH117
    if command:
        # A link may lead to another link; the folder of each must be readable.
        path = Path(command[0])
        while path.is_symlink():
            path = path.parent / path.readlink()
            found.append(str(path))
    prefixes = [str(Path(path).parent.parent) for path in found if Path(path).parent.name == "bin"]
    projects = [project for path in found if (project := _project(Path(path)))]
    shown = (*found, *prefixes, *projects)
    local = str(Path.home() / ".local")
    return [path for path in shown if path != local and not _holds_a_home(path)]


def _project(script: Path) -> str:
    """Returns the project folder of a script, with the packages it needs; empty if it has none.

    `node …/dist/index.js` reads the files beside it and its dependencies. Without a sign of a
    project only the script itself may be read: it may lie among a person's own files.
    """
    if script.suffix not in _SCRIPTS:
        return ""
    installed = [folder for folder in script.parents if folder.name in _INSTALLED]
    if installed:
        return str(installed[-1])
    for folder in script.parents:
        if any((folder / sign).is_file() for sign in _SIGNS):
            return str(folder)
    return ""


def _holds_a_home(path: str) -> bool:
    """Whether the path is the person's home or a folder above it, in any spelling."""
    home = Path.home()
    return any(
        Path(spelling) in (each, *each.parents)
        for spelling in (path, os.path.realpath(path))
        for each in (home, home.resolve())
    )


def _profile(room: Room, command: list[str], port: int) -> str:
    """Returns the macOS profile: network only by the doorway, writing only to scratch, no home."""
    home = json.dumps(str(Path.home().resolve()))
    shown = " ".join(f"(subpath {json.dumps(place)})" for place in _readable_places(room, command))
    written = (os.path.realpath(place) for place in (room.scratch, room.kept) if place)
    scratch = " ".join(f"(subpath {json.dumps(place)})" for place in written)
    keyrings = " ".join(f"(global-name {json.dumps(name)})" for name in _KEYRINGS)
    lines = [
        "(version 1) (allow default) (deny network*) (deny file-write*)",
        "(deny process-info* (target others))",
        f'(deny file-read* (subpath {home}) (subpath "/Volumes") (subpath "/private/tmp"))',
        f"(allow file-read* {shown} {scratch}) (allow file-read-metadata)",
        f'(allow file-write* {scratch} (literal "/dev/null")) (deny mach-lookup {keyrings})',
    ]
    if room.is_code:
        lines.append(f"(deny process-fork) (deny file-map-executable {scratch})")
    else:
        lines.append(f'(allow network-outbound (remote ip "localhost:{port}"))')
    return "\n".join(lines)
