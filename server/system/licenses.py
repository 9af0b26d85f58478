"""The components of Moat, their licences and the licence texts.

A package contains the list that was made with it. In a clone, the list is read from the installed
packages. Components that no package manager describes are added by hand.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from server.system import backends

Kind = Literal["program", "library", "system library", "model", "template", "font", "runtime"]
ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "resources"
FILE = RESOURCES / "licenses.json"
LONGER_TEXTS = ROOT / "packaging" / "common" / "licenses"
ENGINE = "llama-cpp-python"
QT_PACKAGES = ("PySide6_Essentials", "shiboken6")
"""Described by hand as one component, because they contain no licence text."""
PROGRAM = "moat-copilot"
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

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}".rstrip()


def find() -> list[Component]:
    if FILE.is_file():
        return read(FILE)
    return installed()


def read(path: Path) -> list[Component]:
    return [Component(**component) for component in json.loads(path.read_text(encoding="utf-8"))]


def installed() -> list[Component]:
    """Returns Moat and everything it needs to run."""
    return [*(package for package in packages() if package.name not in QT_PACKAGES), *by_hand()]


def packages() -> list[Component]:
    """Returns the Python packages with their own metadata."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [PROGRAM, ENGINE]
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
    licence = expressed[0] or " or ".join(classified) or "unknown"
    first = licence.strip().splitlines()[0]
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


def by_hand() -> list[Component]:
    ours = _text(ROOT / "LICENSE")
    font = _text(RESOURCES / "fonts" / "OFL.txt")
    return [
        *_qt(),
        *_engine(),
        Component("SmolLM2-135M-Instruct", "1", "Apache-2.0", "model", MODEL_NOTE + ours),
        Component("Inter", "4", "OFL-1.1", "font", font),
        *_templates(ours),
    ]


def _qt() -> Iterator[Component]:
    if version := _version(QT_PACKAGES[0]):
        texts = "\n\n".join(_text(LONGER_TEXTS / f"{name}-3.0.txt") for name in ("LGPL", "GPL"))
        yield Component("Qt and PySide6", version, "LGPL-3.0-only", text=QT_NOTE + texts)


def _engine() -> Iterator[Component]:
    folder = backends.library_folder()
    if bindings := _version(ENGINE):
        version = (backends.ggml_version(folder) if folder else "") or f"of {ENGINE} {bindings}"
        text = _text(LONGER_TEXTS / "llama.cpp.txt")
        yield Component("llama.cpp and ggml", version, "MIT", text=text)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _templates(text: str) -> Iterator[Component]:
    """Yields the chat templates of known models, as their makers publish them."""
    folder = RESOURCES / "templates"
    licence = json.loads((folder / "index.json").read_text(encoding="utf-8"))["licence"]
    for path in sorted(folder.glob("*.jinja")):
        name = f"{path.stem} (chat template)"
        yield Component(name, "", licence, "template", f"{TEMPLATE_NOTE}{text}")


def table(components: Iterable[Component]) -> str:
    rows = list(components)
    # A few names are much longer than the others. Only their own lines shift.
    most = {"name": 30, "version": 12}
    widths = [min(max(len(getattr(row, part)) for row in rows), most[part]) for part in most]
    return "\n".join(
        f"{row.name:<{widths[0]}}  {row.version:<{widths[1]}}  {row.licence}" for row in rows
    )


QT_NOTE = (
    "Moat uses Qt and PySide6 under the GNU Lesser General Public License, version 3. Their\n"
    "libraries lie beside the program as files of their own and may be replaced by changed ones.\n"
    "The source is at https://download.qt.io/official_releases/QtForPython/.\n\n"
)
MODEL_NOTE = "SmolLM2-135M-Instruct by Hugging Face, in GGUF form, under this licence:\n\n"
TEMPLATE_NOTE = "The chat template as the makers of the model publish it, under this licence:\n\n"
