"""The llama.cpp inside is named by its own library."""

import _ctypes
import os
import re
import shutil
from pathlib import Path

import pytest

from server.system import backends


def test_the_installed_engine_names_its_version() -> None:
    folder = backends.library_folder()
    assert folder
    assert re.match(r"\d+\.\d+\.\d+", backends.ggml_version(folder))


def test_no_library_names_nothing(tmp_path: Path) -> None:
    assert backends.ggml_version(tmp_path) == ""
    (tmp_path / "libggml-base.so").write_text("no library")
    assert backends.ggml_version(tmp_path) == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_library_of_before_it_had_versions_names_nothing(tmp_path: Path) -> None:
    shutil.copyfile(_ctypes.__file__, tmp_path / "libggml-base.so")
    assert backends.ggml_version(tmp_path) == ""
