"""Set-up as a whole: what counts as done, what is tried again, and one at a time."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.bootstrap import __main__ as setup
from scripts.bootstrap import engine, environment, places, system
from scripts.bootstrap.say import SetupFailed
from tests.scripts.bootstrap.test_lock import hold


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an environment, in which nothing is really installed."""
    monkeypatch.setattr(places, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(places, "LOCK", tmp_path / "build" / "setup.lock")
    monkeypatch.setattr(places, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(sys, "argv", ["setup.py"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(system, "provide", lambda *_: True)
    monkeypatch.setattr(environment, "make", lambda: None)
    monkeypatch.setattr(environment, "install_starter", lambda: tmp_path)
    monkeypatch.setattr(environment, "install_packages", lambda *_: None)
    monkeypatch.setattr(engine, "install", lambda *_: None)
    return tmp_path


def without_network(*_extras: str) -> None:
    raise SetupFailed("no network")


def without_window(*extras: str) -> None:
    if "window" in extras:
        raise SetupFailed("no network")


def test_what_was_done_is_not_done_again(clone: Path) -> None:
    assert setup.main() == 0
    assert setup.is_ready("run")
    assert not setup.is_ready("test")
    assert [path.name for path in clone.iterdir() if path.is_file()] == ["stamp.json"]


@pytest.mark.parametrize("stamp", ["", "[]", "{}", "null", '{"state":', "\x00"])
def test_a_stamp_cut_short_counts_as_none(clone: Path, stamp: str) -> None:
    (clone / "stamp.json").write_text(stamp)
    assert setup.main() == 0
    assert json.loads((clone / "stamp.json").read_text())["purposes"] == ["run"]


def test_another_python_is_another_state(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {setup.state()}
    monkeypatch.setattr(sys, "base_prefix", "/somewhere/else")
    states.add(setup.state())
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    states.add(setup.state())
    assert len(states) == 3


def test_the_window_is_tried_again_and_its_lack_is_no_failure(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "install_packages", without_window)
    assert setup.main() == 0
    assert not setup.is_ready("run")
    monkeypatch.setattr(environment, "install_packages", without_network)
    assert setup.main() == 0
    assert not setup.is_ready("run")
    monkeypatch.setattr(environment, "install_packages", lambda *_: None)
    assert setup.main() == 0
    assert setup.is_ready("run")


def test_without_anything_set_up_fails(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "install_packages", without_network)
    assert setup.main() == 1
    assert not (clone / "stamp.json").exists()


@pytest.mark.timeout(30)
def test_the_second_set_up_waits_for_the_first_and_finds_all_done(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(environment, "make", lambda: made.append("environment"))
    with hold(places.LOCK) as first:
        assert first.stdin
        setup.remember("test")
        monkeypatch.setattr(setup, "is_ready", once_unready(setup.is_ready))
        first.stdin.write("leave\n")
        first.stdin.flush()
        assert setup.main() == 0
    assert (places.LOCK.parent / "left").exists()
    assert made == []


def once_unready(is_ready: Callable[[str], bool]) -> Callable[[str], bool]:
    """As it is for the second: not ready when it looks, ready when the first has left."""
    looks: list[str] = []

    def look(purpose: str) -> bool:
        looks.append(purpose)
        return len(looks) > 1 and is_ready(purpose)

    return look
