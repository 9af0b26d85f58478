"""The terminal as it is: a pipe that closes early, a screen that knows few letters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.system import paths
from tests.kit.gguf_files import write_model

MOAT = [sys.executable, "-m", "app"]


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
@pytest.mark.parametrize("command", [["models", "list"], ["licenses"]])
def test_a_reader_who_has_seen_enough_gets_no_traceback(command: list[str]):
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.run(
        [*MOAT, *command], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(writing)
    assert (child.returncode, child.stderr) == (1, b"")


def test_letters_the_screen_does_not_know_are_replaced():
    write_model(paths.find().models / "smile\N{GRINNING FACE}.gguf")
    child = subprocess.run(
        [*MOAT, "models", "list"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"smile?" in child.stdout
    assert (child.returncode, child.stderr) == (0, b"")


def test_the_eyes_of_a_model_are_refused_in_a_sentence(tmp_path: Path):
    write_model(tmp_path / "mmproj-x.gguf", **{"general.type": "mmproj"})
    child = subprocess.run(
        [*MOAT, "chat", "--model", str(tmp_path / "mmproj-x.gguf"), "Hi"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = "mmproj-x.gguf is a vision projector, not a model: load it together with its model.\n"
    assert (child.returncode, child.stderr) == (1, said)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_window_without_its_folders_says_so(moat_home: Path):
    moat_home.write_text("a file")
    child = subprocess.run(MOAT, capture_output=True, text=True, timeout=60, check=False)
    assert child.returncode == 1
    assert child.stderr.startswith("The folder ")
    assert "Traceback" not in child.stderr
