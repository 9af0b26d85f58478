"""Answers with charts, one scene for each kind of chart."""

import json
import math

from app.chat.page import ChatPage
from app.shell.window import Window
from scripts.scenes.base import Scene, opened
from server.chat import Json
from server.events import Finished, Usage
from tests.kit.fake_core import FakeCore

YEARS = range(2016, 2026)
REVENUE: list[Json] = [
    {"year": str(year), "Cloud": 12.4 + n**1.9, "Licences": 38 - 1.1 * n, "Services": 9.5 + 0.7 * n}
    for n, year in enumerate(YEARS)
]
SECTORS = (
    ("Technology", 41.2),
    ("Health", 18.9),
    ("Banks", 14.0),
    ("Energy", 11.3),
    ("Other", 8.1),
)


def fence(option: Json) -> str:
    return f"```echarts\n{json.dumps(option)}\n```"


def across(kind: str, title: str, rows: list[Json], **more: str) -> Json:
    first, *rest = rows[0]
    series = [
        {"type": kind, "name": name, "encode": {"x": first, "y": name}, **more} for name in rest
    ]
    return {
        "title": {"text": title}, "dataset": {"source": rows},
        "xAxis": {"type": "category", "name": first}, "yAxis": {"type": "value"}, "series": series,
    }  # fmt: skip


def slices(title: str, radius: list[str] | None = None) -> Json:
    rows = [{"sector": name, "weight": weight} for name, weight in SECTORS]
    pie: Json = {"type": "pie", "encode": {"itemName": "sector", "value": "weight"}}
    series = [{**pie, "radius": radius} if radius else pie]
    return {"title": {"text": title}, "dataset": {"source": rows}, "series": series}


async def lines(_core: FakeCore, window: Window) -> str:
    text = "Cloud overtook licences in 2022.\n\n" + fence(
        across("line", "Revenue by line of business, bn", REVENUE)
    )
    return _answered(window, "How did revenue move by line of business?", text)


async def bars(_core: FakeCore, window: Window) -> str:
    text = fence(across("bar", "Revenue, bn", REVENUE[4:], stack="all"))
    return _answered(window, "And stacked, the last six years?", text)


async def rings(_core: FakeCore, window: Window) -> str:
    text = fence(slices("Weights by sector", ["40%", "70%"]))
    return _answered(window, "What are the weights of my portfolio?", text)


async def points(_core: FakeCore, window: Window) -> str:
    rows: list[Json] = [
        {"beta": round(0.4 + n / 40, 2), "return %": round(4 + n / 6 + 5 * math.sin(n * 2.3), 1)}
        for n in range(60)
    ]
    text = fence(across("scatter", "Return against beta", rows))
    return _answered(window, "Do riskier shares pay more?", text)


def _answered(window: Window, question: str, text: str) -> str:
    chat = opened(window, ChatPage)
    chat.show_conversation()
    chat.transcript.ask(question)
    answer = chat.transcript.answer("Qwen3-8B")
    answer.add_text(text)
    answer.finish(Finished("stop", Usage(812, completion_tokens=96)))
    return ChatPage.title


SCENES: dict[str, Scene] = {
    "chat-chart-line": lines,
    "chat-chart-bar": bars,
    "chat-chart-ring": rings,
    "chat-chart-scatter": points,
}
