"""One answer: stops, limits, log-probabilities, constraints."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

from server.sentences import from_wire
from tests.kit.worker_client import WorkerClient

GREEDY = {"temperature": 0.0, "ignore_eos": True}
ASK = [{"role": "user", "content": "Describe a person."}]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "mood": {"enum": ["happy", "sad"]},
    },
    "required": ["name", "age", "mood"],
    "additionalProperties": False,
}


def schema(of: Any, *, strict: bool = True) -> dict[str, Any]:
    return {"kind": "json_schema", "source": json.dumps(of), "strict": strict}


def test_a_stop_string_ends_the_answer_and_is_not_shown(worker: WorkerClient) -> None:
    prompt = "1, 2, 3, 4, 5, 6, 7,"
    free = worker.generate(prompt=prompt, max_tokens=12, sampling=GREEDY)
    stop = free.text[5:8]
    cut = worker.generate(prompt=prompt, max_tokens=12, sampling=GREEDY, stop=[stop])
    assert cut.reason == "stop"
    assert cut.text == free.text[: free.text.index(stop)]


def test_the_same_seed_says_the_same(worker: WorkerClient) -> None:
    def said(seed: int) -> str:
        return worker.generate(messages=ASK, max_tokens=12, sampling={"seed": seed}).text

    assert said(7) == said(7)
    assert len({said(seed) for seed in range(5)}) > 1


def test_log_probabilities_are_the_models_own(worker: WorkerClient) -> None:
    outcome = worker.generate(messages=ASK, max_tokens=4, sampling=GREEDY, top_logprobs=3)
    assert len(outcome.logprobs) == 4
    assert "".join(entry[0] for entry in outcome.logprobs) == outcome.text
    for text, raw, logprob, top in outcome.logprobs:
        assert raw.decode() == text
        assert [text, raw, logprob] == top[0]
        assert len(top) == 3
        assert 0 >= top[0][2] >= top[1][2] >= top[2][2]


def test_a_banned_token_is_not_said_and_a_favoured_one_is(worker: WorkerClient) -> None:
    prompt = "The capital of France is"
    free = worker.generate(prompt=prompt, max_tokens=1, sampling=GREEDY, top_logprobs=2)
    (first,) = worker.ask("tokenize", text=free.logprobs[0][3][0][0])["value"]
    (second,) = worker.ask("tokenize", text=free.logprobs[0][3][1][0])["value"]
    for bias in ([(first, -100.0)], [(second, 100.0)]):
        sampling = {**GREEDY, "logit_bias": bias}
        outcome = worker.generate(prompt=prompt, max_tokens=1, sampling=sampling)
        assert outcome.text == free.logprobs[0][3][1][0]


@pytest.mark.parametrize(
    "sampling",
    [
        {"top_k": 0},
        {"top_k": 0, "top_p": 1.0, "min_p": 0.0},
        {"repeat_penalty": 1.3},
        {"frequency_penalty": 1.0, "presence_penalty": -1.0},
        {"dry_multiplier": 0.8},
        {"xtc_probability": 0.5},
        {"typical_p": 0.7},
        {"mirostat": 1},
        {"mirostat": 2},
        {"temperature": 0.0, "repeat_penalty": 1.5},
    ],
)
def test_every_sampler_answers_and_repeats_itself(
    worker: WorkerClient, sampling: dict[str, Any]
) -> None:
    job = {"prompt": "Once upon a time", "max_tokens": 6}
    full = {**sampling, "seed": 3, "ignore_eos": True}
    first, second = worker.generate(**job, sampling=full), worker.generate(**job, sampling=full)
    assert first.text == second.text
    assert first.usage["completion_tokens"] == 6


def test_a_schema_is_kept_to(worker: WorkerClient) -> None:
    for seed in range(3):
        outcome = worker.generate(
            messages=ASK, max_tokens=80, sampling={"seed": seed}, constraint=schema(PERSON)
        )
        assert outcome.reason == "stop"
        validate(json.loads(outcome.text), PERSON)


def test_forced_tokens_are_the_same_with_and_without_being_batched(worker: WorkerClient) -> None:
    job = {"messages": ASK, "max_tokens": 60, "sampling": GREEDY, "constraint": schema(PERSON)}
    before = worker.ask("stats")["value"]["steps"]
    batched = worker.generate(**job)
    steps = worker.ask("stats")["value"]["steps"] - before
    assert steps < batched.usage["completion_tokens"]
    single = worker.generate(**job, top_logprobs=0)
    assert single.text == batched.text


def test_more_forced_tokens_than_a_batch_holds_are_said_all(quick_starter: Path) -> None:
    fixed = " ".join(f"row {n}" for n in range(40))
    table: dict[str, Any] = {"properties": {"table": {"const": fixed}, "age": {"enum": [1, 2]}}}
    table |= {"type": "object", "required": ["table", "age"], "additionalProperties": False}
    job = {"messages": ASK, "sampling": GREEDY, "constraint": schema(table)}
    narrow = WorkerClient(quick_starter, slots=3, context_tokens=1024, batch_tokens=32)
    alone = narrow.generate(**job)
    assert alone.usage["completion_tokens"] > 2 * 32
    together = [narrow.wait(one) for one in [narrow.start(**job) for _ in range(3)]]
    for outcome in (alone, *together):
        assert json.loads(outcome.text)["table"] == fixed
        validate(json.loads(outcome.text), table)
    assert narrow.close() == 0


def test_a_schema_that_cannot_be_enforced_is_refused_with_its_place(worker: WorkerClient) -> None:
    different = {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True}
    bad = {"type": "object", "properties": {"a": {"type": "string"}, "b": different}}
    outcome = worker.generate(messages=ASK, constraint=schema(bad))
    assert outcome.ended[:2] == ["error", "invalid_schema"]
    assert "#/properties/b" in from_wire(outcome.ended[2])
    lenient = worker.generate(
        messages=ASK, constraint=schema(bad, strict=False), max_tokens=1, sampling=GREEDY
    )
    assert lenient.reason == "length"


@pytest.mark.parametrize(
    "constraint",
    [
        {"kind": "regex", "source": "[0-9"},
        {"kind": "lark", "source": "start: nothing"},
        {"kind": "json_schema", "source": "{"},
        {"kind": "json_schema", "source": "[]"},
        {"kind": "poem", "source": ""},
    ],
)
def test_what_is_no_grammar_is_refused(worker: WorkerClient, constraint: dict[str, Any]) -> None:
    outcome = worker.generate(messages=ASK, constraint=constraint)
    assert outcome.ended[:2] == ["error", "invalid_schema"]


def test_only_a_strict_schema_is_refused_for_a_pattern_that_looks_ahead(
    worker: WorkerClient,
) -> None:
    text = {"type": "string", "pattern": "^(?!x).*$", "maxLength": 2}
    whole = {"type": "object", "properties": {"pattern": text}, "required": ["pattern"]}
    refused = worker.generate(messages=ASK, constraint=schema(whole))
    assert refused.ended[:2] == ["error", "invalid_schema"]
    lenient = worker.generate(
        messages=ASK, constraint=schema(whole, strict=False), sampling=GREEDY, max_tokens=40
    )
    assert len(json.loads(lenient.text)["pattern"]) <= 2


@pytest.mark.parametrize(("rule", "param"), [("arguments_0", "tools"), ("answer", None)])
def test_a_grammar_that_fails_at_a_tool_says_so(
    worker: WorkerClient, rule: str, param: str | None
) -> None:
    source = f'start: "x" {rule}\n{rule}: %json {{"$ref": "#/$defs/None"}}\n'
    outcome = worker.generate(messages=ASK, constraint={"kind": "lark", "source": source})
    assert outcome.ended[:2] == ["error", "invalid_schema"]
    assert outcome.ended[3]["param"] == param


def test_a_regular_expression_is_kept_to(worker: WorkerClient) -> None:
    constraint = {"kind": "regex", "source": "(yes|no), [0-9]{3}"}
    outcome = worker.generate(messages=ASK, constraint=constraint, sampling={"seed": 1})
    assert outcome.reason == "stop"
    assert outcome.text[-5:-3] == ", "
    assert outcome.text[-3:].isdigit()


def test_a_lazy_constraint_begins_after_its_trigger(worker: WorkerClient) -> None:
    prompt = "1, 2, 3, 4, 5, 6, 7,"
    free = worker.generate(prompt=prompt, max_tokens=12, sampling=GREEDY).text
    outcome = worker.generate(
        prompt=prompt,
        max_tokens=30,
        sampling=GREEDY,
        constraint={"kind": "regex", "source": "<[a-z]{4}>"},
        trigger=free[:5],
    )
    assert outcome.text.startswith(free[:5] + "<")
    assert outcome.text[len(free[:5]) + 5 :] == ">"
    assert outcome.reason == "stop"
