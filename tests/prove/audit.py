"""The packages that Moat consists of: all are pinned, above versions with known holes."""

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts.pin import LEFT_TO_PYPROJECT, needed
from server.system.licenses import PROGRAM
from tests.prove import advisories
from tests.prove.rows import Figure, NotOurs, Row
from tests.prove.stage import ROOT, Stage

MENDED = {
    "aiohttp": ((3, 14, 3), "CVE-2025-69228, CVE-2026-34516, CVE-2026-34517, CVE-2026-22815"),
    "llama-cpp-python": ((0, 2, 72), "CVE-2024-34359"),
    "jinja2": ((3, 1, 6), "CVE-2024-56201, CVE-2024-56326, CVE-2025-27516"),
    "pyyaml": ((5, 4), "CVE-2020-14343"),
    "pypdf": ((6, 0, 0), "CVE-2025-55197"),
    "idna": ((3, 7), "CVE-2024-3651"),
}
"""The first version without the named vulnerabilities."""

TODAY = "No part has a hole that an advisory at hand tells of"


def pinned(_stage: Stage) -> Figure:
    """Checks that every package is pinned exactly, and at or above its first mended version."""
    pins = _pins()
    parts = set(needed(PROGRAM, ("window",), set()))
    loose = sorted(parts - set(pins) - exact(ROOT / "pyproject.toml") - {PROGRAM})
    low = [
        f"{name} {version}"
        for name, (least, _) in MENDED.items()
        for version in (metadata.version(name), pins.get(name, ""))
        if version and _numbers(version) < least
    ]
    text = f"{len(parts)} parts, {len(loose)} not pinned, {len(low)} below a mended version"
    return Figure(f"{text} {', '.join([*loose[:3], *low[:3]])}".strip(), not loose and not low)


def exact(project: Path) -> set[str]:
    """Returns the packages with an exact version on every system, and those they pin in turn."""
    told = tomllib.loads(project.read_text("utf-8"))["project"]
    ours = _exactly([*told["dependencies"], *told["optional-dependencies"]["window"]])
    return ours.union(*(_exactly(metadata.requires(name) or ()) for name in ours))


def _exactly(lines: Iterable[str]) -> set[str]:
    named: dict[str, list[Requirement]] = {}
    for one in map(Requirement, lines):
        named.setdefault(canonicalize_name(one.name), []).append(one)
    return {name for name, found in named.items() if all(map(_is_exact, found))}


def _is_exact(requirement: Requirement) -> bool:
    return bool(re.fullmatch(r"==[^*,]+", str(requirement.specifier)))


def _pins() -> dict[str, str]:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    pairs = re.findall(r"^([\w.-]+)==(\S+)", text, re.M)
    return {canonicalize_name(name): version for name, version in pairs}


def advised(_stage: Stage) -> Figure:
    """Compares every package, including those for tests and builds, with the local advisories."""
    ours = LEFT_TO_PYPROJECT - {PROGRAM}
    parts = _pins() | {name: metadata.version(name) for name in ours}
    known = [one for at in advisories.folders() for one in advisories.read(at, set(parts))]
    hit = sorted({one.about for one in known if one.affects(Version(parts[one.name]))})
    newest = max(one.day for one in known)
    text = f"{len(known)} advisories about {len(parts)} parts, the newest of {newest}: "
    return Figure(f"{text}{len(hit)} apply {', '.join(hit[:3])}".strip(), not hit)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


ROWS = (
    Row(
        "A1",
        "Every part is pinned, above the versions with known holes",
        "0 loose, 0 low",
        pinned,
    ),
    *((Row("A2", TODAY, "0 apply", advised),) if advisories.folders() else ()),
)
NOT_MEASURED = (
    ()
    if advisories.folders()
    else (
        NotOurs(
            "A2",
            TODAY,
            f"Needs advisories: {advisories.VARIABLE} names a checkout of them. The parts are "
            "compared with those known when they were pinned (A1).",
        ),
    )
)
