"""Coverage-guided fuzzing: it continues from inputs that reached new code.

python -m tests.prove.guided READER FLAGS... runs atheris (libFuzzer) in a separate process. Inputs
that reached new code are kept in `found`, and so are those that broke a reader. Both are tried in
every later run.
"""

import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.bootstrap.say import SetupFailed
from scripts.build_fuzzer import fuzzer

if TYPE_CHECKING:
    from tests.prove.readers import Reader

PROGRAM = "tests.prove.guided"
ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).with_name("corpus")
FOUND = Path(__file__).with_name("found")
RUNS = re.compile(r"^Done (\d+) runs", re.MULTILINE)
COVERED = re.compile(r"\bcov: (\d+)")
DEFECT = re.compile(r"=== Uncaught Python exception: ===\s*(.+)")
LIMITS = ("-timeout=20", "-rss_limit_mb=2048")
"""Seconds and memory for one input."""


@dataclass(frozen=True, slots=True)
class Guided:
    """The outcome of guided fuzzing."""

    text: str
    held: bool


def guide(reader: "Reader", scratch: Path, seconds: int, *, in_full: bool) -> Guided:
    try:
        folder = fuzzer(may_build=in_full)
    except SetupFailed as failure:
        return Guided(f"not guided: {failure}"[:120], held=True)
    kept, new = FOUND / reader.name, scratch / "new"
    for made in (kept, new):
        made.mkdir(parents=True, exist_ok=True)
    fuzz = partial(_run, folder, reader.name, str(scratch), f"-artifact_prefix={kept}{os.sep}")
    ended = fuzz(f"-max_total_time={seconds}", str(new), str(kept), str(CORPUS / reader.name))
    if in_full:
        fuzz("-merge=1", str(kept), str(new))
    return told(ended.returncode, ended.stdout)


def _run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", PROGRAM, *arguments, *LIMITS],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def told(code: int, output: str) -> Guided:
    runs, covered = RUNS.search(output), COVERED.findall(output)
    if code or not runs:
        defect = DEFECT.search(output)
        lines = output.strip().splitlines()
        reason = defect[1] if defect else lines[-1] if lines else "it said nothing"
        return Guided(f"guided: {reason}"[:120], held=False)
    return Guided(f"guided {int(runs[1]):,} runs, {covered[-1]} places reached", held=True)


def main(name: str, scratch: str, *flags: str) -> None:
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["server"]):
        readers = import_module("tests.prove.readers").READERS
    reader: Reader = next(one for one in readers if one.name == name)

    def read(data: bytes) -> None:
        with suppress(*reader.refusals):
            reader.read(data, Path(scratch))

    again = shlex.join([sys.executable, "-m", PROGRAM, name, scratch])
    atheris.Setup([again, *flags], read)  # libFuzzer starts itself again to merge
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
