"""A header is read once for each version of its file."""

import os
from pathlib import Path

import pytest

from server.errors import ModelDamaged
from server.models.gguf import files
from server.models.gguf.cache import Headers
from tests.kit.gguf_files import Shape, write_model


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_model(tmp_path / "m.gguf")
    headers = Headers()
    first = headers.check(tmp_path / "m.gguf")
    monkeypatch.setattr(files, "check", None)
    assert headers.check(tmp_path / "m.gguf") is first


def test_a_changed_file_is_read_again(tmp_path: Path):
    write_model(tmp_path / "m.gguf")
    headers = Headers()
    headers.check(tmp_path / "m.gguf")
    write_model(tmp_path / "m.gguf", Shape(context=512))
    os.utime(tmp_path / "m.gguf", ns=(1, 1))
    assert headers.check(tmp_path / "m.gguf").context_tokens == 512


def test_a_damaged_file_stays_damaged_until_it_changes(tmp_path: Path):
    (tmp_path / "m.gguf").write_bytes(b"x")
    headers = Headers()
    for _ in range(2):
        with pytest.raises(ModelDamaged):
            headers.check(tmp_path / "m.gguf")
    assert headers.peek(tmp_path / "m.gguf") is None
    assert headers.peek(tmp_path / "missing.gguf") is None
