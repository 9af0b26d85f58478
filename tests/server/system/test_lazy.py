"""What is imported late stands in the list, is there, and is not loaded by starting the server."""

import re
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path

import pytest

from server.system import lazy
from server.system.lazy import MODULES, Late

SERVER = Path(__file__).resolve().parents[3] / "server"


@pytest.mark.parametrize("name", MODULES)
def test_a_listed_module_can_be_imported(name: str):
    assert import_module(name)


def test_the_list_holds_what_the_code_imports_late():
    said = re.compile(r'\bLate\("([^"]+)"\)')
    used = {name for path in SERVER.rglob("*.py") for name in said.findall(path.read_text("utf-8"))}
    assert used == set(MODULES)


def test_it_gives_what_the_module_has():
    assert Late("jsonschema").Draft202012Validator({"type": "null"}).is_valid(None)


def test_starting_the_server_loads_none_of_them():
    code = "import sys, server.cli; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(MODULES).isdisjoint(ran.stdout.split())


async def test_a_module_is_loaded_in_a_thread(monkeypatch: pytest.MonkeyPatch):
    threads = []
    monkeypatch.setattr(
        lazy, "import_module", lambda name: threads.append((name, threading.current_thread()))
    )
    await Late("jsonschema").load()
    ((name, thread),) = threads
    assert name == "jsonschema"
    assert thread is not threading.main_thread()
