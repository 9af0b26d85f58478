"""llama-server's own completion and infill: its fields, its flat answer, its stream."""

import json
from typing import Any

import pytest

from server.chat import Constraint, Infill
from server.errors import BadRequest, EngineCrashed
from server.events import Event, Failed, Finished, TextDelta, TokenLogprob, Usage
from server.protocols.base import Facts
from server.protocols.openai.llama_server import accept, accept_infill, collect, render
from tests.kit.engines import replay

FACTS = Facts("", default_model="small")
USED = Usage(prompt_tokens=3, cached_tokens=1, completion_tokens=2, prompt_s=0.5, decode_s=1.0)


async def whole(body: dict[str, Any], *events: Event) -> Any:
    return (await collect(replay(*events), body, FACTS)).body


def test_a_prompt_may_be_text_tokens_or_both() -> None:
    for given, prompt in (("a", "a"), ([1, 2], (1, 2)), ([1, "b"], (1, "b")), (["a"], "a")):
        assert accept({"prompt": given}, FACTS).prompt == prompt


def test_its_fields_arrive() -> None:
    body = {"prompt": "a", "n_predict": 5, "grammar": 'root ::= "x"', "n_probs": 2, "stop": ["."]}
    request = accept(body, FACTS)
    assert (request.max_tokens, request.top_logprobs, request.stop) == (5, 2, (".",))
    assert request.constraint == Constraint("lark", 'start: "x"\n')
    assert accept({"prompt": "a"}, FACTS).max_tokens is None
    assert accept({"prompt": "a", "n_predict": -1}, FACTS).max_tokens is None


def test_a_gap_has_a_text_before_and_after_it() -> None:
    extra = [{"filename": "b.py", "text": "b = 1"}]
    body = {"input_prefix": "a(", "input_suffix": ")", "prompt": "x", "input_extra": extra}
    request = accept_infill(body, FACTS)
    assert request.infill == Infill("a(", ")", (("b.py", "b = 1"),))
    assert request.prompt == "x"
    assert accept_infill({"input_suffix": ")"}, FACTS).infill == Infill("", ")")


async def test_the_answer_is_flat_and_says_why_it_ended() -> None:
    body = {"prompt": "a", "n_predict": 2}
    answer = await whole(body, TextDelta("b\n"), TextDelta("c"), Finished("length", USED))
    assert (answer["content"], answer["stop"], answer["stop_type"]) == ("b\nc", True, "limit")
    assert (answer["tokens_predicted"], answer["tokens_evaluated"]) == (2, 3)
    assert answer["has_new_line"]
    assert answer["timings"]["predicted_per_second"] == 2.0
    assert (await whole(body, Finished("stop", USED, ".")))["stopping_word"] == "."
    assert (await whole(body, Finished("stop", USED)))["stop_type"] == "eos"


async def test_a_stream_ends_with_a_piece_that_stops() -> None:
    token = TokenLogprob("b", b"b", -0.5)
    events = replay(TextDelta("b", (token,)), Finished("stop", USED))
    frames = [frame async for frame in render(events, {"prompt": "a"}, FACTS)]
    told = [json.loads(frame.removeprefix(b"data: ")) for frame in frames]
    assert [(one["content"], one["stop"]) for one in told] == [("b", False), ("", True)]
    assert told[0]["completion_probabilities"][0]["token"] == "b"


async def test_a_failure_is_an_error_object() -> None:
    reply = await collect(replay(Failed(EngineCrashed("Gone."))), {"prompt": "a"}, FACTS)
    assert (reply.status, reply.body["error"]["code"]) == (502, "engine_crashed")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "prompt"),
        ({"prompt": ["a", "b"]}, "prompt"),
        ({"prompt": "a", "n_predict": 0}, "n_predict"),
        ({"prompt": "a", "t_max_predict_ms": 5}, "t_max_predict_ms"),
        ({"prompt": "a", "return_tokens": True}, "return_tokens"),
    ],
)
def test_a_wrong_field_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept(body, FACTS)
    assert refused.value.param == param


def test_a_gap_without_a_side_is_refused() -> None:
    with pytest.raises(BadRequest) as refused:
        accept_infill({"prompt": "x"}, FACTS)
    assert refused.value.param == "input_prefix"
