"""A second model that guesses changes no word."""

from pathlib import Path

from tests.worker_client import WorkerClient

JOB = {
    "prompt": "The weather in Paris is",
    "max_tokens": 16,
    "sampling": {"temperature": 0.0, "ignore_eos": True},
}


def test_a_draft_model_saves_steps_and_changes_no_word(
    worker: WorkerClient, starter_model: Path
) -> None:
    plain = worker.generate(**JOB)
    client = WorkerClient(
        starter_model, slots=1, context_tokens=512, draft_model=str(starter_model)
    )
    drafted = client.generate(**JOB)
    stats = client.ask("stats")["value"]
    client.close()
    assert drafted.text == plain.text
    assert stats["accepted_tokens"] > 0
    assert stats["steps"] < 16
