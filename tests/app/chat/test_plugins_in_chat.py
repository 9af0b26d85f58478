"""Plugins in the Chat page with the real core: steps, permission, a form, a chart, cancelling."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from app.chat.chats import ChatStore
from app.chat.page import ChatPage
from app.chat.transcript import Answer
from app.shell.window import Window
from server.core.core import Core
from server.engine.base import EngineOptions
from server.system.paths import find
from tests.kit.chat_parts import charts
from tests.kit.engines import ScriptedEngine, says
from tests.kit.until import until

Shown = Callable[[Any], Any]
SALES = """name: sales
description: Sales by year
steps:
  - name: start
    call_type: sql
    params: {statement: "SELECT year, sold FROM sales ORDER BY year"}
    next: draw
  - name: draw
    call_type: render
    params: {chart: bar, title: Sales}
"""
SEND = """name: send
description: Send a report
steps:
  - name: start
    call_type: api
    params: {endpoint: POST /reports}
"""
API = """openapi: 3.0.0
info: {title: t, version: '1'}
servers: [{url: 'URL'}]
paths:
  /reports:
    post:
      description: takes a report
      requestBody:
        content:
          multipart/form-data:
            schema:
              type: object
              required: [report]
              properties: {report: {type: string, format: binary}}
      responses: {'200': {description: x}}
"""


class Reports:
    def __init__(self) -> None:
        self.came: list[tuple[str, bytes]] = []
        self.hold: asyncio.Event | None = None
        self.left = asyncio.Event()

    async def take(self, request: web.Request) -> web.Response:
        report = (await request.post())["report"]
        assert isinstance(report, web.FileField)
        with report.file as file:
            self.came.append((report.filename, file.read()))
        try:
            if self.hold:
                await self.hold.wait()
        except asyncio.CancelledError:
            self.left.set()
            raise
        return web.json_response({"id": 7})


@pytest.fixture
async def reports() -> AsyncIterator[tuple[Reports, str]]:
    made = Reports()
    app = web.Application()
    app.router.add_post("/reports", made.take)
    async with TestServer(app, host="127.0.0.1", handler_cancellation=True) as server:
        yield made, str(server.make_url("")).rstrip("/")


@pytest.fixture
async def core(reports: tuple[Reports, str], tmp_path: Path) -> AsyncIterator[Core]:
    """Serving; connected programs may not use plugins, and one plugin is enabled."""
    folder = tmp_path / "shop"
    (folder / "flows").mkdir(parents=True)
    told = {"name": "Shop", "description": "d", "database": {"path": "data.sqlite"}}
    (folder / "plugin.json").write_text(json.dumps(told))
    (folder / "openapi.yaml").write_text(API.replace("URL", reports[1]))
    (folder / "flows" / "sales.yaml").write_text(SALES)
    (folder / "flows" / "send.yaml").write_text(SEND)
    with sqlite3.connect(folder / "data.sqlite") as base:
        base.execute("CREATE TABLE sales (year TEXT, sold INTEGER)")
        base.executemany("INSERT INTO sales VALUES (?, ?)", [("2024", 3), ("2025", 5)])
    base.close()

    def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
        return ScriptedEngine(*(says("Done.") for _ in range(4)))

    made = Core(find(), make)
    await made.open()
    await made.plugins.install(str(folder))
    await made.plugins.enable("shop")
    await made.start_on(0)
    yield made
    await made.close()


def answer_of(page: ChatPage) -> Answer:
    return page.transcript.findChildren(Answer)[-1]


async def test_a_flow_draws_its_chart_in_the_chat(core: Core, shown: Shown, tmp_path: Path) -> None:
    assert core.plugins.for_clients() is None
    for protocol in range(3):
        page = shown(ChatPage(core, ChatStore(tmp_path / f"chats{protocol}")))
        page.options.protocol.setCurrentIndex(protocol)
        page.ask("@shop/sales Draw the sales")
        await until(lambda page=page: page.composer.button.accessibleName() == "Send")
        answer = answer_of(page)
        (chart,) = charts(answer.view)
        assert chart.figure.labels == ("2024", "2025")
        assert chart.figure.series[0].values == (3.0, 5.0)
        assert "2 rows" in answer.steps.text()
        store = ChatStore(tmp_path / f"chats{protocol}")
        await until(lambda store=store: bool(store.all()))
        (kept,) = store.all()
        assert "```echarts" in kept.said[1].text
        assert "echarts" not in kept.messages()[1].content


async def test_a_file_is_picked_in_a_form_allowed_and_sent(
    core: Core, reports: tuple[Reports, str], memory: Any, shown: Shown, tmp_path: Path
) -> None:
    picked = tmp_path / "report.csv"
    picked.write_bytes(b"a,b\n1,2\n")
    window = shown(Window(core, memory))
    window.turn_to("Chat")
    page = window.page()
    page.ask("@shop/send Send my report")
    await until(lambda: bool(window.forms.list.rows))
    (form,) = window.forms.list.rows
    form.fields["report"].take(str(picked))
    form.send.click()
    await until(lambda: bool(window.approvals.list.rows))
    (card,) = window.approvals.list.rows
    assert "report.csv" in card.sent.toPlainText()
    card.once.click()
    await until(lambda: page.composer.button.accessibleName() == "Send")
    assert reports[0].came == [("report.csv", b"a,b\n1,2\n")]


async def test_stopping_withdraws_what_waits_and_ends_the_call(
    core: Core, reports: tuple[Reports, str], memory: Any, shown: Shown, tmp_path: Path
) -> None:
    picked = tmp_path / "report.csv"
    picked.write_bytes(b"x")
    window = shown(Window(core, memory))
    window.turn_to("Chat")
    page = window.page()
    page.ask("@shop/send Send my report")
    await until(lambda: bool(window.forms.list.rows))
    page.composer.button.click()
    await until(lambda: not core.plugins.forms.get())
    assert not window.forms.isVisible()
    reports[0].hold = asyncio.Event()
    page.ask("@shop/send Send it again")
    await until(lambda: bool(window.forms.list.rows))
    window.forms.list.rows[0].fields["report"].take(str(picked))
    window.forms.list.rows[0].send.click()
    await until(lambda: bool(window.approvals.list.rows))
    window.approvals.list.rows[0].once.click()
    await until(lambda: bool(reports[0].came))
    page.composer.button.click()
    async with asyncio.timeout(30):
        await reports[0].left.wait()
