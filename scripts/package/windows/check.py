"""Checks whether everything in the finished tree finds what it needs on Windows."""

import ast
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.bootstrap.say import SetupFailed, say
from scripts.package import sums
from scripts.package.windows import places, portable_executable
from scripts.package.windows.portable_executable import Executable
from server.models import library

POSIX_ONLY = frozenset(
    [
        "crypt",
        "curses",
        "fcntl",
        "grp",
        "nis",
        "ossaudiodev",
        "posix",
        "pty",
        "pwd",
        "readline",
        "resource",
        "spwd",
        "syslog",
        "termios",
        "tty",
    ]
)
ENGINE = "packages/llama_cpp/lib"
NEEDED = (
    "moat.exe",
    "bin/moat.exe",
    "LICENSE.txt",
    "python/python312.dll",
    "program/start.py",
    f"resources/models/{library.FILE}",
    *(f"{ENGINE}/{name}.dll" for name in ("ggml", "ggml-base", "ggml-cpu-x64", "ggml-cpu-haswell")),
)
OPENED = ("llama", "mtmd")
"""Libraries that the bindings open. Compilers differ in whether the names begin with lib."""
HERE = "sys.platform == 'win32'"
ELSEWHERE = ("sys.platform == 'linux'", "sys.platform == 'darwin'", "sys.platform != 'win32'")
SYSTEM = places.PARTS / "system_dlls.txt"


def check(tree: Path) -> None:
    """Raises `SetupFailed` with everything that is missing; else writes a list of all files."""
    executables = read_executables(tree)
    faults = [
        *(f"{name} is missing" for name in NEEDED if not (tree / name).is_file()),
        *(f"{ENGINE} has no {name}" for name in OPENED if not has_library(tree, name)),
        *unresolved_libraries(tree, executables),
        *unresolved_modules(tree),
        *wrong_kinds(tree, executables),
    ]
    if faults:
        raise SetupFailed("The tree for Windows is not whole:\n  " + "\n  ".join(faults))
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    listing = {str(path.relative_to(tree).as_posix()): sums.digest(path) for path in files}
    places.REPORT.write_text(json.dumps(listing, indent=1), encoding="utf-8")
    say(f"tree: {len(files)} files, {len(executables)} of them native, all they need is there")


def has_library(tree: Path, name: str) -> bool:
    return any((tree / ENGINE / f"{before}{name}.dll").is_file() for before in ("", "lib"))


def read_executables(tree: Path) -> dict[Path, Executable]:
    found = (p for p in tree.rglob("*") if p.suffix.lower() in (".dll", ".exe", ".pyd"))
    return {path: portable_executable.read(path.read_bytes()) for path in sorted(found)}


def wrong_kinds(tree: Path, executables: dict[Path, Executable]) -> Iterator[str]:
    for path, executable in executables.items():
        if executable.machine != portable_executable.AMD64:
            yield f"{path.relative_to(tree)} is for another processor"
    if executables[tree / "moat.exe"].subsystem != portable_executable.GUI:
        yield "moat.exe would open a console"
    if executables[tree / "bin" / "moat.exe"].subsystem != portable_executable.CONSOLE:
        yield "bin/moat.exe would not write to its console"


def unresolved_libraries(tree: Path, executables: dict[Path, Executable]) -> Iterator[str]:
    """Yields libraries that are neither beside their user, nor beside Python, nor in Windows."""
    system = set(SYSTEM.read_text(encoding="ascii").split())
    beside_python = {path.name.lower() for path in (tree / "python").iterdir()}
    for path, executable in executables.items():
        here = {
            other.name.lower() for folder in _searched(tree, path) for other in folder.iterdir()
        }
        for name in (*executable.imports, *executable.delayed):
            if name.startswith("api-ms-win-") or name in system | beside_python | here:
                continue
            yield f"{path.relative_to(tree).as_posix()} needs {name}"


def _searched(tree: Path, path: Path) -> list[Path]:
    packages = tree / "packages"
    folders = [path.parent]
    if path.is_relative_to(packages):
        top = path.relative_to(packages).parts[0].removesuffix(".pyd")
        # Wheels keep libraries in NAME.libs; Qt's plug-ins and bindings find those of PySide6.
        folders += [packages / f"{top.partition('.')[0]}.libs"]
        if top == "PySide6":
            folders += [packages / "PySide6", packages / "shiboken6"]
    return [folder for folder in folders if folder.is_dir()]


def unresolved_modules(tree: Path) -> Iterator[str]:
    """Yields modules that our program imports unconditionally and that nothing provides."""
    known = _modules(tree)
    for path in sorted((tree / "program").rglob("*.py")):
        if "plugins" in path.relative_to(tree / "program").parts[:1]:
            continue
        for name in imported(ast.parse(path.read_bytes())):
            if not _is_known(name, known):
                yield f"{path.relative_to(tree).as_posix()} imports {name}"


def imported(module: ast.AST) -> Iterator[str]:
    """Yields the modules that a file imports, except those that it can do without."""
    for node in _on_windows(module):
        if isinstance(node, ast.Try) and any(map(_catches_import, node.handlers)):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        yield from imported(node)


def _on_windows(node: ast.AST) -> Iterable[ast.AST]:
    """Returns the nodes below, without the branch that other systems take."""
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)
        if test == HERE:
            return node.body
        if test in ELSEWHERE:
            return node.orelse
    return ast.iter_child_nodes(node)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and "ImportError" in ast.unparse(handler.type)


def _is_known(name: str, known: set[str]) -> bool:
    top = name.partition(".")[0]
    if top in POSIX_ONLY:
        return False
    return name in known or (top in sys.stdlib_module_names and top not in ("app", "server"))


def _modules(tree: Path) -> set[str]:
    with zipfile.ZipFile(tree / "python" / "python312.zip") as archive:
        names: Iterable[str] = [name.rpartition(".")[0] for name in archive.namelist()]
    found = {_dotted(Path(name)) for name in names}
    for root in (tree / "packages", tree / "program", tree / "python"):
        for path in root.rglob("*"):
            if path.suffix in (".py", ".pyd"):
                relative = path.relative_to(root)
                found.add(_dotted(relative.with_name(relative.name.partition(".")[0])))
    return found


def _dotted(path: Path) -> str:
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    return ".".join(parts)
