"""Writes which wheels Windows gets, each with its hash: python -m scripts.package.windows.pin

pip evaluates the conditions of a dependency ("only on Windows") for the machine it runs on. Here
they are evaluated for Windows.
"""

import email
import hashlib
import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from scripts.bootstrap import places as clone
from scripts.bootstrap import surplus
from scripts.bootstrap.say import say
from scripts.package.windows import places, wheels

ENGINE = "llama-cpp-python"
PYSIDE = "6.8.3"
"""The last of its long-term series. Later ones need a library that older Windows 10 lacks."""
WINDOWS = {
    "implementation_name": "cpython",
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_python_implementation": "CPython",
    "platform_system": "Windows",
    "python_full_version": "3.12.9",
    "python_version": "3.12",
    "sys_platform": "win32",
    "extra": "",
}
HEAD = "# Written by python -m scripts.package.windows.pin from constraints.txt.\n"


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        found = resolve(Path(scratch))
        lines = [pin_line(wheel) for _name, wheel in sorted(found.items())]
    places.REQUIREMENTS.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    say(f"{len(lines)} wheels are pinned in {places.REQUIREMENTS}")
    return 0


def resolve(scratch: Path) -> dict[str, Path]:
    """Returns every package that is needed on Windows, by its canonical name."""
    needed = wanted(roots())
    found: dict[str, Path] = {}
    while missing := sorted(needed - found.keys()):
        fetch(missing, scratch)
        found = {canonicalize_name(parse_wheel_filename(w.name)[0]): w for w in scratch.glob("*")}
        found = {name: wheel for name, wheel in found.items() if name in needed}
        for wheel in found.values():
            needed |= wanted(requires(wheel))
    return found


def roots() -> list[str]:
    project = tomllib.loads(clone.PROJECT.read_text(encoding="utf-8"))["project"]
    given = [*project["dependencies"], *project["optional-dependencies"]["window"]]
    of_engine = importlib.metadata.requires(ENGINE) or []
    return [*(one for one in given if not one.startswith(ENGINE)), *of_engine]


def wanted(requirements: Iterable[str]) -> set[str]:
    parsed = [Requirement(text) for text in requirements]
    return {
        canonicalize_name(one.name)
        for one in parsed
        if (one.marker is None or one.marker.evaluate(WINDOWS)) and one.name not in surplus.SURPLUS
    }


def fetch(names: Iterable[str], into: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    exact = [f"{name}=={PYSIDE}" if name in ("pyside6-essentials", "shiboken6") else name
             for name in names]  # fmt: skip
    options = ("--no-deps", "--constraint", str(clone.PINS), "--dest", str(into))
    subprocess.run([*pip, *wheels.TARGET, *options, *exact], check=True)


def requires(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    return [str(line) for line in metadata.get_all("Requires-Dist") or []]


def pin_line(wheel: Path) -> str:
    name, version, *_tags = parse_wheel_filename(wheel.name)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{name}=={version} --hash=sha256:{digest}"


if __name__ == "__main__":
    sys.exit(main())
