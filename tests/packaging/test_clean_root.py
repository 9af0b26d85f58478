"""Trials of packages name what they lack, and how to get it."""

from pathlib import Path

import pytest

from tests.packaging import clean_root, try_deb, try_processors
from tests.packaging.clean_root import find_obstacles

NOWHERE = {"debootstrap": "debootstrap"}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program, and a clone in which nothing was made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(clean_root, "ROOT", tmp_path)
    return tmp_path


def test_what_is_missing_is_named_with_its_remedy(bare: Path) -> None:
    tools, package = find_obstacles(NOWHERE, "dist/moat_*.deb")
    assert "debootstrap is missing" in tools
    assert "apt-get install debootstrap" in tools
    assert "make package" in package


def test_with_all_of_it_nothing_is_in_the_way(bare: Path) -> None:
    program = bare / "debootstrap"
    program.touch(0o755)
    (bare / "a.deb").touch()
    assert find_obstacles(NOWHERE, "*.deb") == []


@pytest.mark.parametrize("trial", [try_deb, try_processors])
def test_a_trial_ends_with_sentences(
    trial: object, bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trial.main() == 2  # type: ignore[attr-defined]
    told = capsys.readouterr().err
    assert "apt-get install" in told
    assert "Traceback" not in told
