"""Finds what the libraries of the frozen folder require of the system."""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.bootstrap.say import SetupFailed

MAGIC = b"\x7fELF"
NEEDED = re.compile(r"^\s*NEEDED\s+(\S+)", re.MULTILINE)
GLIBC = re.compile(r"\bGLIBC_(\d+(?:\.\d+)+)")
LOADERS = (
    "ld-linux",
    "libc.so",
    "libm.so",
    "libpthread",
    "libdl",
    "librt.so",
    "libutil",
    "libresolv",
)


@dataclass(frozen=True, slots=True)
class Wants:
    libraries: frozenset[str]
    glibc: str


def files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and _magic(path) == MAGIC:
            yield path


def wants(folder: Path) -> Wants:
    """Returns the libraries that the folder does not contain, and the newest glibc version used."""
    inside = {path.name for path in folder.rglob("*.so*") if path.exists()}
    needed: set[str] = set()
    versions: set[str] = {"2.17"}
    for path in files(folder):
        listing = _listing(path)
        needed.update(NEEDED.findall(listing))
        versions.update(GLIBC.findall(listing))
    outside = {name for name in needed - inside if not name.startswith(LOADERS)}
    return Wants(frozenset(outside), max(versions, key=_number))


def packages(libraries: Iterable[str], owners: Mapping[str, str]) -> list[str]:
    """Returns the Debian packages that contain these libraries."""
    missing = [name for name in libraries if name not in owners]
    if missing:
        raise SetupFailed(f"No installed package holds {', '.join(sorted(missing))}.")
    return sorted({owners[name] for name in libraries})


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def _listing(path: Path) -> str:
    asked = subprocess.run(
        ["objdump", "-p", str(path)], capture_output=True, text=True, check=False, errors="replace"
    )
    return asked.stdout
