import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from server.system.files import DRAFT_S, JsonFile, set_aside, sweep_drafts, write_atomically


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path):
    path = tmp_path / "a.json"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


SAVE_BEYOND_THE_LIMIT = """
import pathlib, resource, signal, sys
from server.system.files import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomically(pathlib.Path(sys.argv[1]), "new" * 10000)
except OSError:
    sys.exit(7)
"""


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.json"
    write_atomically(path, "old")
    ran = subprocess.run([sys.executable, "-c", SAVE_BEYOND_THE_LIMIT, path], check=False)
    assert ran.returncode == 7
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_files_set_aside_do_not_overwrite_each_other(tmp_path: Path):
    path = tmp_path / "a.json"
    for text in ("one", "two"):
        path.write_text(text)
        set_aside(path)
    assert (tmp_path / "a.broken-1.json").read_text() == "one"
    assert (tmp_path / "a.broken-2.json").read_text() == "two"


def test_drafts_of_killed_programs_are_swept_and_young_ones_left(tmp_path: Path):
    old, young = tmp_path / ".a.json.x.draft", tmp_path / ".a.json.y.draft"
    old.touch()
    young.touch()
    os.utime(old, (time.time() - 2 * DRAFT_S,) * 2)
    write_atomically(tmp_path / "a.json", "kept")
    sweep_drafts(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"a.json", young.name}


@pytest.mark.parametrize("content", ["", "[1]", "{", "[" * 100_000, '{"a": "\\ud800"'])
def test_a_json_file_that_cannot_be_read_is_empty_and_a_precious_one_is_kept(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    assert JsonFile(path, "It").read() == {}
    assert path.read_text() == content
    assert JsonFile(path, "It", is_precious=True).read() == {}
    assert (tmp_path / "x.broken-1.json").read_text() == content
    JsonFile(path, "It").write({"a": "\ud800", "b": {"of": "a newer version"}})
    assert JsonFile(path, "It").read() == {"a": "\ud800", "b": {"of": "a newer version"}}


def test_a_json_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    file = JsonFile(tmp_path / "in the way" / "x.json", "It")
    file.write({"a": 1})
    assert file.read() == {}
