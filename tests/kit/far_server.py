"""llama.cpp's own server, started in another process for a test.

It needs the xllamacpp wheel. MOAT_XLLAMACPP_PYTHON may name an interpreter that has it.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from server.system import processes

SCRIPT = Path(__file__).parent / "llama_server.py"
ALIAS = "far-model"


@dataclass(frozen=True, slots=True)
class LlamaServer:
    process: subprocess.Popen[str]
    address: str

    @property
    def host(self) -> str:
        return self.address.removeprefix("http://")


@contextmanager
def started(model: Path, *options: str) -> Iterator[LlamaServer]:
    """Starts the server. With the option `embed` it makes embeddings."""
    with subprocess.Popen(
        [_interpreter(), str(SCRIPT), str(model), ALIAS, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=processes.environment("worker"),
        text=True,
    ) as process:
        assert process.stdout
        address = next(line.split()[1] for line in process.stdout if line.startswith("ADDRESS"))
        yield LlamaServer(process, address)
        process.kill()


def _interpreter() -> str:
    named = os.environ.get("MOAT_XLLAMACPP_PYTHON")
    if named is None and sys.platform != "linux":
        pytest.skip("needs Linux")
    if named is None and importlib.util.find_spec("xllamacpp") is None:
        pytest.fail("xllamacpp is not installed; MOAT_XLLAMACPP_PYTHON can name another Python.")
    return named or sys.executable
