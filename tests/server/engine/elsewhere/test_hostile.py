"""A server elsewhere that hangs, lies or sends garbage: a sentence, and nothing else breaks."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from server.asking.ask import count_tokens
from server.chat import ChatRequest, Constraint, Message, Tool, ToolChoice
from server.egress import Egress
from server.engine.elsewhere import engine as module
from server.engine.elsewhere.engine import REASON, Remote, RemoteEngine
from server.engine.elsewhere.several import Several
from server.errors import AppError, BadSchema, EngineCrashed, ModelLoadFailed, NotSupported
from server.events import (
    CallArguments,
    Finished,
    Piece,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    ToolCallRequested,
)
from server.schemas.check import misfit
from server.settings import NetworkSettings

Json = dict[str, Any]
ASK = ChatRequest((Message("user", "hi"),))
MODELS = {"data": [{"id": "m"}]}
LLAMA_SERVER = {"data": [{"id": "m", "owned_by": "llamacpp"}]}
CITY = {"type": "object", "properties": {"city": {"enum": ["Oslo"]}}, "required": ["city"]}


def whole(body: Any, status: str = "200 OK", length: int | None = None) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = len(data) if length is None else length
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n"
    return head.encode() + data


def stream(*choices: Json) -> bytes:
    lines = [json.dumps({"choices": [choice]}) for choice in choices]
    return whole("".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode())


def say(text: str) -> bytes:
    return stream({"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"})


def call(name: str, arguments: str) -> bytes:
    made = {"index": 0, "id": "c", "function": {"name": name, "arguments": arguments}}
    return stream({"delta": {"tool_calls": [made]}}, {"delta": {}, "finish_reason": "tool_calls"})


class Liar:
    """Answers each path with the next of its bytes; what is asked last is kept."""

    def __init__(self, **answers: list[bytes]) -> None:
        self.answers = {"models": [whole(MODELS)], **answers}
        self.bodies: list[Json] = []
        self.hangs = asyncio.Event()
        self.hangs.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = next((line[15:] for line in head.split("\r\n") if "content-length" in line), "0")
        body = await reader.readexactly(int(size))
        self.bodies += [json.loads(body)] if body else []
        await self.hangs.wait()
        held = self.answers.get(head.split()[1].rpartition("/")[2], [whole({}, "404 Not Found")])
        writer.write(held.pop(0) if len(held) > 1 else held[0])
        writer.close()


@asynccontextmanager
async def reached(liar: Liar, **overrides: Any) -> AsyncIterator[RemoteEngine]:
    server = await asyncio.start_server(liar.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    egress = Egress(NetworkSettings)
    egress.allow(f"http://127.0.0.1:{port}", REASON)
    try:
        yield RemoteEngine(Remote(f"http://127.0.0.1:{port}/v1", **overrides), egress)
    finally:
        liar.hangs.set()
        server.close()
        await server.wait_closed()
        await egress.close()


async def read(engine: RemoteEngine | Several, request: ChatRequest = ASK) -> list[Piece]:
    async with aclosing(engine.generate(request)) as pieces:
        return [piece async for piece in pieces]


@pytest.mark.parametrize(
    "answer",
    [
        whole(b"<html>Bad gateway</html>"),
        whole(b"\xff\x00\xfe" * 100),
        whole([1, 2]),
        whole({"data": 5}),
        whole({"data": [{"id": 7}]}),
        whole(MODELS, length=10_000),
        whole({"data": []}),
        b"nothing of HTTP\r\n\r\n",
        whole({"error": "no"}, "401 Unauthorized"),
    ],
)
async def test_a_list_of_models_that_is_none_is_said(answer: bytes) -> None:
    async with reached(Liar(models=[answer])) as engine:
        with pytest.raises(ModelLoadFailed, match="The engine at 127"):
            await engine.load()
        assert engine.state.get().phase == "failed"


@pytest.mark.parametrize(
    "answer",
    [
        whole(b"data: {not json}\n\n"),
        whole(b"data: {}\n\n", length=100_000),
        whole(say("cut")[:150], length=5),
        stream({"delta": {"content": "x"}, "logprobs": {"content": [{"logprob": "x"}]}}),
        whole(b'data: {"choices": [], "usage": {"prompt_tokens": 1e999}}\n\n'),
        whole(b""),
    ],
)
async def test_an_answer_of_garbage_is_an_error(answer: bytes) -> None:
    async with reached(Liar(completions=[answer])) as engine:
        with pytest.raises(EngineCrashed, match="The engine at 127"):
            await read(engine)


async def test_a_line_and_a_body_without_end_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_EVENT", 1000)
    endless = whole(b"data: " + b"x" * 5000)
    async with reached(Liar(completions=[endless], embeddings=[endless])) as engine:
        with pytest.raises(EngineCrashed, match="unexpected"):
            await read(engine)
        monkeypatch.setattr(module, "LONGEST_BODY", 1000)
        with pytest.raises(EngineCrashed, match="without end"):
            await read(engine)
        with pytest.raises(EngineCrashed, match="without end"):
            await engine.embed(["a"])


@pytest.mark.parametrize(
    "rows",
    [
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [float("nan")]}, {"index": 1, "embedding": [1.0]}],
    ],
)
async def test_vectors_of_the_wrong_number_or_length_are_refused(rows: list[Json]) -> None:
    async with reached(Liar(embeddings=[whole({"data": rows})])) as engine:
        with pytest.raises(EngineCrashed, match="unexpected answer"):
            await engine.embed(["a", "b"])


async def test_counts_that_cannot_be_added_up_are_not_taken_over() -> None:
    row = {"index": 0, "embedding": [1.0]}
    for said, counted in ((-5, 0), (10**400, module.MOST_TOKENS), (3, 3)):
        found = whole({"data": [row], "usage": {"prompt_tokens": said}})
        async with reached(Liar(embeddings=[found])) as engine:
            assert (await engine.embed(["a"])).tokens == counted


@pytest.mark.parametrize("answer", [whole({}, "404 Not Found"), whole(b"<h1>Hello</h1>")])
async def test_a_server_that_does_not_count_is_asked_once(answer: bytes) -> None:
    liar = Liar(tokenize=[answer])
    async with reached(liar) as engine:
        for _ in range(2):
            with pytest.raises(NotSupported, match="has no /tokenize"):
                await engine.tokenize("hi")
        assert len(liar.bodies) == 1
        assert await count_tokens(engine, "hi") == 1


@pytest.mark.parametrize("kind", ["llamacpp", "vllm"])
async def test_how_far_the_prompt_was_read_is_told_before_the_first_word(kind: str) -> None:
    told = {"processed": 4, "total": 9} if kind == "llamacpp" else None
    first: Json = {"prompt_progress": told} if told else {"usage": {"prompt_tokens": 9}}
    later = {"usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    chunks = [first, {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}], **later}]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    models = {"data": [{"id": "m", "owned_by": kind}]}
    async with reached(Liar(models=[whole(models)], completions=[whole(body)])) as engine:
        pieces = await read(engine)
    assert pieces[:-1] == [PromptProgress(4 if told else 9, 9), TextDelta("a")]


async def test_facts_that_are_none_are_unknown_and_can_be_said_by_the_person() -> None:
    lies = {"id": "m", "max_model_len": -5, "meta": {"n_params": "many", "n_ctx_train": True}}
    async with reached(Liar(models=[whole({"data": [lies]})])) as engine:
        await engine.load()
        assert (engine.facts.context_tokens, engine.facts.parameters) == (0, 0)
    said: Json = {"context_tokens": 4096, "parameters": 7, "sees_images": True}
    async with reached(Liar(models=[whole({"data": [lies]})]), **said) as engine:
        await engine.load()
        facts = engine.facts
        assert (facts.context_tokens, facts.parameters, facts.sees_images) == (4096, 7, True)


async def test_one_that_hangs_is_given_up_by_the_probe() -> None:
    liar = Liar(completions=[say("late")])
    async with reached(liar) as engine:
        several = Several([engine], probe_s=0.05)
        await several.load()
        liar.hangs.clear()
        with pytest.raises(EngineCrashed, match="does not answer"):
            await read(several)
        liar.hangs.set()
        assert TextDelta("late") in await read(several)
        await several.close()


TOOLS = (Tool("weather", "", CITY), Tool("now", "", {"type": "object"}))
MUST = ChatRequest(ASK.messages, tools=TOOLS, tool_choice=ToolChoice("required"))
MAY = ChatRequest(ASK.messages, tools=TOOLS)
OURS = '{"tool_calls":[{"name":"weather","arguments":{"city":"Oslo"}}]}'


@pytest.mark.parametrize("request_", [MUST, MAY], ids=["must", "may"])
@pytest.mark.parametrize(
    "wrong",
    [call("weather", '{"city": "Rome"}'), call("weather", '{"ci'), call("other", "{}")],
    ids=["misfit", "broken", "unknown"],
)
async def test_a_call_that_does_not_fit_is_asked_for_again(
    wrong: bytes, request_: ChatRequest
) -> None:
    liar = Liar(completions=[wrong, say(OURS)])
    async with reached(liar) as engine:
        pieces = await read(engine, request_)
    made = [piece for piece in pieces if isinstance(piece, ToolCallRequested)]
    assert [(one.call.name, one.call.arguments) for one in made] == [("weather", {"city": "Oslo"})]
    assert isinstance(pieces[-1], Finished)
    assert pieces[-1].reason == "tool_calls"
    assert "tools" in liar.bodies[0]
    assert liar.bodies[1]["response_format"]["type"] == "json_schema"


async def test_after_asking_again_twice_a_bad_call_is_refused() -> None:
    bad = say('{"tool_calls":[{"name":"weather","arguments":{"city":"Rome"}}]}')
    liar = Liar(completions=[call("weather", "{}"), bad, bad])
    async with reached(liar) as engine:
        with pytest.raises(EngineCrashed, match="does not fit"):
            await read(engine, MUST)
    assert len(liar.bodies) == 3


async def test_a_server_without_schemas_is_asked_again_in_its_own_way() -> None:
    refusal = whole({"error": "response_format is not supported"}, "400 Bad Request")
    liar = Liar(completions=[say("Hello"), refusal, call("weather", '{"city": "Oslo"}')])
    async with reached(liar) as engine:
        pieces = await read(engine, MUST)
    assert any(isinstance(piece, ToolCallRequested) for piece in pieces)


@pytest.mark.parametrize("text", [OURS, '{ "tool_calls" : [ ' + OURS[15:]])
async def test_calls_are_read_by_us_where_the_person_says_so(text: str) -> None:
    liar = Liar(completions=[say(text), say('{"response": "Gr\\u00fc\\u00dfe"}')])
    async with reached(liar, reads_calls=False) as engine:
        pieces = await read(engine, MAY)
        assert any(isinstance(piece, ToolCallRequested) for piece in pieces)
        assert "weather" in liar.bodies[0]["messages"][0]["content"]
        assert "tools" not in liar.bodies[0]
        said = [piece.text for piece in await read(engine, MAY) if isinstance(piece, TextDelta)]
    assert "".join(said) == "Grüße"


async def test_json_of_an_unknown_server_is_checked_by_us() -> None:
    bound = ChatRequest(ASK.messages, constraint=Constraint("json_schema", json.dumps(CITY)))
    liar = Liar(completions=[say("Oslo!"), say('{"city": "Rome"}'), say('{"city": "Oslo"}')])
    async with reached(liar) as engine:
        pieces = await read(engine, bound)
        assert pieces[0] == TextDelta('{"city": "Oslo"}')
        liar.answers["completions"] = [say("never")]
        with pytest.raises(AppError, match="does not keep to the JSON schema"):
            await read(engine, bound)


def known(*answers: bytes) -> Liar:
    """One that says it is llama-server, whose grammar binds answers."""
    return Liar(models=[whole(LLAMA_SERVER)], completions=list(answers))


def bound_by(schema: Json) -> ChatRequest:
    return ChatRequest(ASK.messages, constraint=Constraint("json_schema", json.dumps(schema)))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 7},
        {"type": "number", "minimum": 14},
        {"not": {"const": 9}, "type": "integer"},
        {"anyOf": [{"oneOf": [{"const": 14}]}]},
        {"$defs": {"n": {"if": {"minimum": 10}, "else": False}}, "$ref": "#/$defs/n"},
        {"anyOf": [{"allOf": [{"const": 14}]}]},
    ],
)
async def test_what_a_grammar_may_pass_over_is_checked_before_it_is_shown(schema: Json) -> None:
    liar = known(say("9"), say("14"))
    async with reached(liar) as engine:
        assert (await read(engine, bound_by(schema)))[0] == TextDelta("14")
        liar.answers["completions"] = [say("9")]
        with pytest.raises(BadSchema, match="cannot keep to the JSON schema"):
            await read(engine, bound_by(schema))


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({"type": "number", "minimum": 0.1, "maximum": 0.5}, 101),
        ({"type": "number", "exclusiveMaximum": -3}, 100),
        ({"type": "integer", "multipleOf": 7, "minimum": 10}, 101),
        ({"type": "number", "minimum": 2, "maximum": 1}, 0),
    ],
)
async def test_the_last_attempt_lists_the_numbers_that_fit(limits: Json, most: int) -> None:
    schema = {"type": "object", "properties": {"n": limits}, "required": ["n"]}
    liar = known(say('{"n": -1}'))
    async with reached(liar) as engine:
        with pytest.raises(AppError):
            await read(engine, bound_by(schema))
    sent = liar.bodies[-1]["response_format"]["json_schema"]["schema"]["properties"]["n"]
    listed = sent.get("enum", [])
    assert len(listed) == most
    assert not [number for number in listed if misfit({"n": number}, schema)]


async def test_what_a_grammar_follows_comes_at_once_and_is_checked_at_the_end() -> None:
    async with reached(known(say('{"city": "Rome"}'))) as engine:
        pieces = engine.generate(bound_by(CITY))
        assert await anext(pieces) == TextDelta('{"city": "Rome"}')
        with pytest.raises(EngineCrashed, match="does not keep to the JSON schema"):
            await anext(pieces)


def in_two(first: str, second: str) -> bytes:
    """A call whose arguments come in two parts."""
    opened = {"index": 0, "id": "c", "function": {"name": "weather", "arguments": first}}
    more = {"index": 0, "function": {"arguments": second}}
    calls = [{"delta": {"tool_calls": [part]}} for part in (opened, more)]
    return stream(*calls, {"delta": {}, "finish_reason": "tool_calls"})


@pytest.mark.parametrize("is_theirs", [True, False], ids=["theirs", "ours"])
async def test_calls_that_a_grammar_binds_are_passed_on_as_they_come(is_theirs: bool) -> None:
    ours = [OURS[:50], OURS[50:]]
    deltas = [{"delta": {"content": part}} for part in ours]
    answer = stream(*deltas, {"delta": {}, "finish_reason": "stop"})
    answer = in_two('{"city": ', '"Oslo"}') if is_theirs else answer
    async with reached(known(answer), reads_calls=is_theirs) as engine:
        pieces = await read(engine, MUST)
    parts = [piece.text for piece in pieces if isinstance(piece, CallArguments)]
    assert len(parts) == 2
    assert json.loads("".join(parts)) == {"city": "Oslo"}


async def test_a_bound_call_that_does_not_fit_is_an_error_not_a_call() -> None:
    liar = known(in_two('{"city": ', '"Rome"}'))
    async with reached(liar) as engine:
        with pytest.raises(EngineCrashed, match="a call that does not fit"):
            await read(engine, MUST)
    assert len(liar.bodies) == 1


@pytest.mark.parametrize("text", ["", '{"tool_ca', '{"tool_calls":[{"name":"weather","argum'])
async def test_an_answer_cut_before_its_call_is_cut_and_no_error(text: str) -> None:
    cut = stream({"delta": {"content": text}}, {"delta": {}, "finish_reason": "length"})
    liar = Liar(completions=[cut])
    async with reached(liar, reads_calls=False) as engine:
        end = (await read(engine, MUST))[-1]
    assert isinstance(end, Finished)
    assert end.reason == "length"
    assert len(liar.bodies) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls":[{"arguments":{"city":"Oslo"},"name":"weather"}]}',
        '{ "tool_calls" : [ { "name" : "weather" , "arguments" : {"city":"Oslo"} } ] }',
        '{"tool_calls":[{"name":"weather","id":[1],"arguments":{"city":"Oslo"}}]}',
    ],
)
async def test_our_form_is_read_in_any_order_and_with_any_spaces(text: str) -> None:
    async with reached(Liar(completions=[say(text)]), reads_calls=False) as engine:
        pieces = await read(engine, MUST)
    made = [piece.call for piece in pieces if isinstance(piece, ToolCallRequested)]
    assert [(call.name, call.arguments) for call in made] == [("weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "text", ['{"tool_calls":[{', '{"tool_calls":[{"name":]', '{"tool_calls":5}']
)
async def test_a_broken_form_ends(text: str) -> None:
    liar = Liar(completions=[say('{"tool_calls":' + text)])
    async with reached(liar, reads_calls=False) as engine:
        with pytest.raises(EngineCrashed, match=r"called no tool|does not fit"):
            await read(engine, MUST)


def made_calls(pieces: list[Piece]) -> list[tuple[str, Json]]:
    found = [piece.call for piece in pieces if isinstance(piece, ToolCallRequested)]
    return [(call.name, dict(call.arguments)) for call in found]


def delta_of(id_: str | None, name: str | None, arguments: Any, index: Any = 0) -> Json:
    call = {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}
    return {"delta": {"tool_calls": [call]}}


OSLO = '{"city": "Oslo"}'
FREE = ChatRequest((Message("user", "hi"),), tools=(Tool("weather", "w", CITY),))


@pytest.mark.parametrize(
    ("deltas", "count"),
    [
        ([delta_of("a", "weather", OSLO), delta_of("b", "weather", OSLO)], 2),
        ([delta_of("a", "weather", OSLO, None)], 1),
        ([delta_of("a", "weather", {"city": "Oslo"})], 1),
        ([delta_of("a", "", ""), delta_of("a", "weather", ""), delta_of("", "", OSLO)], 1),
        ([delta_of("a", None, OSLO[:5]), delta_of("a", "weather", OSLO[5:])], 1),
        ([delta_of("a", "weather", OSLO[:5]), delta_of("a", "weather", OSLO[5:])], 1),
    ],
    ids=[
        "one index for all",
        "no index",
        "an object",
        "name late",
        "arguments first",
        "name twice",
    ],
)
async def test_calls_in_the_odd_forms_of_servers_are_read(deltas: list[Json], count: int) -> None:
    answer = stream(*deltas, {"delta": {}, "finish_reason": "tool_calls"})
    async with reached(Liar(completions=[answer])) as engine:
        pieces = await read(engine, FREE)
    assert made_calls(pieces) == [("weather", {"city": "Oslo"})] * count
    told = [piece.index for piece in pieces if isinstance(piece, CallArguments)]
    assert set(told) == set(range(count))


async def test_a_call_that_is_never_named_is_an_error() -> None:
    answer = stream(delta_of("a", "", OSLO), {"delta": {}, "finish_reason": "tool_calls"})
    async with reached(Liar(completions=[answer])) as engine:
        with pytest.raises(EngineCrashed, match="unexpected answer"):
            await read(engine, FREE)


def texts_of(pieces: list[Piece], kind: type[TextDelta | ReasoningDelta] = TextDelta) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, kind))


async def test_a_server_that_does_not_stream_is_heard() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    message = {"role": "assistant", "content": "Hello", "reasoning_content": "Hm"}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    answer = whole(body).replace(b"Connection", b"Content-Type: application/json\r\nConnection", 1)
    async with reached(Liar(completions=[answer])) as engine:
        pieces = await read(engine)
    assert (texts_of(pieces, ReasoningDelta), texts_of(pieces)) == ("Hm", "Hello")
    assert isinstance(pieces[-1], Finished)
    assert pieces[-1].usage.prompt_tokens == 3


async def test_content_in_parts_is_thoughts_and_words() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    parts = [thought, {"type": "text", "text": "Hello"}, {"type": "reference", "ids": [1]}]
    answer = stream({"delta": {"content": parts}}, {"delta": {}, "finish_reason": "stop"})
    async with reached(Liar(completions=[answer])) as engine:
        pieces = await read(engine)
    assert (texts_of(pieces, ReasoningDelta), texts_of(pieces)) == ("Hm", "Hello")


@pytest.mark.parametrize(
    ("texts", "said"),
    [(["a\ud83d", "\ude00b"], "a😀b"), (["\ud83d", "b"], "\ufffdb"), (["\ude00b"], "\ufffdb")],
)
async def test_a_character_that_was_cut_in_two_is_whole_again(texts: list[str], said: str) -> None:
    choices = [{"delta": {"content": text}} for text in texts]
    answer = stream(*choices, {"delta": {}, "finish_reason": "stop"})
    async with reached(Liar(completions=[answer])) as engine:
        assert texts_of(await read(engine)) == said


@pytest.mark.parametrize("reason", ["error", "abort"])
async def test_an_answer_that_its_server_broke_off_is_no_whole_answer(reason: str) -> None:
    answer = stream({"delta": {"content": "Hel"}}, {"delta": {}, "finish_reason": reason})
    async with reached(Liar(completions=[answer])) as engine:
        with pytest.raises(EngineCrashed, match="ended the answer early"):
            await read(engine)


@pytest.mark.parametrize(
    "sent",
    [
        b'data: {"object": "error", "message": "out of memory", "code": 500}\n\n',
        b'event: error\ndata: {"message": "out of memory"}\n\n',
        b'data: {"error": {"message": "out of memory"}}\n\n',
    ],
)
async def test_an_error_in_the_stream_is_told_in_the_words_of_the_server(sent: bytes) -> None:
    async with reached(Liar(completions=[whole(sent)])) as engine:
        with pytest.raises(EngineCrashed, match="failed: out of memory"):
            await read(engine)


async def test_a_chunk_of_figures_may_say_that_it_has_no_choices() -> None:
    lines = [
        {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]},
        {"choices": None, "usage": {"prompt_tokens": 3}},
    ]
    sent = "".join(f"data: {json.dumps(line)}\n\n" for line in lines).encode()
    async with reached(Liar(completions=[whole(sent)])) as engine:
        pieces = await read(engine)
    assert texts_of(pieces) == "Hello"
    assert isinstance(pieces[-1], Finished)
    assert pieces[-1].usage.prompt_tokens == 3


async def test_an_answer_ends_though_its_server_never_closes_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "QUIET_S", 0.2)
    said = say("Hello").replace(b"data: [DONE]\n\n", b"").replace(b"Content-Length", b"X-Length", 1)

    has_left = asyncio.Event()

    class Silent(Liar):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            is_asked = b"/v1/models" not in head
            writer.write(said if is_asked else whole(MODELS))
            if is_asked:
                await reader.read()
            writer.close()
            await writer.wait_closed()
            if is_asked:
                has_left.set()

    async with asyncio.timeout(60), reached(Silent()) as engine:
        pieces = await read(engine)
        await has_left.wait()
    assert texts_of(pieces) == "Hello"
    assert isinstance(pieces[-1], Finished)


async def test_a_word_that_cannot_be_has_a_likelihood_that_json_can_write() -> None:
    row = {"token": "Hello", "logprob": -math.inf}
    choice = {"delta": {"content": "Hello"}, "logprobs": {"content": [row]}}
    answer = stream(choice, {"delta": {}, "finish_reason": "stop"})
    async with reached(Liar(completions=[answer])) as engine:
        pieces = await read(engine)
    (told,) = [piece.logprobs for piece in pieces if isinstance(piece, TextDelta)]
    assert told[0].logprob == module.LEAST_LIKELY
