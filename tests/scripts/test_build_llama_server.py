"""Whoever needs llama.cpp's own server waits for the one that builds it."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from scripts import build_llama_server
from scripts.bootstrap.recipe import Recipe

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")


def write_program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_two_who_need_it_build_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []
    both = Barrier(2)

    def build(_recipe: Recipe, folder: Path) -> None:
        built.append(folder)
        program = folder / "build" / build_llama_server.TARGET
        program.parent.mkdir()
        write_program(program, "exit 0")

    def ask(_number: int) -> Path:
        both.wait()
        return build_llama_server.llama_server()

    monkeypatch.delenv("MOAT_LLAMA_SERVER", raising=False)
    monkeypatch.setattr(build_llama_server, "build", build)
    monkeypatch.setattr(build_llama_server.places, "wheel_cache", lambda: tmp_path / "wheels")
    with ThreadPoolExecutor(2) as side_by_side:
        first, second = side_by_side.map(ask, range(2))
    assert first == second
    assert first.exists()
    assert len(built) == 1


def test_a_kept_program_that_lost_its_libraries_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(_recipe: Recipe, folder: Path) -> None:
        write_program(folder / "build" / build_llama_server.TARGET, "exit 0")

    monkeypatch.delenv("MOAT_LLAMA_SERVER", raising=False)
    monkeypatch.setattr(build_llama_server, "build", build)
    monkeypatch.setattr(build_llama_server.places, "wheel_cache", lambda: tmp_path / "wheels")
    key = build_llama_server.installed_recipe().key
    kept = tmp_path / build_llama_server.TARGET / key / "build" / build_llama_server.TARGET
    kept.parent.mkdir(parents=True)
    write_program(kept, "exit 127")
    assert build_llama_server.starts(build_llama_server.llama_server())
