"""The terminal as it is: a pipe that closes early, a screen that knows few letters."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server import cli
from server.commands import keys
from server.system import paths
from tests.kit.gguf_files import write_model

MOAT = [sys.executable, "-m", "app"]


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
@pytest.mark.parametrize("command", [["models", "list"], ["licenses"]])
def test_a_reader_who_has_seen_enough_gets_no_traceback(command: list[str]):
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.run(
        [*MOAT, *command], stdout=writing, stderr=subprocess.PIPE, timeout=180, check=False
    )
    os.close(writing)
    assert (child.returncode, child.stderr) == (1, b"")


def test_letters_the_screen_does_not_know_are_replaced():
    write_model(paths.find().models / "smile\N{GRINNING FACE}.gguf")
    child = subprocess.run(
        [*MOAT, "models", "list"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        timeout=180,
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
        timeout=180,
        check=False,
    )
    said = "mmproj-x.gguf is a vision projector, not a model: load it together with its model.\n"
    assert (child.returncode, child.stderr) == (1, said)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_window_without_its_folders_says_so(moat_home: Path):
    moat_home.write_text("a file")
    child = subprocess.run(MOAT, capture_output=True, text=True, timeout=180, check=False)
    assert child.returncode == 1
    assert child.stderr.startswith("The folder ")
    assert "Traceback" not in child.stderr


def find_parsers(action: Any, path: str = "moat") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, parser in action.choices.items():
        yield f"{path} {name}", parser
        for below in parser._actions:
            if isinstance(below, argparse._SubParsersAction):
                yield from find_parsers(below, f"{path} {name}")


def test_every_command_says_what_it_does_and_what_lists_speaks_json():
    commands = argparse.ArgumentParser().add_subparsers()
    for module in cli.modules_of(""):
        module.add_to(commands)
    cli._describe(commands)
    found = dict(find_parsers(commands))
    assert all(parser.description for parser in found.values())
    without = {name for name, parser in found.items() if "--json" not in parser.format_help()}
    listing = {"list", "search", "info", "fit", "tools", "check"}
    listing |= {"ps", "logs", "doctor", "graphics", "licenses"}
    assert not {name for name in without if name.split()[-1] in listing}


def test_each_command_is_added_by_the_module_that_is_named():
    everything = argparse.ArgumentParser().add_subparsers()
    for module in cli.modules_of(""):
        module.add_to(everything)
    for command in everything.choices:
        alone = argparse.ArgumentParser().add_subparsers()
        for module in cli.modules_of(command):
            module.add_to(alone)
        assert command in alone.choices


def test_a_command_for_the_running_moat_does_not_load_the_server():
    code = "import sys; from server import cli; cli.main(['ps']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "server.commands.running" in loaded
    assert not {"server.core.core", "server.commands.models", "server.models.service"} & {*loaded}


@pytest.mark.parametrize(
    "arguments",
    [["serve", "--port", "x"], ["logs", "-n", "-3"], ["models", "fit", "m", "--slots", "a"]],
)
def test_a_number_that_is_none_is_explained(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "invalid" not in capsys.readouterr().err


def test_an_interrupted_command_says_so_by_its_status(monkeypatch: pytest.MonkeyPatch):
    async def interrupt(**_options: bool) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(keys, "_list", interrupt)
    assert cli.main(["keys", "list"]) == 130
