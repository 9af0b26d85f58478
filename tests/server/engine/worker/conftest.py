"""One real worker with the starter model for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.worker_client import WorkerClient


@pytest.fixture(scope="session")
def worker(starter_model: Path) -> Iterator[WorkerClient]:
    client = WorkerClient(starter_model, slots=3, context_tokens=4096, queue_limit=8)
    yield client
    assert client.close() == 0
