"""The worker process: loading, answering, ending."""

from pathlib import Path

import psutil

from tests.worker_client import WorkerClient

HELLO = [{"role": "user", "content": "Say hello."}]


def test_loading_tells_its_progress_and_then_the_facts(worker: WorkerClient) -> None:
    shares = [frame["done"] for frame in worker.loading[:-1]]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert worker.facts["context_tokens"] == 4096
    assert worker.facts["vocabulary"] == 49152
    assert "{%" in worker.facts["template"]
    assert worker.facts["eos"] in worker.facts["special_tokens"]


def test_an_answer_comes_in_pieces_and_ends_once(worker: WorkerClient) -> None:
    outcome = worker.generate(messages=HELLO, max_tokens=8, sampling={"ignore_eos": True})
    assert outcome.ended[:2] == ["end", "length"]
    assert len(outcome.said_at) > 1
    assert outcome.usage["completion_tokens"] == 8
    assert outcome.usage["prompt_tokens"] > 20
    assert outcome.progress[-1][0] == outcome.progress[-1][1] == outcome.usage["prompt_tokens"]
    assert outcome.usage["decode_s"] > 0


def test_a_ping_is_answered_while_an_answer_is_made(worker: WorkerClient) -> None:
    running = worker.start(messages=HELLO, max_tokens=200, sampling={"ignore_eos": True})
    worker.item(running)
    assert worker.ping()["running"] == 1
    worker.send({"op": "cancel", "id": running})
    pong = worker.ping()
    while pong["running"]:
        pong = worker.ping()
    assert pong["waiting"] == 0


def test_a_cancelled_prompt_ends_within_a_moment(worker: WorkerClient) -> None:
    before = worker.ask("stats")["value"]["prompt_tokens"]
    running = worker.start(prompt="revenue margin " * 1500, max_tokens=5)
    while not worker.ping()["running"]:
        pass
    worker.send({"op": "cancel", "id": running})
    while worker.ping()["running"]:
        pass
    assert worker.ask("stats")["value"]["prompt_tokens"] - before < 3000


def test_questions_beside_generation(worker: WorkerClient) -> None:
    tokens = worker.ask("tokenize", text="hello <|im_start|>")["value"]
    assert worker.ask("detokenize", tokens=tokens)["value"] == "hello <|im_start|>"
    assert len(worker.ask("tokenize", text="<|im_start|>", special=False)["value"]) > 1
    assert "Say hello." in worker.ask("render", messages=HELLO)["value"]
    refused = worker.ask("weather")
    assert (refused["op"], refused["code"]) == ("refused", "invalid_request")


def test_texts_become_unit_vectors_that_differ(worker: WorkerClient) -> None:
    same, again, other = worker.ask("embed", texts=["a cat", "a cat", "bond yields"])["value"]
    assert same == again
    assert same != other
    assert abs(sum(x * x for x in same) - 1) < 1e-6
    assert worker.ask("embed", texts=[""])["code"] == "invalid_request"


def test_an_over_long_prompt_is_refused_with_the_numbers(worker: WorkerClient) -> None:
    outcome = worker.generate(prompt="a " * 5000)
    assert outcome.ended[:2] == ["error", "context_length_exceeded"]
    assert outcome.ended[3]["needed"] > outcome.ended[3]["available"] == 4095


def test_what_cannot_be_read_is_refused_and_the_worker_goes_on(worker: WorkerClient) -> None:
    assert worker.generate(prompt=5).ended[1] == "invalid_request"
    assert worker.generate(prompt="").ended[1] == "invalid_request"
    assert worker.generate(prompt="See?", images=[b"png"]).ended[1] == "not_supported"
    assert worker.generate(prompt="One, two,", max_tokens=1).reason == "length"


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("not a model")
    client = WorkerClient(path)
    assert client.loading[-1]["code"] == "model_load_failed"
    assert "notes.gguf" in client.loading[-1]["message"]
    client.kill()


def test_the_worker_ends_when_its_pipe_does(starter_model: Path) -> None:
    client = WorkerClient(starter_model, slots=1, context_tokens=512)
    children = psutil.Process(client.process.pid).children(recursive=True)
    assert client.process.stdin
    client.process.stdin.close()
    assert client.process.wait(10) == 0
    gone, left = psutil.wait_procs(children, timeout=10)
    assert left == []
    assert len(gone) == len(children)
    client.kill()
