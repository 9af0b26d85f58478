"""Tables and charts as Markdown, for clients that show nothing but text."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from server.chat import Json
from server.data.markdown import table
from server.events import Artifact, Event, TextDelta

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
