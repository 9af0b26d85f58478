"""Sends the requests of OpenBB's own example tests over HTTP, and checks what they expect.

What only a large model can do is left out, such as rating headlines. The engine here repeats its
prompt, so a word of the data in the answer shows that the data reached the model.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.chat import ChatRequest
from server.core.core import Core
from server.events import Finished, Pieces, TextDelta
from server.system.paths import find
from tests.contract.openbb.player import Told, data_of, parse, text_of
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.office_files import pdf

Json = dict[str, Any]
OLD, NEW = "/v1/query", "/v1/agent/query"
WEATHER = "ff6368ec-a397-4baf-9f5a-fecd9fd797a3"
NEWS = {
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "origin": "openbb",
    "widget_id": "company_news",
    "name": "Company News",
    "description": "News about a company",
    "params": [
        {"name": "ticker", "type": "string", "description": "Ticker", "current_value": "AAPL"}
    ],
    "metadata": {},
}
STORY = {**NEWS, "widget_id": "story", "name": "Story", "description": "A file", "params": []}
FOOD = {"uuid": WEATHER, "name": "favourite_food", "description": "What the user likes to eat"}


class RepeatingEngine(TalkingEngine):
    async def generate(self, request: ChatRequest) -> Pieces:
        if request.constraint is not None:
            async for piece in super().generate(request):
                yield piece
            return
        for message in request.messages:
            yield TextDelta(f"{message.content}\n")
        yield Finished("stop")


@pytest.fixture
async def core(starter_model: object) -> AsyncIterator[Core]:
    made = Core(find(), lambda _path, _options: RepeatingEngine())
    await made.open()
    await made.start_on(0)
    yield made
    await made.close()


async def post(core: Core, body: Json, path: str = NEW) -> tuple[int, str]:
    address = core.server.get().address
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{address}{path}", json=body) as answer,
    ):
        return answer.status, await answer.text()


async def ask(core: Core, body: Json, path: str = NEW) -> list[Told]:
    status, text = await post(core, body, path)
    assert status == 200
    blocks = [block for block in text.encode().split(b"\n\n") if block.startswith(b"event:")]
    return [parse(block + b"\n\n") for block in blocks]


def human(content: str) -> Json:
    return {"role": "human", "content": content}


def called(source: Json) -> Json:
    asked = {"function": "get_widget_data", "input_arguments": {"data_sources": [source]}}
    return {"role": "ai", "content": json.dumps(asked)}


def result(source: Json, *items: Json) -> Json:
    asked = {"function": "get_widget_data", "input_arguments": {"data_sources": [source]}}
    state = {"copilot_function_call_arguments": {}, "_locally_bound_function": "get_widget_data"}
    return {"role": "tool", **asked, "data": [{"items": list(items)}], "extra_state": state}


@pytest.mark.parametrize("path", [OLD, NEW])
async def test_single_and_multiple_messages(core: Core, path: str) -> None:
    told = await ask(core, {"messages": [human("what is 1 + 1? Don't retrieve data.")]}, path)
    assert "what is 1 + 1?" in text_of(told)
    said = [human("what is 1 + 1?"), {"role": "ai", "content": "2"}, human("what is 2 + 2?")]
    told = await ask(core, {"messages": said}, path)
    assert "what is 2 + 2?" in text_of(told)
    assert not data_of(told, "copilotFunctionCall")


@pytest.mark.parametrize("path", [OLD, NEW])
async def test_no_messages(core: Core, path: str) -> None:
    status, text = await post(core, {"messages": []}, path)
    assert 400 <= status < 500
    assert "messages list cannot be empty" in text


@pytest.mark.parametrize("path", [OLD, NEW])
async def test_message_with_context(core: Core, path: str) -> None:
    context = [{**FOOD, "data": {"content": "pizza"}}]
    body = {"messages": [human("What is my favourite food?")], "context": context}
    assert "pizza" in text_of(await ask(core, body, path)).lower()


async def test_a_widget_of_2024_is_retrieved_and_its_result_told(core: Core) -> None:
    widget = {"uuid": WEATHER, "name": "weather", "description": "The weather in a city"}
    body = {"messages": [human("What is the weather in London?")], "widgets": [widget]}
    (call,) = data_of(await ask(core, body, OLD), "copilotFunctionCall")
    assert call["function"] == "get_widget_data"
    assert call["input_arguments"] == {"widget_uuid": WEATHER}
    brought = {"role": "tool", "function": "get_widget_data", "content": "10 degrees Celsius"}
    body["messages"] += [{"role": "ai", "content": json.dumps(call)}, brought]
    assert "10 degrees" in text_of(await ask(core, body, OLD))


@pytest.mark.parametrize("path", [OLD, NEW])
async def test_message_with_primary_widget(core: Core, path: str) -> None:
    question = human("Fetch the latest news from the widget and rate each headline. Just do it.")
    told = await ask(core, {"messages": [question], "widgets": {"primary": [NEWS]}}, path)
    name, call = told[-1]
    assert name == "copilotFunctionCall"
    assert call["function"] == "get_widget_data"
    (source,) = call["input_arguments"]["data_sources"]
    assert source == {
        "widget_uuid": NEWS["uuid"],
        "origin": "openbb",
        "id": "company_news",
        "input_args": {"ticker": "AAPL"},
    }
    assert call["extra_state"]


async def test_primary_before_secondary_and_extra(core: Core) -> None:
    """The primary widget answers the question, so the others are not read."""
    symbol = {"name": "symbol", "type": "string", "description": "Symbol", "current_value": "TSLA"}
    price = {**NEWS, "uuid": WEATHER, "widget_id": "stock_price", "name": "Stock Price"}
    price |= {"description": "Stock price of any ticker", "params": [symbol]}
    extra = {**price, "uuid": None, "widget_id": "historical_price", "name": "Historical Price"}
    widgets = {"primary": [price], "secondary": [NEWS], "extra": [extra]}
    body = {"messages": [human("What's the stock price of TSLA?")], "widgets": widgets}
    (call,) = data_of(await ask(core, body), "copilotFunctionCall")
    (source,) = call["input_arguments"]["data_sources"]
    assert (source["id"], source["input_args"]) == ("stock_price", {"symbol": "TSLA"})


async def test_primary_widget_with_its_result_is_told_and_cited(core: Core) -> None:
    """The result names another origin than the widget, as in OpenBB's example."""
    source = {"widget_uuid": NEWS["uuid"], "id": "company_news", "input_args": {"symbol": "AAPL"}}
    item = {"content": "Apple reports record earnings\nApple faces delays"}
    said = [human("For each piece of news, rate the sentiment."), called(source)]
    said.append(result({**source, "origin": "OpenBB API"}, item))
    told = await ask(core, {"messages": said, "widgets": {"primary": [NEWS]}})
    assert "Apple faces delays" in text_of(told)
    ((citation,),) = [one["citations"] for one in data_of(told, "copilotCitationCollection")]
    info = citation["source_info"]
    assert (info["type"], info["widget_id"], info["citable"]) == ("widget", "company_news", True)
    assert info["metadata"]["input_args"] == {"symbol": "AAPL"}


