"""What is done to the frozen folder, system by system."""

import json
import sys
from pathlib import Path

import pytest

from scripts.package import freeze


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = tmp_path / "frozen" / "python3.12" / "lib-dynload" / "_json.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"code")
    return tmp_path / "frozen"


@pytest.fixture
def stripped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first `strip` that is found writes down here what it was asked."""
    asked = tmp_path / "asked"
    tool = tmp_path / "tools" / "strip"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    return asked


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_only_the_strip_of_linux_is_called(
    system: str, folder: Path, stripped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apple's does not know the option and would end the build."""
    monkeypatch.setattr(sys, "platform", system)
    freeze.strip(folder)
    assert not stripped.exists()


def test_on_linux_pythons_libraries_are_stripped(
    folder: Path, stripped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    freeze.strip(folder)
    assert stripped.read_text().startswith("--strip-unneeded ")


def test_the_announcer_is_named_when_address_and_key_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "updates.json"
    monkeypatch.delenv("MOAT_UPDATE_KEY", raising=False)
    monkeypatch.setenv("MOAT_UPDATE_ADDRESS", "https://moat.example/moat.json")
    freeze.name_announcer(path)
    assert not path.exists()
    monkeypatch.setenv("MOAT_UPDATE_KEY", "a2V5")
    freeze.name_announcer(path)
    assert json.loads(path.read_text()) == {
        "address": "https://moat.example/moat.json",
        "key": "a2V5",
    }
