"""moat licenses: what is inside Moat, by whose leave, and the texts themselves.

A package carries the list that was made with it; in a clone it is read off what is installed.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

Kind = Literal["program", "library", "system library", "model", "font", "runtime"]
FILE = Path(__file__).resolve().parent.parent / "resources" / "licenses.json"
PROGRAM = "moat"
EXTRA = "window"
TEXT = re.compile(r"licen[cs]e|copying|notice|authors", re.IGNORECASE)
NAMES = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "LGPL": "LGPL-3.0-only",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    version: str
    licence: str
    kind: Kind = "library"
    text: str = ""


def find() -> list[Component]:
    if FILE.is_file():
        return read(FILE)
    return installed()


def read(path: Path) -> list[Component]:
    return [Component(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def installed() -> list[Component]:
    """Moat and all it needs to run, as their packages describe themselves."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [PROGRAM]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # needed on another system only
            continue
        waiting += _needs(found[name].requires or [])
    return [described(found[name]) for name in sorted(found)]


def _needs(requirements: Iterable[str]) -> Iterator[str]:
    for line in requirements:
        name = re.match(r"[\w.-]+", line)
        if name and ("extra ==" not in line or f'"{EXTRA}"' in line):
            yield re.sub(r"[-_.]+", "-", name.group()).lower()


def described(package: metadata.Distribution) -> Component:
    facts = package.metadata
    kind: Kind = "program" if facts["Name"] == PROGRAM else "library"
    return Component(facts["Name"], package.version, _licence(package), kind, _texts(package))


def _licence(package: metadata.Distribution) -> str:
    facts = package.metadata
    classified = [
        line.rpartition(":: ")[2]
        for line in facts.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    expressed = facts.get_all("License-Expression") or facts.get_all("License") or [""]
    told = expressed[0] or " or ".join(classified) or "unknown"
    first = told.strip().splitlines()[0]
    return NAMES.get(first, first)


def _texts(package: metadata.Distribution) -> str:
    files = [
        path
        for path in package.files or []
        if TEXT.search(path.name) and ".dist-info" in str(path) and path.suffix != ".py"
    ]
    return "\n\n".join(_text(Path(str(path.locate()))) for path in sorted(files)).strip()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else ""


def table(components: Iterable[Component]) -> str:
    rows = list(components)
    widths = [max(len(getattr(one, part)) for one in rows) for part in ("name", "version")]
    return "\n".join(
        f"{one.name:<{widths[0]}}  {one.version:<{widths[1]}}  {one.licence}" for one in rows
    )