async def test_a_table_of_a_widget_is_told_to_the_digit(core: Core) -> None:
    source = {"origin": "OpenBB API", "id": "yield_curve", "input_args": {"country": "japan"}}
    curve = {**NEWS, "origin": "OpenBB API", "widget_id": "yield_curve", "name": "Yield Curve"}
    rows = [{"maturity": "month_1", "rate": 0.0437}, {"maturity": "month_3", "rate": 0.0434}]
    said = [human("Give me the yield curve data to the fourth decimal."), called(source)]
    said.append(result(source, {"content": json.dumps(rows)}))
    told = await ask(core, {"messages": said, "widgets": {"primary": [curve]}})
    assert "0.0437" in text_of(told)
    assert "0.0434" in text_of(told)


Start = Callable[[web.Application], Awaitable[TestServer]]


async def test_a_pdf_behind_a_link_is_read_and_its_page_cited(
    core: Core, aiohttp_server: Start
) -> None:
    async def story(_request: web.Request) -> web.Response:
        return web.Response(body=pdf("A story by Didier about open data."))

    served = web.Application()
    served.router.add_get("/story.pdf", story)
    host = f"http://127.0.0.1:{(await aiohttp_server(served)).port}"
    form = {"data_type": "pdf", "filename": "story.pdf"}
    source = {"widget_uuid": STORY["uuid"], "origin": "openbb", "id": "story", "input_args": {}}
    said = [human("Summarize the PDF. Give the name and author."), called(source)]
    said.append(result(source, {"url": f"{host}/story.pdf", "data_format": form}))
    body = {"messages": said, "widgets": {"primary": [STORY]}}
    told = await ask(core, body)
    assert f"moat allow --files {host}" in text_of(told)
    assert "Didier" not in text_of(told)
    await core.change_setting("network.file_hosts", (host,))
    told = await ask(core, body)
    assert "Didier" in text_of(told)
    ((citation,),) = [one["citations"] for one in data_of(told, "copilotCitationCollection")]
    assert citation["details"] == [{"Filename": "story.pdf", "Page": 1}]
