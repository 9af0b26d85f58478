"""Runs the remote engine against llama.cpp's own server, from the xllamacpp wheel.

MOAT_XLLAMACPP_PYTHON may name an interpreter that has this wheel.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from server.chat import ChatRequest, Constraint, Message, Sampling
from server.egress import Egress
from server.engine.elsewhere.engine import REASON, Remote, RemoteEngine
from server.errors import BadRequest, ContextOverflow, EngineCrashed, NotSupported
from server.events import Finished, Piece, TextDelta
from server.settings import NetworkSettings
from tests.kit.far_server import LlamaServer, started

GREEDY = Sampling(temperature=0.0)
ASK = ChatRequest((Message("user", "Say hello."),), sampling=GREEDY, max_tokens=8)
CITY = {
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Rome"]}},
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.fixture
def server(starter_model: Path) -> Iterator[LlamaServer]:
    with started(starter_model) as server:
        yield server


@pytest.fixture
async def engine(server: LlamaServer) -> AsyncIterator[RemoteEngine]:
    egress = Egress(NetworkSettings)
    egress.allow(server.address, REASON)
    engine = RemoteEngine(Remote(f"{server.address}/v1"), egress)
    await engine.load()
    yield engine
    await egress.close()


async def read(engine: RemoteEngine, request: ChatRequest) -> list[Piece]:
    async with aclosing(engine.generate(request)) as pieces:
        return [piece async for piece in pieces]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


async def test_chats_schemas_and_questions(engine: RemoteEngine) -> None:
    assert engine.facts.context_tokens == 1024

    pieces = await read(engine, ASK)
    end = pieces[-1]
    assert isinstance(end, Finished)
    assert text_of(pieces)
    assert end.usage.prompt_tokens > 10
    assert 0 < end.usage.completion_tokens <= 8

    constraint = Constraint("json_schema", json.dumps(CITY))
    bound = ChatRequest(ASK.messages, sampling=GREEDY, max_tokens=40, constraint=constraint)
    assert json.loads(text_of(await read(engine, bound)))["city"] in ("Oslo", "Rome")

    likely = ChatRequest(ASK.messages, sampling=GREEDY, max_tokens=2, top_logprobs=3)
    first = next(p for p in await read(engine, likely) if isinstance(p, TextDelta))
    assert len(first.logprobs[0].top) == 3

    raw = ChatRequest(prompt="One, two, three,", sampling=GREEDY, max_tokens=4)
    assert text_of(await read(engine, raw))

    tokens = await engine.tokenize("hello world")
    assert await engine.detokenize(tokens) == "hello world"
    assert "Say hello." in await engine.apply_template(ASK)


async def test_it_refuses_with_the_numbers_and_says_what_it_lacks(engine: RemoteEngine) -> None:
    long = ChatRequest((Message("user", "word " * 3000),))
    with pytest.raises(ContextOverflow) as refused:
        await read(engine, long)
    assert refused.value.needed > refused.value.available == 1024
    with pytest.raises((NotSupported, BadRequest)):
        await engine.embed(["text"])


async def test_its_death_in_mid_answer_is_told(engine: RemoteEngine, server: LlamaServer) -> None:
    endless = ChatRequest(ASK.messages, sampling=Sampling(ignore_eos=True), max_tokens=900)
    async with aclosing(engine.generate(endless)) as pieces:
        await anext(pieces)
        server.process.kill()
        with pytest.raises(EngineCrashed):
            [piece async for piece in pieces]
