"""A variant is tried once per machine and build, in a process that may die."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from server.engine.watch import WatchLimits
from server.engine.worker.load import selftest
from server.engine.worker.load.backends import CHOSEN_BY_HAND, TRIED_CARD, Variant
from server.engine.worker.load.selftest import BackendTrials, Limits
from server.models import library as starter
from server.system import backends, processes

HANGS = "import time; time.sleep(60)"
HUNG = "it hung: it did nothing for 5 seconds"
SPUN = "it had no right word after 1 seconds of computing"
STARVES = "import time\nwhile True:\n    time.sleep(0.01)\n    sum(range(10000))"
"""Computes, but gets little of the processor, as on a machine that is busy."""
LATE = "it had no right word after 10 seconds; it is tried again when Moat starts next"


@pytest.fixture
def variant(tmp_path: Path) -> Variant:
    library = tmp_path / "libggml-cpu-fast.so"
    library.write_bytes(b"library")
    return Variant("fast", library, 3)


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What the child does; it counts its starts in a file."""
    program = tmp_path / "child.py"
    monkeypatch.setattr(processes, "command", lambda *_given: [sys.executable, str(program)])
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
    assert BackendTrials(kept, tmp_path / "model")(variant) == reason
    assert BackendTrials(kept, tmp_path / "model")(variant) == reason
    assert starts.read_text() == "x"


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_was_ended_from_outside_is_tried_again(
    tmp_path: Path, child: Path, variant: Variant, code: str
) -> None:
    kept = tmp_path / "trials.json"
    child.write_text(script(code, tmp_path / "starts"))
    assert "tried again next time" in str(BackendTrials(kept, tmp_path / "model")(variant))
    child.write_text(script("", tmp_path / "starts"))
    assert BackendTrials(kept, tmp_path / "model")(variant) is None
    assert (tmp_path / "starts").read_text() == "xx"


