"""moat licenses: everything inside, with the texts."""

import json
from pathlib import Path

import pytest

from server import licenses
from server.licenses import Component


def test_all_that_moat_needs_is_listed_with_its_licence() -> None:
    found = {one.name: one for one in licenses.installed()}
    assert found["moat"].kind == "program"
    assert found["msgpack"].licence == "Apache-2.0"
    assert {"aiohttp", "pydantic", "yarl", "llama_cpp_python"} <= set(found)
    assert "MIT" in found["jsonschema"].licence
    assert "Permission is hereby granted" in found["jsonschema"].text


def test_tools_of_developers_are_not_inside() -> None:
    assert not {"pytest", "mypy", "openai", "ruff"} & {one.name for one in licenses.installed()}


def test_a_package_carries_its_own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "licenses.json"
    path.write_text(json.dumps([{"name": "Qt", "version": "6", "licence": "LGPL-3.0-only"}]))
    monkeypatch.setattr(licenses, "FILE", path)
    assert licenses.find() == [Component("Qt", "6", "LGPL-3.0-only")]
