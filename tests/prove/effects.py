"""Effects of a request: steps of the model, files in the home folder."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.prove.stage import Stage
from tests.prove.wire import ask

COUNTED = re.compile(r"^moat_(?:steps|completion_tokens)_total (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Traces:
    steps: tuple[str, ...]
    files: frozenset[tuple[str, int, int]]


def traces(stage: Stage) -> Traces:
    """Returns what stays equal if no token is made and no file changes. Logs do not count."""
    text = ask(stage.ours.port, "GET", "/metrics").body.decode()
    return Traces(tuple(COUNTED.findall(text)), files_of(stage.home))


def files_of(home: Path) -> frozenset[tuple[str, int, int]]:
    found = (path for path in home.rglob("*") if "logs" not in path.parts and path.is_file())
    return frozenset((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in found)
