"""Reads published advisories from local folders, without any network access.

MOAT_ADVISORIES names checkouts, separated as in PATH: of the Python Packaging Authority's
advisory-database, or of safety-db. For another format, add a reader to READERS.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

VARIABLE = "MOAT_ADVISORIES"
Events = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Advisory:
    name: str
    """The name of the package, as canonicalize_name writes it."""
    about: str
    day: str
    affects: Callable[[Version], bool]


def folders() -> list[Path]:
    return [Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one]


def read(folder: Path, names: set[str]) -> list[Advisory]:
    """Returns the advisories about these packages. Raises ValueError if the folder has none."""
    found = [one for reader in READERS for one in reader(folder, names)]
    if not found:
        raise ValueError(f"{folder} holds no advisories in a format known here")
    return found


def _authority(folder: Path, names: set[str]) -> Iterator[Advisory]:
    """Reads vulns/NAME/PYSEC-*.yaml, in the OSV format."""
    for name in sorted(names):
        for path in sorted((folder / "vulns" / name).glob("*.yaml")):
            told = yaml.load(path.read_text("utf-8"), Loader=yaml.CBaseLoader)
            if not told.get("withdrawn"):
                yield Advisory(name, told["id"], told["modified"][:10], _osv(told))


def _osv(told: dict[str, Any]) -> Callable[[Version], bool]:
    listed = {one for part in told["affected"] for one in part.get("versions", ())}
    ranges: list[Events] = [
        span["events"]
        for part in told["affected"]
        for span in part.get("ranges", ())
        if span["type"] == "ECOSYSTEM"
    ]

    def affects(version: Version) -> bool:
        return str(version) in listed or any(within(events, version) for events in ranges)

    return affects


def within(events: Events, version: Version) -> bool:
    """Whether the version is inside a range of OSV, whose events begin and end it in order."""
    inside = False
    for event in events:
        if "introduced" in event:
            inside |= event["introduced"] == "0" or version >= Version(event["introduced"])
        elif "fixed" in event:
            inside &= version < Version(event["fixed"])
        elif "last_affected" in event:
            inside &= version <= Version(event["last_affected"])
    return inside


def _safety(folder: Path, names: set[str]) -> Iterator[Advisory]:
    """Reads data/insecure.json: the vulnerable versions of each package."""
    path = folder / "data" / "insecure.json"
    if not path.is_file():
        return
    told = json.loads(path.read_text("utf-8"))
    day = datetime.fromtimestamp(told["$meta"]["timestamp"], UTC).date().isoformat()
    for listed, spans in told.items():
        name = canonicalize_name(listed)
        for span in spans if name in names else ():
            holes = SpecifierSet(span, prereleases=True)
            yield Advisory(name, f"{name}{span}", day, holes.contains)


READERS = (_authority, _safety)
