"""A Moat that pip installed: which commands wait for the engine, and how it is joined."""

import os
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import __main__ as setup
from scripts.bootstrap import engine, environment, installed, places, system
from server.system.backends import ENGINE_FOLDER


@pytest.mark.parametrize("given", [[], ["--hidden"], ["serve"], ["serve", "--port", "1"], ["chat"]])
def test_what_computes_waits_for_the_engine(given: list[str]) -> None:
    assert installed.needs_engine(given)


@pytest.mark.parametrize(
    "given",
    [
        ["--version"],
        ["--help"],
        ["serve", "--help"],
        ["models", "list"],
        ["serve", "--engine=http://127.0.0.1:1"],
        ["serve", "--engine", "http://127.0.0.1:1"],
    ],
)
def test_what_does_not_starts_at_once(given: list[str]) -> None:
    assert not installed.needs_engine(given)


def test_an_engine_elsewhere_may_be_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MOAT_ENGINES", "http://127.0.0.1:1")
    assert not installed.needs_engine(["serve"])
    assert installed.needs_engine(["chat"])


def test_the_first_start_brings_the_engine_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(places, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(places, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(places, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(places, "SITE", tmp_path / "none yet")
    monkeypatch.setattr(system, "provide", lambda _packages, purpose: asked.append(purpose))
    monkeypatch.setattr(environment, "make", lambda: asked.append("environment"))
    monkeypatch.setattr(environment, "install_starter", lambda: asked.append("starter"))
    monkeypatch.setattr(engine, "install", lambda _model, purpose: asked.append(purpose))
    assert installed.prepare(["serve"]) == 0
    assert asked == ["tools for the set-up", "environment", "starter", "engine"]
    assert setup.is_ready("engine")
    assert installed.prepare(["serve"]) == 0
    assert len(asked) == 4


def test_the_engine_is_found_after_all_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SITE", tmp_path)
    monkeypatch.setattr(sys, "path", ["first"])
    monkeypatch.delenv(ENGINE_FOLDER, raising=False)
    installed.join()
    assert sys.path == ["first", str(tmp_path)]
    assert os.environ.pop(ENGINE_FOLDER) == str(tmp_path)
