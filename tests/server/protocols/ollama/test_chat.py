"""What Ollama's clients send becomes our requests."""

import asyncio
import json
import math
from typing import Any

import pytest
from ollama import ChatResponse, GenerateResponse

from server.chat import ChatRequest, Constraint, Message, ToolCall
from server.errors import BadRequest, EngineCrashed, ModelNotFound
from server.events import (
    ClientToolCall,
    Event,
    Failed,
    Finished,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.face.models import ModelCard
from server.models.gguf.header import Header
from server.protocols.base import Ask, Facts, Manage, Reply
from server.protocols.ollama.chat import (
    accept_chat,
    accept_generate,
    collect_chat,
    collect_generate,
    render_chat,
    render_generate,
    streams,
)
from tests.kit.engines import replay

FACTS = Facts("", (ModelCard("small", "/s", 1), ModelCard("Kept:latest", "/k", 1)), "small")
HI = [{"role": "user", "content": "Hi"}]


class Keeper:
    """Models whose template is this; it notes how long each is to be kept."""

    def __init__(self, template: str = "<think>") -> None:
        self.template = template
        self.kept: list[tuple[str, float]] = []

    async def header(self, _card: ModelCard) -> Header:
        return Header({"tokenizer.chat_template": self.template})

    def keep(self, card: ModelCard, seconds: float) -> None:
        self.kept.append((card.name, seconds))


def managed(accepted: Any, keeper: Any = None) -> Any:
    if isinstance(accepted, Manage):
        return asyncio.run(accepted.do(keeper or Keeper()))  # type: ignore[arg-type]
    return accepted


def chat(**more: Any) -> ChatRequest:
    request = managed(accept_chat({"model": "small:latest", "messages": HI, **more}, FACTS))
    assert isinstance(request, ChatRequest)
    return request


def test_options_and_format_arrive() -> None:
    options = {"temperature": 0, "top_k": 5, "num_predict": 9, "stop": ["x"], "num_ctx": 4096}
    request = chat(options=options, format={"type": "array"}, think=False)
    assert (request.model, request.max_tokens, request.stop) == ("small", 9, ("x",))
    assert (request.sampling.temperature, request.sampling.top_k) == (0, 5)
    assert request.constraint == Constraint("json_schema", '{"type": "array"}')
    assert request.template_options == (("enable_thinking", False),)
    assert f'"{10**400}"' in chat(format={"minimum": 10**400}).constraint.source
    assert chat(format="json").constraint == Constraint("json_schema", '{"type": "object"}')
    assert chat(options={"num_predict": -1}).max_tokens is None


def test_results_answer_the_calls_before_them() -> None:
    call = {"function": {"name": "add", "arguments": {"a": 1}}}
    other = {"function": {"name": "sub", "arguments": {}}}
    history = [
        *HI,
        {"role": "assistant", "content": "", "tool_calls": [call, other]},
        {"role": "tool", "tool_name": "sub", "content": "0"},
        {"role": "tool", "content": "2"},
    ]
    request = chat(messages=history)
    assert request.messages[1].tool_calls[0] == ToolCall("call_1_0", "add", {"a": 1})
    assert request.messages[2] == Message("tool", "0", tool_call_id="call_1_1", name="sub")
    assert request.messages[3] == Message("tool", "2", tool_call_id="call_1_0", name="add")


def test_a_prompt_is_a_question_or_raw_text() -> None:
    asked = accept_generate({"prompt": "Hi", "system": "Be brief."}, FACTS)
    assert isinstance(asked, ChatRequest)
    assert asked.messages == (Message("system", "Be brief."), Message("user", "Hi"))
    raw = accept_generate({"prompt": "Hi", "raw": True}, FACTS)
    assert isinstance(raw, ChatRequest)
    assert raw.prompt == "Hi"


@pytest.mark.parametrize("accept", [accept_chat, accept_generate])
def test_nothing_to_say_only_loads_the_model(accept: Any) -> None:
    load = accept({"model": "small", "messages": [], "keep_alive": "10m"}, FACTS)
    assert isinstance(load, Ask)
    assert (load.what, load.model, load.keep_s) == ("load", "small", 600)
    loaded = load.then(None)
    assert isinstance(loaded, Reply)
    assert loaded.body["done_reason"] == "load"


@pytest.mark.parametrize("accept", [accept_chat, accept_generate])
def test_nothing_to_say_and_nothing_to_keep_unloads_the_model(accept: Any) -> None:
    keeper = Keeper()
    reply = managed(accept({"model": "small", "keep_alive": 0}, FACTS), keeper)
    assert (reply.body["done_reason"], keeper.kept) == ("unload", [("small", 0)])


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, None), (0, 0), (90, 90), (2.5, 2.5), (-1, math.inf), ("5m", 300), ("0", 0),
        ("0s", 0), ("1h30m", 5400), ("-1m", math.inf), ("-1", math.inf), ("500ms", 0.5),
    ],
)  # fmt: skip
def test_how_long_a_model_stays_is_read(given: Any, seconds: float | None) -> None:
    assert chat(keep_alive=given).keep_s == seconds


