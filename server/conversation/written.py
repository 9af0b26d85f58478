"""Tables and charts as Markdown, for clients that show nothing but text."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from server.chat import Json
from server.events import Artifact, Event, TextDelta

MOST_ROWS = 50
Stream = AsyncGenerator[Event, None]


async def written(events: Stream) -> Stream:
    """The same events, with what a text cannot hold beside it put into it."""
    spoken = False
    rows: Sequence[Json] = ()
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Artifact) and event.content.get("rows"):
                is_told = event.content["rows"] == rows
                text = markdown(event, with_table=not is_told)
                rows = event.content["rows"]
                if text:
                    yield TextDelta(("\n\n" if spoken else "") + text + "\n\n")
                    spoken = True
            spoken = spoken or isinstance(event, TextDelta)
            yield event


def markdown(made: Artifact, *, with_table: bool = True) -> str:
    """A chart of rows that were just shown needs no second table of them."""
    option = made.content.get("option")
    parts = [table(made.content["rows"])] if with_table else []
    if option is not None:
        parts.append(f"```echarts\n{json.dumps(option, ensure_ascii=False)}\n```")
    return "\n\n".join(parts)


def table(rows: Sequence[Json]) -> str:
    names = list(rows[0])
    lines = [_line(names), _line(["---"] * len(names))]
    lines += [_line([row.get(name) for name in names]) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append(f"\n{len(rows) - MOST_ROWS} more rows")
    return "\n".join(lines)


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(cell: Any) -> str:
    return "" if cell is None else " ".join(str(cell).splitlines()).replace("|", "\\|")
