"""Missing system packages are installed where we may, and named where we may not."""

import os
from pathlib import Path

import pytest

from scripts.bootstrap import system


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An apt-get that writes down how it was called."""
    calls = tmp_path / "calls"
    program = tmp_path / "apt-get"
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return calls


def test_root_installs(apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert system.provide(["b", "a"], "libraries")
    assert apt.read_text().splitlines() == [
        "update",
        "install --yes --no-install-recommends a b",
    ]


def test_others_are_told_the_command(
    apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert not system.provide(["a"], "libraries")
    said = capsys.readouterr().out
    assert "sudo apt-get install --yes --no-install-recommends a" in said
    assert not apt.exists()


def test_where_there_is_no_apt_the_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not system.provide(["libgl1"], "libraries")
    assert "libgl1" in capsys.readouterr().out


def test_nothing_missing_means_nothing_done(apt: Path) -> None:
    assert system.provide([], "libraries")
    assert not apt.exists()


def test_a_failing_apt_is_reported_and_set_up_goes_on(
    apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apt.with_name("apt-get").write_text("#!/bin/sh\necho no network >&2; exit 100\n")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert not system.provide(["a"], "libraries")
    assert "no network" in capsys.readouterr().out


def test_other_systems_bring_their_own_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert system.missing_for_window() == []
    assert system.missing_for_tests() == []
    assert system.missing_for_build() == []


def test_missing_tools_are_found_by_their_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "xvfb" in system.missing_for_tests()
    assert "build-essential" in system.missing_for_build()
