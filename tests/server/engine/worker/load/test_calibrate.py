"""The fastest way to compute a model is measured, with figures, and given up at once."""

from collections.abc import Iterator

import pytest

from tests.kit import gguf_files
from tests.kit.worker_client import WorkerClient

SHAPE = gguf_files.Shape(64, 2, 4, 2, 64, 300, 1024, gguf_files.F32, gguf_files.F32)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerClient]:
    path = tmp_path_factory.mktemp("model") / "small.gguf"
    gguf_files.write_model(path, SHAPE)
    made = WorkerClient(path, slots=2, context_tokens=256)
    yield made
    made.close()


def test_both_kinds_of_attention_are_compared(worker: WorkerClient) -> None:
    found = worker.ask("calibrate")["value"]
    assert {trial["flash_attention"] for trial in found["trials"]} == {True, False}
    assert all(trial["read"] > 0 and trial["write"] > 0 for trial in found["trials"])
    chosen = {name: found[name] for name in ("flash_attention", "batch_tokens", "threads")}
    assert any(chosen.items() <= trial.items() for trial in found["trials"])
    assert 128 <= found["depth"] <= 1024


def test_a_measurement_that_is_not_wanted_any_more_gives_up(worker: WorkerClient) -> None:
    worker.send({"op": "ask", "id": 900, "what": "calibrate", "with": {}})
    worker.send({"op": "cancel", "id": 900})
    answer = worker.generate(prompt="AB", max_tokens=2, sampling={"ignore_eos": True})
    assert answer.ended[0] == "end"
    # No answer to the measurement comes before that of the next question of its kind.
    found = worker.ask("calibrate")
    assert found["id"] != 900
