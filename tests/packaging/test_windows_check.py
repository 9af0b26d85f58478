"""A tree in which something is missing does not become an installer."""

import ast
import shutil
import zipfile
from pathlib import Path

import pytest
from pip._vendor import distlib

from scripts.bootstrap.places import ROOT
from scripts.bootstrap.say import SetupFailed
from scripts.package.windows import check, places

PROGRAMS = Path(distlib.__file__).parent
CPU = f"{check.ENGINE}/ggml-cpu-haswell.dll"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "REPORT", tmp_path / "contents.json")
    root = tmp_path / "tree"
    opened = (f"{check.ENGINE}/lib{name}.dll" for name in check.OPENED)
    for name in (*check.NEEDED, *opened):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        console = name == "bin/moat.exe"
        shutil.copyfile(PROGRAMS / ("t64.exe" if console else "w64.exe"), path)
    (root / "program" / "start.py").write_text("import json\nimport server.chat\n")
    (root / "program" / "server").mkdir()
    (root / "program" / "server" / "chat.py").write_text("import dataclasses\n")
    with zipfile.ZipFile(root / "python" / "python312.zip", "w") as archive:
        archive.writestr("json/__init__.pyc", "")
    return root


def test_a_whole_tree_passes_and_its_files_are_written_down(tree: Path) -> None:
    check.check(tree)
    assert '"bin/moat.exe": "' in places.REPORT.read_text()


def test_a_missing_library_of_the_engine_is_named(tree: Path) -> None:
    (tree / CPU).unlink()
    with pytest.raises(SetupFailed, match=f"{CPU} is missing"):
        check.check(tree)


def test_bindings_without_what_they_open_are_noticed(tree: Path) -> None:
    (tree / check.ENGINE / "libmtmd.dll").unlink()
    with pytest.raises(SetupFailed, match="has no mtmd"):
        check.check(tree)


def test_a_library_that_needs_one_nobody_brings_is_named(tree: Path) -> None:
    data = (tree / CPU).read_bytes()
    assert data.count(b"KERNEL32.dll") == 1
    (tree / CPU).write_bytes(data.replace(b"KERNEL32.dll", b"KERNEL99.dll"))
    with pytest.raises(SetupFailed, match=f"{CPU} needs kernel99.dll"):
        check.check(tree)


@pytest.mark.parametrize("name", ["fcntl", "resource", "aiohttp"])
def test_a_module_that_windows_will_not_have_is_named(tree: Path, name: str) -> None:
    (tree / "program" / "server" / "chat.py").write_text(f"import {name}\n")
    with pytest.raises(SetupFailed, match=rf"chat.py imports {name}"):
        check.check(tree)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\n",
        "if sys.platform == 'linux':\n    import fcntl\n",
        "if sys.platform == 'win32':\n    pass\nelse:\n    import fcntl\n",
    ],
)
def test_what_a_module_can_do_without_does_not_count(text: str) -> None:
    assert list(check.imported(ast.parse(text))) == []


@pytest.mark.parametrize(
    "text",
    [
        "if sys.platform == 'linux':\n    pass\nelse:\n    import fcntl\n",
        "if sys.platform == 'win32':\n    import fcntl\n",
        "def lock():\n    import fcntl\n",
    ],
)
def test_what_windows_comes_by_counts(text: str) -> None:
    assert list(check.imported(ast.parse(text))) == ["fcntl"]


def test_no_module_of_ours_imports_what_windows_lacks() -> None:
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for package in ("app", "server")
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in check.imported(ast.parse(path.read_bytes()))
        if name.partition(".")[0] in check.POSIX_ONLY
    ]
    assert found == []


def test_a_program_with_a_console_is_not_taken_for_the_one_without(tree: Path) -> None:
    shutil.copyfile(PROGRAMS / "t64.exe", tree / "moat.exe")
    with pytest.raises(SetupFailed, match="would open a console"):
        check.check(tree)
