"""Support for graphics cards is packed only when the engine takes it; missing tools are named."""

import shutil
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import graphics as building
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


def test_a_package_is_made_without_vulkan_where_it_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(building, "build", lambda _kind: pytest.fail("It was built."))
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "glslc" else f"/usr/{tool}")
    graphics.put_into(tmp_path)
    assert "glslc libvulkan-dev" in capsys.readouterr().out
    monkeypatch.setattr(shutil, "which", lambda tool: f"/usr/{tool}")
    header = tmp_path / "vulkan_core.h"
    header.write_text("#define VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION(0, 1, 3, X)")
    monkeypatch.setattr(building, "VULKAN_HEADER", header)
    graphics.put_into(tmp_path)
    assert "headers of Vulkan 1.4" in capsys.readouterr().out


def test_a_package_carries_vulkan_where_it_can_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, library = tmp_path / "vulkan_core.h", tmp_path / "libggml-vulkan.so"
    header.write_text("#define VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION(0, 1, 4, X)")
    library.write_bytes(b"library")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(building, "VULKAN_HEADER", header)
    monkeypatch.setattr(shutil, "which", lambda tool: f"/usr/{tool}")
    monkeypatch.setattr(building, "build", lambda _kind: library)
    engine = tmp_path / "engine"
    engine.mkdir()
    monkeypatch.setenv(graphics.WITHOUT, "1")
    graphics.put_into(engine)
    assert not list(engine.iterdir())
    monkeypatch.delenv(graphics.WITHOUT)
    graphics.put_into(engine)
    assert (engine / "libggml-vulkan.so").read_bytes() == b"library"


def test_the_libraries_of_cuda_are_packed_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toolkit is reached by a script in another folder, as nvcc says."""
    toolkit = tmp_path / "cuda"
    (toolkit / "lib64").mkdir(parents=True)
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\necho '#$ TOP={toolkit}' >&2\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _tool: str(nvcc))
    for name in ("libcudart.so.12", "libcudart.so", "libcublas.so.12", "libnvrtc.so.12"):
        (toolkit / "lib64" / name).write_bytes(b"x")
    with pytest.raises(SetupFailed, match="cublasLt"):
        graphics.toolkit_libraries()
    (toolkit / "lib64" / "libcublasLt.so.12").write_bytes(b"x")
    into = tmp_path / "folder"
    into.mkdir()
    graphics.add_runtime(into)
    packed = sorted(path.name for path in into.iterdir())
    assert packed == ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12"]
