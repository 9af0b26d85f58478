"""Several answers at once: queueing, sharing, and the same words as alone."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.worker_client import WorkerClient

GREEDY = {"temperature": 0.0, "ignore_eos": True}
FACTS = "The report says that revenue rose while margins fell in the third quarter. " * 10


def ask(question: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": FACTS + question}
    return {"messages": [message], "max_tokens": 12, "sampling": GREEDY, **more}


def test_answers_made_together_are_those_made_alone(worker: WorkerClient) -> None:
    questions = [f"Question {number}: what follows?" for number in range(3)]
    alone = [worker.generate(**ask(question)).text for question in questions]
    together = [worker.start(**ask(question)) for question in questions]
    assert [worker.wait(request).text for request in together] == alone


def test_a_second_turn_reads_only_what_is_new(worker: WorkerClient) -> None:
    first = worker.generate(prompt=FACTS, max_tokens=12, sampling=GREEDY)
    longer = FACTS + first.text + " And then"
    second = worker.generate(prompt=longer, max_tokens=4, sampling=GREEDY)
    assert second.usage["cached_tokens"] >= first.usage["prompt_tokens"] - 10
    again = worker.generate(prompt=longer, max_tokens=4, sampling=GREEDY)
    assert again.usage["cached_tokens"] == second.usage["prompt_tokens"] - 8
    assert again.text == second.text


def test_evicted_conversations_come_back_from_host_memory(worker: WorkerClient) -> None:
    prompts = [f"Conversation {number}. {FACTS}" for number in range(4)]
    first = [worker.generate(prompt=prompt, max_tokens=3, sampling=GREEDY) for prompt in prompts]
    again = [worker.generate(prompt=prompt, max_tokens=3, sampling=GREEDY) for prompt in prompts]
    assert [outcome.text for outcome in again] == [outcome.text for outcome in first]
    for outcome in again:
        assert outcome.usage["cached_tokens"] == outcome.usage["prompt_tokens"] - 8
    assert worker.ask("stats")["value"]["restored"] >= 1


def test_requests_for_the_same_prompt_read_it_once(worker: WorkerClient) -> None:
    """Whether a copy would be noticed is decided by times: a busy machine may need a few tries."""
    for attempt in range(20):
        prompt = f"{attempt} times once. {FACTS}"
        requests = [worker.start(prompt=prompt, max_tokens=2, sampling=GREEDY) for _ in range(3)]
        usages = [worker.wait(request).usage for request in requests]
        read = [usage["prompt_tokens"] - usage["cached_tokens"] for usage in usages]
        if sorted(read)[:2] == [8, 8]:
            return
    pytest.fail(f"Two of three prompts should be copied; read were {read} tokens.")


def test_a_full_queue_is_said_so(quick_starter: Path) -> None:
    client = WorkerClient(quick_starter, slots=1, context_tokens=512, queue_limit=2)
    job = {"prompt": "One, two,", "max_tokens": 30, "sampling": GREEDY}
    running = client.start(**job)
    client.item(running)
    waiting = [client.start(**job) for _ in range(4)]
    refused = [client.wait(request) for request in waiting[2:]]
    assert [outcome.ended[1] for outcome in refused] == ["server_busy", "server_busy"]
    assert refused[0].ended[3] == {"waiting": 2}
    assert [client.wait(request).reason for request in (running, *waiting[:2])] == ["length"] * 3
    client.close()


def test_speculation_changes_no_word_and_saves_steps(quick_starter: Path) -> None:
    worker = WorkerClient(quick_starter, slots=1, context_tokens=1024)
    table = "".join(f"| row {n} | {n * 7} | {n * 13} |\n" for n in range(6))
    prompt = f"Copy this table.\n{table}\nCopy:\n{table}\nCopy:\n"
    fast, steps = guessed(worker, prompt)
    assert steps < 32
    slow = worker.generate(prompt=prompt, max_tokens=32, sampling=GREEDY, top_logprobs=0)
    assert slow.text == fast
    worker.close()


def guessed(worker: WorkerClient, prompt: str) -> tuple[str, int]:
    """The first answer with right guesses, and its steps: when to guess is decided by times, so a
    busy machine may need a few answers until it is tried."""
    for _ in range(40):
        before = worker.ask("stats")["value"]
        text = worker.generate(prompt=prompt, max_tokens=32, sampling=GREEDY).text
        after = worker.ask("stats")["value"]
        if after["accepted_tokens"] > before["accepted_tokens"]:
            return text, after["steps"] - before["steps"]
    raise AssertionError("No guess was right.")


def test_a_running_answer_goes_on_while_a_long_prompt_is_read(worker: WorkerClient) -> None:
    running = worker.start(prompt="One, two, three,", max_tokens=400, sampling=GREEDY)
    for _ in range(10):
        worker.item(running)
    reading = worker.wait(worker.start(prompt="Long. " + "revenue margin " * 80, max_tokens=1))
    worker.send({"op": "cancel", "id": running})
    assert len(reading.progress) > 5
    said = [worker.item(running)[1] for _ in range(5)]
    assert {item[1] for item in said} == {"text"}
