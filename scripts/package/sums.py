"""Writes SHA256SUMS, which `sha256sum --check` reads."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

NAME = "SHA256SUMS"


def write(files: Iterable[Path], folder: Path) -> Path:
    """Writes a line per file. Lines of other files that still exist are kept."""
    path = folder / NAME
    known = dict(_lines(path)) if path.is_file() else {}
    known |= {file.name: digest(file) for file in files}
    kept = {name: known[name] for name in sorted(known) if (folder / name).is_file()}
    path.write_text("".join(f"{found}  {name}\n" for name, found in kept.items()), "utf-8")
    return path


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(path: Path) -> Iterable[tuple[str, str]]:
    for line in path.read_text("utf-8").splitlines():
        found, _, name = line.partition("  ")
        yield name, found