@pytest.mark.parametrize("given", [True, "soon", "", "5 m", [], "m"])
def test_a_time_nobody_understands_is_refused(given: Any) -> None:
    with pytest.raises(BadRequest, match="keep_alive"):
        chat(keep_alive=given)


@pytest.mark.parametrize("asked", [True, "low", "max"])
def test_thoughts_of_a_model_without_any_are_refused(asked: Any) -> None:
    body = {"model": "small", "messages": HI, "prompt": "Hi", "think": asked}
    for accept in (accept_chat, accept_generate):
        with pytest.raises(BadRequest, match="does not support thinking"):
            managed(accept(body, FACTS), Keeper("no marks"))
    assert managed(accept_chat({**body, "think": False}, FACTS), Keeper("no marks"))


@pytest.mark.parametrize(
    "change",
    [
        {"template": "{{ .Prompt }}"},
        {"suffix": "}"},
        {"context": [1, 2]},
        {"raw": True, "system": "Be brief."},
        {"raw": True, "images": ["aGk="]},
        {"options": {"tfs_z": 0.5}},
        {"think": "hard"},
        {"_debug_render_only": True},
    ],
)
def test_what_would_change_the_answer_is_refused_by_name(change: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as refused:
        accept_generate({"prompt": "Hi", **change}, FACTS)
    assert list(change)[-1] in str(refused.value)


def test_fields_without_content_are_as_if_absent() -> None:
    """Ollama's own program sends all of them."""
    empty = {"suffix": "", "system": "", "template": "", "context": [], "options": None}
    assert isinstance(accept_generate({"prompt": "Hi", **empty}, FACTS), ChatRequest)


@pytest.mark.parametrize(("window", "read"), [(None, 64), (64, 64), (0, 0), (128, 128), (-1, 4096)])
def test_the_window_of_penalties_is_read(window: int | None, read: int) -> None:
    assert chat(options={"repeat_last_n": window}).sampling.repeat_last_n == read


@pytest.mark.parametrize("name", ["small", "SMALL", "Small:latest", "kept", "Kept", "kept:latest"])
def test_names_are_compared_as_ollama_does(name: str) -> None:
    found = "small" if name.lower().startswith("small") else "Kept:latest"
    assert chat(model=name).model == found


def test_it_streams_unless_told_not_to() -> None:
    assert streams({})
    assert not streams({"stream": False})


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelNotFound):
        chat(model="big")


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"content": "x"}]},
        {"messages": [{"role": "tool", "content": "1"}]},
        {"messages": [{"role": "user", "content": "x", "images": [5]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
        {"options": []},
        {"options": {"num_predict": "x"}},
        {"format": 5},
        {"think": []},
    ],
)
def test_a_wrong_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        chat(**change)


def test_log_probabilities_are_asked_for_beside_the_options() -> None:
    assert chat(logprobs=True, top_logprobs=3).top_logprobs == 3
    assert chat(logprobs=True).top_logprobs == 0
    assert chat().top_logprobs is None


@pytest.mark.parametrize(
    ("think", "options"),
    [
        (None, {}),
        (True, {"enable_thinking": True}),
        (False, {"enable_thinking": False}),
        ("high", {"reasoning_effort": "high", "enable_thinking": True}),
    ],
)
def test_how_hard_to_think_reaches_the_template(think: object, options: dict[str, Any]) -> None:
    assert dict(chat(think=think).template_options) == options


@pytest.mark.parametrize(
    ("given", "arguments"),
    [({}, {}), ({"arguments": None}, {}), ({"arguments": '{"a": 1}'}, {"a": 1})],
)
def test_an_earlier_calls_arguments_are_read(given: Any, arguments: dict[str, Any]) -> None:
    call = {"function": {"name": "now", **given}}
    request = chat(messages=[{"role": "assistant", "tool_calls": [call]}])
    assert request.messages[0].tool_calls[0].arguments == arguments


def test_an_image_in_a_tools_result_is_kept() -> None:
    calls = [{"function": {"name": "shot"}}]
    asked = {"role": "assistant", "tool_calls": calls}
    result = {"role": "tool", "content": "Look:", "images": ["aGk="]}
    assert chat(messages=[asked, result]).messages[-1].images[0].data == b"hi"


ANSWER_FACTS = Facts("", default_model="small")
EVENTS: tuple[Event, ...] = (
    ReasoningDelta("hm"),
    TextDelta("Hel"),
    TextDelta("lo"),
    ClientToolCall(ToolCall("c", "add", {"a": 1})),
    Finished("tool_calls", Usage(7, 0, 5, 0, 0.5, 0.25)),
)


async def test_a_chat_comes_line_by_line() -> None:
    frames = [frame async for frame in render_chat(replay(*EVENTS), {}, ANSWER_FACTS)]
    lines = [ChatResponse.model_validate_json(frame) for frame in frames]
    assert [line.message.content for line in lines] == ["", "Hel", "lo", "", ""]
    assert lines[0].message.thinking == "hm"
    assert lines[3].message.tool_calls
    assert lines[3].message.tool_calls[0].function.arguments == {"a": 1}
    assert (lines[-1].done, lines[-1].done_reason, lines[-1].eval_count) == (True, "stop", 5)
    assert lines[-1].prompt_eval_duration == 500_000_000


async def test_a_chat_comes_whole() -> None:
    reply = await collect_chat(replay(*EVENTS), {"model": "small"}, ANSWER_FACTS)
    whole = ChatResponse.model_validate(reply.body)
    assert (whole.message.content, whole.message.thinking) == ("Hello", "hm")
    assert whole.message.tool_calls
    assert whole.prompt_eval_count == 7


async def test_a_completion_comes_both_ways() -> None:
    events = (TextDelta("a"), TextDelta("b"), Finished("length", Usage(1, 0, 2)))
    frames = [frame async for frame in render_generate(replay(*events), {}, ANSWER_FACTS)]
    lines = [GenerateResponse.model_validate_json(frame) for frame in frames]
    assert "".join(line.response for line in lines) == "ab"
    assert lines[-1].done_reason == "length"
    reply = await collect_generate(replay(*events), {}, ANSWER_FACTS)
    assert GenerateResponse.model_validate(reply.body).response == "ab"


async def test_a_failure_is_told() -> None:
    failed = Failed(EngineCrashed("Gone."))
    frames = [frame async for frame in render_chat(replay(failed), {}, ANSWER_FACTS)]
    line: dict[str, Any] = json.loads(frames[-1])
    assert line["error"] == "Gone."
    reply = await collect_chat(replay(failed), {}, ANSWER_FACTS)
    assert (reply.status, reply.body) == (502, {"error": "Gone."})


async def test_log_probabilities_come_with_the_text_both_ways() -> None:
    token = TokenLogprob("a", b"a", -0.5, (TokenLogprob("b", b"b", -1.5),))
    events = (TextDelta("a", (token,)), TextDelta("a", (token,)), Finished("stop", Usage()))
    frames = [frame async for frame in render_chat(replay(*events), {}, ANSWER_FACTS)]
    streamed = [ChatResponse.model_validate_json(frame).logprobs for frame in frames]
    whole = ChatResponse.model_validate(
        (await collect_chat(replay(*events), {}, ANSWER_FACTS)).body
    )
    written = (await collect_generate(replay(*events), {}, ANSWER_FACTS)).body
    assert [len(found or ()) for found in streamed] == [1, 1, 0]
    assert whole.logprobs
    assert [one.logprob for one in whole.logprobs] == [-0.5, -0.5]
    assert written["logprobs"][0]["top_logprobs"][0]["token"] == "b"
