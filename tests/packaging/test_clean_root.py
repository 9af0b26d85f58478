"""Trials of packages name what they lack, and how to get it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.package import product
from tests.packaging import clean_root, try_container, try_deb, try_processors, try_vulkan
from tests.packaging.clean_root import find_obstacles

NOWHERE = {"debootstrap": "debootstrap"}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program, and a clone in which nothing was made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["trial"])
    monkeypatch.setattr(clean_root, "ROOT", tmp_path)
    return tmp_path


def test_what_is_missing_is_named_with_its_remedy(bare: Path) -> None:
    tools, package = find_obstacles(NOWHERE, "dist/moat_*.deb")
    assert "Missing: debootstrap." in tools
    assert "apt-get install debootstrap" in tools
    assert "make package" in package


def test_with_all_of_it_nothing_is_in_the_way(bare: Path) -> None:
    program = bare / "debootstrap"
    program.touch(0o755)
    (bare / "a.deb").touch()
    assert find_obstacles(NOWHERE, "*.deb") == []


@pytest.mark.parametrize("trial", [try_deb, try_vulkan, try_container, try_processors])
def test_a_trial_ends_with_sentences(
    trial: object, bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trial.main() == 2  # type: ignore[attr-defined]
    told = capsys.readouterr().err
    assert "apt-get install" in told
    assert "Traceback" not in told


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_the_trial_under_wine_ends_with_sentences(bare: Path) -> None:
    shell = shutil.which("bash", path="/usr/bin:/bin")
    assert shell
    script = product.ROOT / "packaging" / "windows" / "try_wine"
    done = subprocess.run([shell, script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    told = done.stderr.splitlines()
    assert [line.partition(". ")[0] for line in told[:1]] == ["Name the setup.exe to try"]
    assert any("apt-get install wine64" in line for line in told)
    assert any("apt-get install curl" in line for line in told)
