"""One real worker with the starter model for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.engine.worker.load import plan
from tests.kit.worker_client import WorkerClient


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tests run side by side: threads on the same cores wait for each other at every step."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plan, "usable_cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def worker(quick_starter: Path) -> Iterator[WorkerClient]:
    client = WorkerClient(quick_starter, slots=3, context_tokens=4096, queue_limit=8)
    yield client
    assert client.close() == 0
