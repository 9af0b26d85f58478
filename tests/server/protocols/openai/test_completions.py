"""Raw completions: prompts, echoes and log-probabilities in the SDK's own types."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from openai.types import Completion

from server.asking.ask import Means
from server.chat import ChatRequest, Infill
from server.errors import BadRequest, EngineCrashed
from server.events import Event, Failed, Finished, OfChoice, TextDelta, TokenLogprob, Usage
from server.protocols.base import Facts, Run
from server.protocols.openai.completions import accept, collect, render
from tests.kit.engines import ScriptedEngine

FACTS = Facts("http://127.0.0.1", default_model="small", version="1")
USED = Usage(prompt_tokens=3, completion_tokens=2)


async def replay(*events: Event | OfChoice) -> AsyncGenerator[Event | OfChoice, None]:
    for event in events:
        yield event


async def whole(body: dict[str, Any], *events: Event | OfChoice) -> Completion:
    reply = await collect(replay(*events), body, FACTS)
    return Completion.model_validate(reply.body, strict=True)


def test_a_prompt_becomes_a_raw_request() -> None:
    request = accept({"prompt": "Once", "stop": "x", "logprobs": 2}, FACTS)
    assert isinstance(request, ChatRequest)
    assert (request.prompt, request.stop, request.max_tokens) == ("Once", ("x",), 16)
    assert request.top_logprobs == 2


async def test_several_prompts_are_answered_in_order() -> None:
    run = accept({"prompt": ["a", "b"]}, FACTS)
    assert isinstance(run, Run)
    engine = ScriptedEngine(
        [TextDelta("1"), Finished("stop", USED)], [TextDelta("2"), Finished("stop", USED)]
    )
    events = [event async for event in run.converse(Means(engine))]
    assert [request.prompt for request in engine.requests] == ["a", "b"]
    assert OfChoice(1, TextDelta("2")) in events
    answer = await whole({"prompt": ["a", "b"]}, *events)
    assert [choice.text for choice in answer.choices] == ["1", "2"]
    assert answer.usage
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (6, 4)


async def test_the_prompt_is_echoed() -> None:
    body = {"prompt": "Once ", "echo": True}
    answer = await whole(body, TextDelta("hi"), Finished("stop", USED))
    assert answer.choices[0].text == "Once hi"


def test_an_echo_with_log_probabilities_is_refused() -> None:
    with pytest.raises(BadRequest, match="logprobs") as refused:
        accept({"prompt": "Once ", "echo": True, "logprobs": 0}, FACTS)
    assert refused.value.param == "echo"


async def test_log_probabilities_come_with_their_tokens() -> None:
    token = TokenLogprob("hi", b"hi", -0.5, (TokenLogprob("x", b"x", -1.0),))
    body = {"prompt": "Once ", "logprobs": 1}
    answer = await whole(body, TextDelta("hi", (token,)), Finished("stop", USED))
    choice = answer.choices[0]
    assert choice.logprobs
    assert choice.logprobs.tokens == ["hi"]
    assert choice.logprobs.top_logprobs == [{"x": -1.0}]
    assert choice.logprobs.text_offset == [0]


async def test_a_streams_offsets_go_on_from_chunk_to_chunk() -> None:
    token = TokenLogprob("hi", b"hi", -0.5)
    said = TextDelta("hi", (token,))
    body = {"prompt": "Once ", "logprobs": 0, "n": 2, "stream": True}
    events = [OfChoice(0, said), OfChoice(1, said), OfChoice(0, said), OfChoice(0, said)]
    frames = [frame async for frame in render(replay(*events), body, FACTS)]
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in frames[:-1]]
    choices = [choice for chunk in chunks for choice in chunk["choices"] if choice["logprobs"]]
    offsets = [(one["index"], one["logprobs"]["text_offset"]) for one in choices]
    assert offsets == [(0, [0]), (1, [0]), (0, [2]), (0, [4])]


async def test_a_stream_has_the_text_the_reason_and_the_usage() -> None:
    body = {"prompt": "Once", "stream": True, "stream_options": {"include_usage": True}}
    events = replay(TextDelta("a"), Finished("length", USED))
    frames = [frame async for frame in render(events, body, FACTS)]
    assert frames[-1] == b"data: [DONE]\n\n"
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in frames[:-1]]
    assert [chunk["choices"][0]["text"] for chunk in chunks[:-1]] == ["a", ""]
    assert chunks[1]["choices"][0]["finish_reason"] == "length"
    assert chunks[-1]["usage"]["total_tokens"] == 5


async def test_a_failure_is_an_error_object() -> None:
    reply = await collect(replay(Failed(EngineCrashed("Gone."))), {"prompt": "a"}, FACTS)
    assert (reply.status, reply.body["error"]["code"]) == (502, "engine_crashed")


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": [1, -2]}, "prompt"),
        ({"prompt": [[1], []]}, "prompt"),
        ({"prompt": [1, 2], "echo": True}, "echo"),
        ({"prompt": [1, 2], "suffix": "x"}, "suffix"),
        ({"best_of": 4}, "best_of"),
        ({"min_tokens": 3}, "min_tokens"),
        ({"prompt": []}, "prompt"),
        ({"suffix": 5}, "suffix"),
        ({"logprobs": 99}, "logprobs"),
        ({"echo": "yes"}, "echo"),
        ({"n": 0}, "n"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        accept({"prompt": "a", **change}, FACTS)
    assert refused.value.param == param


def test_a_prompt_may_be_an_array_of_tokens() -> None:
    request = accept({"prompt": [1, 2, 3]}, FACTS)
    assert isinstance(request, ChatRequest)
    assert request.prompt == (1, 2, 3)
    assert isinstance(accept({"prompt": [[1, 2], [3]]}, FACTS), Run)


def test_a_suffix_is_the_text_after_a_gap() -> None:
    request = accept({"prompt": "a(", "suffix": ")"}, FACTS)
    assert isinstance(request, ChatRequest)
    assert (request.infill, request.prompt) == (Infill("a(", ")"), None)


def test_no_limit_is_said_by_minus_one() -> None:
    request = accept({"prompt": "a", "max_tokens": -1}, FACTS)
    assert isinstance(request, ChatRequest)
    assert request.max_tokens is None
