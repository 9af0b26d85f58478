"""A variant is tried once per machine and build, in a process that may die."""

import json
import os
import sys
from pathlib import Path

import pytest

from server import roles
from server.engine.worker import trial
from server.engine.worker.backends import CHOSEN_BY_HAND, Variant
from server.engine.worker.trial import Trials
from server.models import starter


@pytest.fixture
def variant(tmp_path: Path) -> Variant:
    library = tmp_path / "libggml-cpu-fast.so"
    library.write_bytes(b"library")
    return Variant("fast", library, 3)


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What the child does; it counts its starts in a file."""
    program = tmp_path / "child.py"
    monkeypatch.setattr(roles, "command", lambda *_given: [sys.executable, str(program)])
    return program


def script(code: str, counter: Path) -> str:
    return f"import os, signal\nopen({str(counter)!r}, 'a').write('x')\n{code}\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("", None),
        ("raise SystemExit(3)", "it computes wrong results"),
        ("os.kill(os.getpid(), signal.SIGILL)", "it ended with code -4"),
    ],
)
def test_the_verdict_is_kept(
    tmp_path: Path, child: Path, variant: Variant, code: str, reason: str | None
) -> None:
    starts = tmp_path / "starts"
    child.write_text(script(code, starts))
    kept = tmp_path / "cache" / "trials.json"
    assert Trials(kept, tmp_path / "model")(variant) == reason
    assert Trials(kept, tmp_path / "model")(variant) == reason
    assert starts.read_text() == "x"


def test_another_library_is_tried_anew(tmp_path: Path, child: Path, variant: Variant) -> None:
    starts = tmp_path / "starts"
    child.write_text(script("", starts))
    trials = Trials(tmp_path / "trials.json", tmp_path / "model")
    trials(variant)
    variant.path.write_bytes(b"another library")
    trials(variant)
    assert starts.read_text() == "xx"
    assert len(json.loads((tmp_path / "trials.json").read_text())) == 2


def test_in_a_clone_nothing_is_tried(tmp_path: Path, variant: Variant) -> None:
    assert Trials(tmp_path / "trials.json", None)(variant) is None


def test_a_choice_by_hand_is_not_questioned(
    tmp_path: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHOSEN_BY_HAND, "fast")
    assert Trials(tmp_path / "trials.json", tmp_path / "model")(variant) is None


def test_the_engine_of_this_clone_passes_its_trial() -> None:
    model = starter.find()
    assert model
    code = os.spawnve(
        os.P_WAIT,
        sys.executable,
        roles.command("worker", trial.FLAG, str(model)),
        roles.environment("worker"),
    )
    assert code == 0
