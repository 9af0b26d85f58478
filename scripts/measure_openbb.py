"""Measures answers to dashboard questions: widgets found, correct numbers, speed with big tables.

Run from the repository: python -m scripts.measure_openbb
"""

import asyncio
import json
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date

from server.asking.ask import Means
from server.chat import ChatRequest, Json, Message
from server.dashboard.figures.compute import compute
from server.dashboard.materials import gather
from server.dashboard.prompt import compose
from server.dashboard.query import Element, Item, Query, Result, Said, Source, Widget
from server.dashboard.run import converse
from server.dashboard.widget_choice import choose, ranked
from server.data.tables import from_json
from server.engine.process import WorkerProcess
from server.events import TextDelta
from server.models import library
from server.protocols.openbb.query import read_widgets
from tests.contract.openbb import dashboards

TODAY = date(2025, 6, 20)
BIG_ROWS = 50_000
QUESTION = "Describe what these prices show."


@dataclass(slots=True)
class Found:
    asked: int = 0
    first: int = 0
    in_three: int = 0

    def add(self, order: list[str], label: str) -> None:
        self.asked += 1
        self.first += order[:1] == [label]
        self.in_three += label in order[:3]

    def __str__(self) -> str:
        return f"top-1 {self.first}/{self.asked}, top-3 {self.in_three}/{self.asked}"


async def main() -> None:
    path = library.find_starter()
    if path is None:
        sys.exit("The starter model is not installed.")
    engine = WorkerProcess(path)
    await engine.load()
    try:
        known = {name: dashboards.load(name).questions for name in dashboards.NAMES}
        await measure_choice(Means(engine), known, "60 questions")
        await measure_choice(Means(engine), dashboards.held_out(), "30 held-out questions")
        measure_figures()
        await measure_big_table(Means(engine))
    finally:
        await engine.close()


async def measure_choice(means: Means, asked: dict[str, list[Json]], title: str) -> None:
    alone, whole = Found(), Found()
    ways: dict[str, int] = {}
    left_alone = needless = 0
    began = time.monotonic()
    for name, questions in asked.items():
        widgets = read_widgets({"secondary": dashboards.load(name).widgets})
        for question in questions:
            text = question["ask"]
            choice = await choose(Query((), text, 1, widgets), means, widgets)
            ways[choice.by] = ways.get(choice.by, 0) + 1
            if not question["widgets"]:
                left_alone += not choice.widgets
                needless += bool(choice.widgets)
                continue
            label = question["widgets"][0]
            alone.add([widgets[one.index].id for one in ranked(text, widgets)], label)
            whole.add([widget.id for widget in choice.widgets], label)
    say(f"{title}: ranking alone: {alone}")
    say(f"  whole choice with {means.engine.facts.name or library.NAME}: {whole}; by {ways}")
    if left_alone + needless:
        say(f"  of {left_alone + needless} that no widget answers {left_alone} read none")
    say(f"  {(time.monotonic() - began) / sum(ways.values()):.2f} s a question")


def measure_figures() -> None:
    right = asked = 0
    for name in dashboards.NAMES:
        dashboard = dashboards.load(name)
        for question in dashboard.questions:
            table = from_json(dashboard.data[question["widgets"][0]], "Table")
            if "figure" not in question or table is None:
                continue
            figure = compute(question["ask"], table, TODAY)
            asked += 1
            right += figure is not None and question["figure"] in figure.text
    say(f"Numbers through SQL: {right}/{asked} right to the digit")


async def measure_big_table(means: Means) -> None:
    """Compares the first token with the table to the prompt without it plus the summarising."""
    query = _big_query()
    began = time.monotonic()
    materials = await asyncio.to_thread(gather, query)
    prompt = await compose(means, query, materials, [])
    summarising_s = time.monotonic() - began
    size = len(await means.engine.tokenize("\n".join(one.content for one in prompt.messages)))
    plain_s = await _first_token(means, ChatRequest(_unlike(prompt.messages), max_tokens=1))
    began = time.monotonic()
    async with aclosing(converse(query, means)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    whole_s = time.monotonic() - began
    say(f"{BIG_ROWS} rows: prompt of {size} tokens, summarised in {summarising_s:.2f} s")
    say(f"  first token {whole_s:.2f} s; the same prompt alone {plain_s:.2f} s")
    say(f"  ratio {whole_s / (plain_s + summarising_s):.2f} (at most 1.2 is wanted)")


def _unlike(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Returns messages of the same length that begin differently, so that no cache helps."""
    system = replace(messages[0], content="As asked: " + messages[0].content[10:])
    return (system, *messages[1:])


def _big_query() -> Query:
    rows = [
        {"date": f"20{10 + n % 15}-{1 + n % 12:02d}-{1 + n % 28:02d}", "close": 100 + n % 977 / 10}
        for n in range(BIG_ROWS)
    ]
    widget = Widget("o", "prices", "Prices", uuid="u", tier="primary")
    element = Element((Item(json.dumps(rows)),))
    result = Result("get_widget_data", {}, (Source("o", "prices", "u"),), (element,), 1)
    return Query((Said("user", QUESTION, 1),), QUESTION, 1, (widget,), (result,))


async def _first_token(means: Means, request: ChatRequest) -> float:
    began = time.monotonic()
    async with aclosing(means.engine.generate(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextDelta):
                break
    return time.monotonic() - began


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