def test_a_name_that_is_not_this_one_spares_no_trial(
    tmp_path: Path, child: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    child.write_text(script("raise SystemExit(3)", tmp_path / "starts"))
    monkeypatch.setenv(CHOSEN_BY_HAND, "fats")
    assert BackendTrials(tmp_path / "trials.json", tmp_path / "model")(variant)


def test_another_library_is_tried_anew(tmp_path: Path, child: Path, variant: Variant) -> None:
    starts = tmp_path / "starts"
    child.write_text(script("", starts))
    trials = BackendTrials(tmp_path / "trials.json", tmp_path / "model")
    trials(variant)
    variant.path.write_bytes(b"another library")
    trials(variant)
    assert starts.read_text() == "xx"
    assert len(json.loads((tmp_path / "trials.json").read_text())) == 2


@pytest.mark.parametrize("reason", [None, "it computes wrong results"])
def test_a_verdict_that_cannot_be_kept_counts_all_the_same(
    tmp_path: Path, child: Path, variant: Variant, reason: str | None
) -> None:
    child.write_text(f"raise SystemExit({3 if reason else 0})")
    (tmp_path / "full").touch()
    assert BackendTrials(tmp_path / "full" / "trials.json", tmp_path / "model")(variant) == reason


def test_slow_is_not_wrong(
    tmp_path: Path, child: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "LATE_S", 0.2)
    child.write_text("import time; time.sleep(60)")
    kept = tmp_path / "trials.json"
    assert BackendTrials(kept, tmp_path / "model")(variant) is None
    assert not kept.exists()


def test_all_trials_of_a_load_share_one_limit_and_are_told(
    tmp_path: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def try_out(_variant: Variant, _model: Path, limits: Limits, _tell: object) -> str:
        waited.append(limits.left_s)
        time.sleep(0.05)
        return "it computes wrong results"

    monkeypatch.setattr(selftest, "_try_out", try_out)
    trials = BackendTrials(tmp_path / "trials.json", tmp_path / "model")
    trials(variant)
    trials(replace(variant, name="plain"))
    assert waited[0] == selftest.LATE_S
    assert waited[1] <= selftest.LATE_S - 0.05


def test_a_trial_is_told_while_it_runs_so_that_the_load_does_not_count_as_hung(
    tmp_path: Path, child: Path, variant: Variant
) -> None:
    go = tmp_path / "go"
    child.write_text(f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)")
    told: list[int] = []

    def tell() -> None:
        told.append(1)
        if len(told) == 3:
            go.touch()

    assert BackendTrials(tmp_path / "trials.json", tmp_path / "model", tell)(variant) is None
    assert len(told) >= 3
    assert WatchLimits().load_s / 2 >= selftest.LOOK_S


def test_in_a_clone_nothing_is_tried(tmp_path: Path, variant: Variant) -> None:
    assert BackendTrials(tmp_path / "trials.json", None)(variant) is None


def test_a_choice_by_hand_is_not_questioned(
    tmp_path: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHOSEN_BY_HAND, "fast")
    assert BackendTrials(tmp_path / "trials.json", tmp_path / "model")(variant) is None


def test_the_engine_of_this_clone_passes_its_trial() -> None:
    model = starter.find_starter()
    assert model
    code = os.spawnve(
        os.P_WAIT,
        sys.executable,
        processes.command("worker", selftest.FLAG, str(model)),
        processes.environment("worker"),
    )
    assert code == 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("assert os.environ['MOAT_TRIED_BACKEND'] == 'vulkan'", None),
        ("raise SystemExit(3)", "it computes wrong results"),
        ("raise SystemExit(4)", "it finds no card that it can use"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it ended with code -11"),
        (HANGS, HUNG),
        ("while True: pass", SPUN),
    ],
)
def test_a_card_that_crashed_or_hung_is_not_tried_again(
    tmp_path: Path,
    child: Path,
    variant: Variant,
    code: str,
    reason: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = tmp_path / "starts"
    child.write_text(script(code, starts))
    kept = tmp_path / "cache" / "trials.json"
    if reason == SPUN:
        monkeypatch.setattr(selftest, "CARD_COMPUTING_S", 1.0)
    if reason == HUNG:
        monkeypatch.setattr(selftest, "STUCK_S", 5.0)

    def tried() -> str | None:
        backends.begin()
        return BackendTrials(kept, tmp_path / "model").card("vulkan", variant.path)

    monkeypatch.setenv(backends.START, "")
    assert [tried(), tried()] == [reason, reason]
    assert starts.read_text() == "x"
    BackendTrials(kept, tmp_path / "model").forget_cards()
    assert tried() == reason
    assert starts.read_text() == "xx"


def test_what_was_late_is_tried_again_at_the_next_start_of_the_server_only(
    tmp_path: Path, child: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, kept = tmp_path / "starts", tmp_path / "trials.json"
    child.write_text(script(STARVES, starts))
    monkeypatch.setattr(selftest, "CARD_LATE_S", 10.0)

    def tried() -> str | None:
        return BackendTrials(kept, tmp_path / "model").card("vulkan", variant.path)

    monkeypatch.setenv(backends.START, "")
    backends.begin()
    assert [tried(), tried()] == [LATE, LATE]
    with monkeypatch.context() as doctor:
        doctor.delenv(backends.START)
        assert tried() == LATE
    assert starts.read_text() == "x"
    child.write_text(script("", starts))
    backends.begin()
    assert [tried(), tried()] == [None, None]
    backends.begin()
    assert tried() is None
    assert starts.read_text() == "xx"


def test_a_trial_that_got_little_of_the_processor_goes_on(
    tmp_path: Path, child: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits far longer than it may compute, as one does on a machine that is busy."""
    starts = tmp_path / "starts"
    child.write_text(script("import time; time.sleep(3)", starts))
    monkeypatch.setattr(selftest, "CARD_COMPUTING_S", 1.0)
    assert (
        BackendTrials(tmp_path / "trials.json", tmp_path / "model").card("vulkan", variant.path)
        is None
    )


def test_another_driver_is_another_question(
    tmp_path: Path, child: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts"
    child.write_text(script("raise SystemExit(3)", starts))
    trials = BackendTrials(tmp_path / "trials.json", tmp_path / "model")
    for driver in ("22.3", "22.3", "25.0"):
        monkeypatch.setattr(selftest, "driver_mark", lambda driver=driver: driver)
        assert trials.card("vulkan", variant.path) == "it computes wrong results"
    assert starts.read_text() == "xx"


@pytest.mark.parametrize("tried", ["", "vulkan"])
def test_a_trial_of_the_processor_opens_no_card(
    tried: str, monkeypatch: pytest.MonkeyPatch, variant: Variant
) -> None:
    asked: list[object] = []

    def load(refused_card: Callable[[str, Path], str | None]) -> None:
        asked.append(refused_card("vulkan", variant.path))

    monkeypatch.setenv(TRIED_CARD, tried)
    monkeypatch.setattr(selftest.backends, "load", load)
    monkeypatch.setattr(selftest.sanity, "exit_code", lambda *_arguments: 0)
    monkeypatch.setattr(selftest.lib, "llama_supports_gpu_offload", lambda: True)
    assert selftest.main("model") == 0
    assert [reason is None for reason in asked] == [bool(tried)]
