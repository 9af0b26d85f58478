"""What is listed as inside a package besides the packages of Python."""

import platform
import re

import pytest

from scripts.bootstrap.places import engine_version
from scripts.package import bill, notices
from scripts.package.windows import engine, materials
from server.system import licenses


@pytest.fixture(autouse=True)
def _versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyInstaller is there only where packages are made."""
    known = licenses.metadata.version
    told = {"pyinstaller": "6"}
    monkeypatch.setattr(notices.metadata, "version", lambda name: told.get(name) or known(name))


def test_all_that_is_listed_in_a_clone_is_listed_in_a_package() -> None:
    found = notices.by_hand()
    assert found[: len(licenses.by_hand())] == licenses.by_hand()
    assert (found[-2].name, found[-2].version) == ("Python", platform.python_version())


def test_the_bill_names_the_engine_by_its_own_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    parts = {part["name"]: part for part in bill.bill(notices.by_hand())["components"]}
    version = parts["llama.cpp and ggml"]["version"]
    assert re.match(r"\d+\.\d+\.\d+", version)
    assert version != engine_version()
    assert parts["Qwen-Qwen3-0.6B (chat template)"]["type"] == "file"


def test_the_runtime_for_windows_is_that_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "compiler_version", lambda: "14.2.0")
    assert materials.compilers_runtime().version == "14.2.0"
