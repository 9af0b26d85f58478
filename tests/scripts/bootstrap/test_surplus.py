"""The engine's package is installed without what Moat does not use of it."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from scripts.bootstrap import places, surplus

FACTS = "Name: x\nRequires-Dist: numpy>=1.20\nRequires-Dist: diskcache>=5.6\n\nText\n"


def test_the_requirement_is_dropped_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lib/python3.11/site-packages/llama_cpp_python-1.0.dist-info/METADATA"
    path.parent.mkdir(parents=True)
    path.write_text(FACTS)
    monkeypatch.setattr(places, "ENVIRONMENT", tmp_path)
    surplus.drop()
    surplus.drop()
    assert path.read_text() == FACTS.replace("Requires-Dist: diskcache>=5.6\n", "")


@pytest.mark.parametrize(
    ("package", "kept"), [("llama-cpp-python", "numpy"), ("huggingface-hub", "httpx2")]
)
def test_this_environment_asks_for_none_of_it(package: str, kept: str) -> None:
    asked = " ".join(metadata.requires(package) or [])
    assert kept in asked
    assert not [name for name in surplus.SURPLUS if name in asked]


def test_the_worker_loads_none_of_it() -> None:
    program = "import sys, server.engine.worker.main; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "llama_cpp.llama_cpp" in loaded
    assert not {*surplus.SURPLUS, "llama_cpp.llama"} & set(loaded)
