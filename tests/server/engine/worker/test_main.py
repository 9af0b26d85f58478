"""The worker process: loading, answering, ending."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.kit.worker_client import WorkerClient

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


def test_each_text_comes_with_the_number_of_its_tokens(worker: WorkerClient) -> None:
    prompt = "1, 2, 3, 4, 5, 6,"
    asked = worker.start(prompt=prompt, max_tokens=8, stop=["99"], sampling={"ignore_eos": True})
    items = [worker.item(asked)[1]]
    while items[-1][1] != "end":
        items.append(worker.item(asked)[1])
    assert sum(item[4] for item in items if item[1] == "text") == items[-1][3]["completion_tokens"]


def test_a_ping_is_answered_while_an_answer_is_made(worker: WorkerClient) -> None:
    running = worker.start(messages=HELLO, max_tokens=200, sampling={"ignore_eos": True})
    worker.item(running)
    assert worker.ping()["running"] == 1
    worker.send({"op": "cancel", "id": running})
    pong = worker.ping()
    while pong["running"]:
        pong = worker.ping()
    assert pong["waiting"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_pong_counts_the_operations_inside_of_steps(worker: WorkerClient) -> None:
    before = worker.ping()
    worker.wait(worker.start(messages=HELLO, max_tokens=3, sampling={"ignore_eos": True}))
    after = worker.ping()
    assert after["beats"] - before["beats"] > 10 * (after["steps"] - before["steps"]) > 0


def test_a_large_prompt_is_prepared_beside_small_ones(worker: WorkerClient) -> None:
    large = worker.start(messages=[{"role": "user", "content": " " * 30_000_000}], max_tokens=1)
    small = worker.wait(worker.start(messages=HELLO, max_tokens=1))
    assert small.usage["completion_tokens"] == 1
    worker.send({"op": "cancel", "id": large})
    while any(in_hand for in_hand, _ in worker.ping()["lanes"]):
        pass


def test_an_answer_that_was_cancelled_says_what_it_took(worker: WorkerClient) -> None:
    running = worker.start(messages=HELLO, max_tokens=200, sampling={"ignore_eos": True})
    worker.item(running)
    worker.send({"op": "cancel", "id": running})
    outcome = worker.wait(running)
    assert outcome.reason == "stop"
    assert outcome.usage["prompt_tokens"] > 0
    assert outcome.usage["completion_tokens"] < 200


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
    made = worker.ask("embed", texts=["a cat", "a cat", "bond yields"])["value"]
    same, again, other = made["vectors"]
    assert same == again
    assert same != other
    assert abs(sum(x * x for x in same) - 1) < 1e-6
    assert worker.ask("embed", texts=[""])["code"] == "invalid_request"


def test_the_tokens_of_embedded_texts_are_counted_as_the_model_read_them(
    worker: WorkerClient,
) -> None:
    def tokens(*texts: str) -> int:
        counted: int = worker.ask("embed", texts=texts)["value"]["tokens"]
        return counted

    assert tokens("a cat") >= len(worker.ask("tokenize", text="a cat")["value"])
    assert tokens("a cat", "bond yields") == tokens("a cat") + tokens("bond yields")


def test_an_over_long_prompt_is_refused_with_the_numbers(worker: WorkerClient) -> None:
    outcome = worker.generate(prompt="a " * 5000)
    assert outcome.ended[:2] == ["error", "context_length_exceeded"]
    assert outcome.ended[3]["needed"] > outcome.ended[3]["available"] == 4095


def test_what_cannot_be_read_is_refused_and_the_worker_goes_on(worker: WorkerClient) -> None:
    assert worker.generate(prompt=5).ended[1] == "invalid_request"
    assert worker.generate(prompt="").ended[1] == "invalid_request"
    assert worker.generate(prompt="See?", images=[b"png"]).ended[1] == "not_supported"
    assert worker.generate(prompt="One, two,", max_tokens=1).reason == "length"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "exclusiveMinimum": 10**400},
        {"type": "array", "items": {"enum": ["a"]}, "uniqueItems": True, "minItems": -(10**30)},
        {"type": "string", "minLength": 10**400},
    ],
)
def test_a_number_beyond_all_bounds_in_a_schema_is_refused_and_the_worker_goes_on(
    worker: WorkerClient, schema: dict[str, Any]
) -> None:
    constraint = {"kind": "json_schema", "source": json.dumps(schema), "strict": True}
    outcome = worker.generate(prompt="One", max_tokens=1, constraint=constraint)
    assert outcome.ended[1] in ("invalid_request", "invalid_schema")
    assert worker.generate(prompt="One, two,", max_tokens=1).reason == "length"


def test_a_schema_that_goes_too_deep_is_refused_and_the_worker_goes_on(
    worker: WorkerClient,
) -> None:
    deep = '{"not":' * 5000 + "{}" + "}" * 5000
    constraint = {"kind": "json_schema", "source": deep, "strict": True}
    assert worker.generate(prompt="One", constraint=constraint).ended[1] == "invalid_request"
    assert worker.generate(prompt="One, two,", max_tokens=1).reason == "length"


def test_a_question_that_cannot_be_read_is_refused_and_the_next_is_answered(
    worker: WorkerClient,
) -> None:
    assert worker.ask("tokenize", text=5)["code"] == "invalid_request"
    assert worker.ask("tokenize", text="five")["value"]


def test_a_thread_that_fails_takes_the_process_with_it() -> None:
    lines = (
        "import threading",
        "from server.engine.worker.main import end_with_failing_threads",
        "end_with_failing_threads()",
        "threading.Thread(target=lambda: 1 / 0).start()",
        "threading.Event().wait(60)",
    )
    child = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert child.returncode == 70
    assert "error: ZeroDivisionError: division by zero" in child.stderr


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
    assert client.process.wait(60) == 0
    gone, left = psutil.wait_procs(children, timeout=30)
    assert left == []
    assert len(gone) == len(children)
    client.kill()


def test_a_prompt_of_tokens_is_read_as_it_is(worker: WorkerClient) -> None:
    tokens = worker.ask("tokenize", text="One, two, three,")["value"]
    by_text, by_tokens, mixed = (
        worker.generate(prompt=prompt, max_tokens=4, sampling={"temperature": 0})
        for prompt in ("One, two, three,", tokens, [*tokens[:2], " two, three,"])
    )
    assert by_text.text == by_tokens.text == mixed.text
    assert by_tokens.usage["prompt_tokens"] == len(tokens)
    vectors = worker.ask("embed", texts=["One, two, three,", tokens])["value"]["vectors"]
    assert vectors[0] == pytest.approx(vectors[1])


def test_a_number_that_is_no_token_is_refused(worker: WorkerClient) -> None:
    assert worker.generate(prompt=[1, 10**9]).ended[1] == "invalid_request"
    assert worker.ask("embed", texts=[[10**9]])["code"] == "invalid_request"


def test_an_over_long_text_for_an_embedding_is_refused_with_the_numbers(
    worker: WorkerClient,
) -> None:
    refused = worker.ask("embed", texts=["a " * 5000])
    assert refused["code"] == "context_length_exceeded"
    assert refused["needed"] > refused["available"] == 2048


def test_the_last_message_is_gone_on_with_where_its_mark_stands(worker: WorkerClient) -> None:
    asked = [{"role": "user", "content": "Count."}]
    begun = {"role": "assistant", "content": "1, 2, 3,<mark>"}
    job = {"messages": [*asked, begun], "continue_mark": "<mark>"}
    prompt = worker.ask("render", **job)["value"]
    assert prompt.endswith("1, 2, 3,")
    assert prompt.count("<|im_start|>assistant") == 1
    answer = worker.generate(**job, max_tokens=3, sampling={"temperature": 0})
    assert answer.text.strip().startswith("4")
    lost = {**job, "messages": asked}
    assert worker.generate(**lost).ended[1] == "template_failed"


def test_a_document_is_ranked_by_its_embedding_where_the_model_does_not_rank(
    worker: WorkerClient,
) -> None:
    for query in ("a cat", "x", "How high is the yield?"):
        found = worker.ask("rerank", query=query, documents=[query, "a green sea"])["value"]
        assert found["method"] == "embeddings"
        assert found["scores"][0] == pytest.approx(1.0)
        assert found["scores"][1] < found["scores"][0] <= 1.0


def test_a_gap_is_refused_by_a_model_without_marks_for_it(worker: WorkerClient) -> None:
    gap = {"before": "a", "after": "b", "files": []}
    assert worker.generate(infill=gap).ended[1] == "not_supported"


def test_a_gap_is_told_with_the_marks_of_the_model(starter_model: Path, tmp_path: Path) -> None:
    """The starter with words of its vocabulary renamed to marks that llama.cpp knows."""
    renamed = {
        b"<jupyter_text>": b"<|fim_prefix|>",
        b"<jupyter_code>": b"<|fim_suffix|>",
        b"<empty_output>": b"<|fim_middle|>",
    }
    data = starter_model.read_bytes()
    for old, new in renamed.items():
        assert data.count(old) == 1
        data = data.replace(old, new)
    model = tmp_path / "gaps.gguf"
    model.write_bytes(data)
    client = WorkerClient(model, slots=1, context_tokens=512)
    gap = {"before": "def f(", "after": "<|fim_middle|>): pass", "files": [["b.py", "b = 1"]]}
    prompt = client.ask("render", infill=gap, prompt="x")["value"]
    assert client.generate(infill=gap, max_tokens=3).reason in ("stop", "length")
    assert client.close() == 0
    assert "b.py" in prompt
    expected = "<|fim_prefix|>def f(<|fim_suffix|><|fim_middle|>): pass<|fim_middle|>x"
    assert prompt.endswith(expected)
