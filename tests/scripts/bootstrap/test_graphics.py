"""Which support for a card is compiled, and for which generation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import graphics


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_the_generations_of_the_cards_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    put(tmp_path, "nvidia-smi", "echo 8.9; echo 12.0; echo 8.9; echo '[N/A]'")
    assert graphics.find_generations() == ["120", "89"]
    put(tmp_path, "nvidia-smi", "echo 8.9; exit 9")
    assert graphics.find_generations() == []


def test_cuda_is_chosen_where_it_can_be_built_for_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: f"/bin/{tool}")
    assert graphics.choose(has_nvidia=True) == "cuda"
    assert graphics.choose(has_nvidia=False) == "vulkan"
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "nvcc" else f"/bin/{tool}")
    assert graphics.choose(has_nvidia=True) == "vulkan"


def test_a_card_without_tools_is_told_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: "/bin/cmake" if tool == "cmake" else None)
    monkeypatch.setattr(graphics, "find_generations", lambda: ["89"])
    heard: list[dict[str, str]] = []
    graphics.provide("auto", Path("/nowhere"), lambda **facts: heard.append(facts))
    (facts,) = heard
    assert "glslc libvulkan-dev spirv-headers or nvidia-cuda-toolkit" in facts["notice"]


def test_the_program_ends_well_while_its_starter_lives(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.bootstrap.graphics", "vulkan", str(tmp_path)],
        cwd=graphics.places.ROOT,
        env={"PATH": "/nothing"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout
        assert b"glslc" in child.stdout.read()
        assert child.wait(60) == 0


def test_cuda_is_built_for_the_generation_of_the_card_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, ...]] = []
    library = tmp_path / "libggml-cuda.so"
    library.write_bytes(b"library")

    def build(_kind: str, more: tuple[str, ...], _show: object) -> Path:
        made.append(more)
        return library

    monkeypatch.setattr(graphics, "build", build)
    monkeypatch.setattr(graphics, "find_generations", lambda: ["89"])
    monkeypatch.setattr(shutil, "which", lambda tool: f"/bin/{tool}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    heard: list[dict[str, object]] = []
    graphics.provide("auto", tmp_path / "into", lambda **facts: heard.append(facts))
    assert made == [("-DCMAKE_CUDA_ARCHITECTURES=89",)]
    assert heard[-1] == {"ready": "cuda"}
