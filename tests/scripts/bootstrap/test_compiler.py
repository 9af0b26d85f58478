"""Versions are read from what compilers print; a good compiler wins over an old one."""

from pathlib import Path

import pytest

from scripts.bootstrap import compiler
from scripts.bootstrap.compiler import Compiler, gcc_major


@pytest.mark.parametrize(
    ("printed", "major"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", 12),
        ("g++-14 (Ubuntu 14.2.0-4ubuntu2) 14.2.0", 14),
        ("c++ (GCC) 15.1.1 20250425", 15),
        ("something else", 0),
    ],
)
def test_the_major_version_of_gcc(printed: str, major: int) -> None:
    assert gcc_major(printed) == major


def test_clang_is_never_the_broken_one() -> None:
    assert not Compiler("clang", "clang++", "clang version 11.0.1").drops_tile_configuration
    assert Compiler("gcc", "g++", "g++ (GCC) 13.3.0").drops_tile_configuration


def pretend(folder: Path, name: str, version: str, *, works: bool = True) -> None:
    program = folder / name
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit 0\nexit {0 if works else 1}\n'
    )
    program.chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("gcc", "g++"):
        pretend(tmp_path, name, "g++ (Debian 12.2.0-14) 12.2.0")
    return tmp_path


def test_a_newer_gcc_is_preferred_where_it_matters(tools: Path) -> None:
    for name in ("gcc-14", "g++-14"):
        pretend(tools, name, "g++-14 (Debian 14.2.0-8) 14.2.0")
    preferred = compiler.find(prefer_new=True)
    usual = compiler.find(prefer_new=False)
    assert preferred
    assert preferred.cxx == "g++-14"
    assert usual
    assert usual.cxx == "g++"


def test_a_compiler_that_cannot_compile_does_not_count(tools: Path) -> None:
    for name in ("clang", "clang++"):
        pretend(tools, name, "clang version 16.0.0", works=False)
    found = compiler.find(prefer_new=True)
    assert found
    assert found.cxx == "g++"


def test_no_compiler_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert compiler.find(prefer_new=True) is None


def test_the_users_choice_is_respected(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tools, "mycc", "my own 1.0.0")
    monkeypatch.setenv("CC", "mycc")
    monkeypatch.setenv("CXX", "mycc")
    found = compiler.find(prefer_new=True)
    assert found
    assert found.cxx == "mycc"
