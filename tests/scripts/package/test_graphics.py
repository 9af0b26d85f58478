"""Support for graphics cards is packed only when the engine takes it; missing tools are named."""

import shutil
from pathlib import Path

import pytest

from scripts.bootstrap.say import SetupFailed
from scripts.package import graphics


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "nvcc" else f"/bin/{tool}")
    with pytest.raises(SetupFailed, match="nvidia-cuda-toolkit"):
        graphics.package("cuda")


def test_a_library_the_engine_does_not_take_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "libggml-vulkan.so").write_bytes(b"no library")
    with pytest.raises(SetupFailed, match="does not fit this engine"):
        graphics.try_out("vulkan", tmp_path)


def test_whoever_unpacks_it_is_told_where_it_goes(tmp_path: Path) -> None:
    graphics.describe("cuda", tmp_path, "libggml-cuda.so")
    text = (tmp_path / "README").read_text()
    assert "libggml-cuda.so into ~/.local/share/moat/backends" in text
    assert "libcublas" in text
    assert "The ggml authors" in (tmp_path / "LICENSE").read_text()
