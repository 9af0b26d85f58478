"""Folders that cannot be made are told in a sentence."""

import os
from pathlib import Path

import pytest

from server import cli
from server.system import paths
from tests.kit import without_rights


def test_all_folders_are_made_and_may_be_there(moat_home: Path):
    places = paths.find()
    places.make()
    places.make()
    assert places.models.is_dir()
    assert places.runtime == moat_home / "run"


@pytest.mark.parametrize("command", [["models", "list"], ["chat", "Hi"], ["serve"]])
def test_a_home_that_is_a_file_is_told_in_a_sentence(
    command: list[str], moat_home: Path, capsys: pytest.CaptureFixture[str]
):
    moat_home.write_text("a file")
    assert cli.main(command) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"The folder {moat_home}")
    assert said.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_home_that_may_not_be_written_is_told_in_a_sentence():
    imports = "from server.system import paths\nfrom server.errors import AppError"
    work = (
        "os.environ['MOAT_HOME'] = sys.argv[1]\n"
        "try: paths.find().make()\nexcept AppError as error: print(error)"
    )
    with without_rights.folders() as (_opened, locked):
        without_rights.lock(locked)
        said = without_rights.said(imports, work, locked / "home")
    assert "cannot be made (Permission denied)" in said
