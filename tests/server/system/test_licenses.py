"""moat licenses: everything inside, with the texts."""

import json
from pathlib import Path

import pytest

from server.system import licenses
from server.system.licenses import Component


def test_all_that_moat_needs_is_listed_with_its_licence() -> None:
    found = {one.name: one for one in licenses.installed()}
    assert found["moat-copilot"].kind == "program"
    assert found["msgpack"].licence == "Apache-2.0"
    assert {"aiohttp", "pydantic", "yarl", "llama_cpp_python"} <= set(found)
    assert "MIT" in found["jsonschema"].licence
    assert "Permission is hereby granted" in found["jsonschema"].text


def test_what_no_package_describes_is_listed_with_its_text() -> None:
    found = {one.name: one for one in licenses.installed()}
    assert "The Inter Project Authors" in found["Inter"].text
    assert "Apache License" in found["SmolLM2-135M-Instruct"].text
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in found["Qt and PySide6"].text
    assert "Permission is hereby granted" in found["llama.cpp and ggml"].text
    assert found["llama.cpp and ggml"].version != found["llama_cpp_python"].version
    assert not set(licenses.QT_PACKAGES) & set(found)


def test_every_chat_template_is_listed() -> None:
    found = {one.name: one for one in licenses.installed() if one.kind == "template"}
    files = (licenses.RESOURCES / "templates").glob("*.jinja")
    assert set(found) == {f"{path.stem} (chat template)" for path in files}
    assert {one.licence for one in found.values()} == {"Apache-2.0"}
    assert all("Apache License" in one.text for one in found.values())


def test_tools_of_developers_are_not_inside() -> None:
    assert not {"pytest", "mypy", "openai", "ruff"} & {one.name for one in licenses.installed()}


def test_a_package_carries_its_own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "licenses.json"
    path.write_text(json.dumps([{"name": "Qt", "version": "6", "licence": "LGPL-3.0-only"}]))
    monkeypatch.setattr(licenses, "FILE", path)
    assert licenses.find() == [Component("Qt", "6", "LGPL-3.0-only")]
