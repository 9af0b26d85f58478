"""A build that dies on this processor is replaced by a safer one, and not tried again."""

import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from scripts.bootstrap import engine, places
from scripts.bootstrap.compiler import Compiler
from scripts.bootstrap.engine import first_that_lives, try_out, verdict, wheel_for
from scripts.bootstrap.recipe import Recipe, recipes
from scripts.bootstrap.say import SetupFailed
from server.system.hardware import Processor

FAST, SAFE = recipes(
    "1.0", Processor("aarch64", "One", ()), Compiler("gcc", "g++", "g++ (GCC) 14.1.0")
)


class Bench:
    """Stands in for installing and trying; remembers what was installed."""

    def __init__(self, **reasons: str) -> None:
        self.installed: list[str] = []
        self._reasons = reasons

    def put(self, recipe: Recipe, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.installed.append(recipe.name)

    def trial(self) -> str | None:
        return self._reasons.get(self.installed[-1])


def test_the_fastest_build_that_lives_is_used(tmp_path: Path) -> None:
    bench = Bench()
    assert first_that_lives([FAST, SAFE], tmp_path, bench.put, bench.trial) == FAST
    assert bench.installed == ["native"]


def test_a_crash_leads_to_a_safer_build_and_is_remembered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(native="it crashed with code -4")
    assert first_that_lives([FAST, SAFE], tmp_path, bench.put, bench.trial) == SAFE
    assert "crashed with code -4" in capsys.readouterr().out
    again = Bench()
    assert first_that_lives([FAST, SAFE], tmp_path, again.put, again.trial) == SAFE
    assert again.installed == ["portable"]


def test_when_nothing_lives_set_up_stops(tmp_path: Path) -> None:
    bench = Bench(native="dead", portable="dead")
    with pytest.raises(SetupFailed, match="No build"):
        first_that_lives([FAST, SAFE], tmp_path, bench.put, bench.trial)


def test_what_was_refused_before_is_told_when_nothing_is_left(tmp_path: Path) -> None:
    bench = Bench(native="it crashed with code -4", portable="it computes wrong results")
    for _ in range(2):
        with pytest.raises(SetupFailed) as stopped:
            first_that_lives([FAST, SAFE], tmp_path, bench.put, bench.trial)
        assert "native: it crashed with code -4" in str(stopped.value)
        assert "portable: it computes wrong results" in str(stopped.value)
    assert bench.installed == ["native", "portable"]


def test_a_wheel_in_the_cache_is_not_built_again(tmp_path: Path) -> None:
    wheel = tmp_path / "llama_cpp_python-1.0-py3-none-any.whl"
    wheel.write_bytes(b"")

    def never() -> AbstractContextManager[None]:
        pytest.fail("nothing is compiled, so nothing is done meanwhile")

    assert wheel_for(FAST, tmp_path, never) == wheel


def test_without_a_compiler_the_command_is_named(tmp_path: Path) -> None:
    recipe = recipes("1.0", Processor("aarch64", "One", ()), None)[0]
    with pytest.raises(SetupFailed, match="Install one"):
        wheel_for(recipe, tmp_path)


def test_what_a_trial_says() -> None:
    assert verdict(0, "") is None
    assert "crashed" in str(verdict(-4, ""))
    assert "crashed" in str(verdict(0xC000001D, ""))
    assert "wrong" in str(verdict(3, "next word 'x'"))
    with pytest.raises(SetupFailed, match="no module"):
        verdict(1, "no module")


@pytest.mark.parametrize("code", [-9, -15, 0xC000013A, 0xC0000017])
def test_a_trial_that_was_ended_from_outside_says_nothing_about_the_build(code: int) -> None:
    with pytest.raises(SetupFailed, match="ended from outside"):
        verdict(code, "")


@pytest.mark.parametrize("code", [-4, -6, -8, -11, 0xC000001D, 0xC0000005, 0xC0000409])
def test_a_build_that_dies_of_itself_is_refused(code: int) -> None:
    assert f"crashed with code {code}" in str(verdict(code, ""))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_a_trial_that_hangs_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    monkeypatch.setattr(places, "PYTHON", python)
    monkeypatch.setattr(engine, "HUNG_S", 0.1)
    assert "no answer" in str(try_out(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_a_trial_that_computes_without_end_is_a_reason() -> None:
    endless = "from scripts.bootstrap.smoke import limit_computing as l\nl(1)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", endless], cwd=places.ROOT, check=False)
    assert "without end" in str(verdict(ended.returncode, ""))
