"""SQL that the model writes itself, where the question's own words do not tell the computation."""

import asyncio
import re
from collections.abc import Sequence

from server.asking.ask import Means, ask_json
from server.chat import Json
from server.dashboard.figures.compute import Figure, first_of
from server.dashboard.figures.operations import BY_WORD
from server.data.describe import short
from server.data.sql import Refused, query
from server.data.tables import Table
from server.schemas.bounded import closed

"""Smaller models write SQL that runs and is wrong."""
SYSTEM = (
    "You write one SQLite SELECT that computes what the question asks for. Use only the tables "
    "and columns given, quoted as shown."
)
COMPUTING = re.compile(
    r"\b(how (much|many)|ratio|share|percent|difference|correlation|per|rank|compare|exceed)\b|%",
    re.IGNORECASE,
)
SHOWN_ROWS = 12
MOST_TABLES = 4


async def write_and_run(means: Means, question: str, tables: Sequence[Table]) -> Figure | None:
    named = {f"t{number}": table for number, table in enumerate(tables[:MOST_TABLES], 1)}
    if not named or not await is_worth_it(means, question):
        return None
    schema: Json = closed({"sql": {"type": "string", "pattern": "^(SELECT|WITH) "}})
    lines = [f"{name} ({_columns(table)}): {table.name}" for name, table in named.items()]
    text = "Tables:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, (SYSTEM, text), schema, max_tokens=300) or {}
    sql = answer.get("sql")
    if not isinstance(sql, str):
        return None
    try:
        found = await asyncio.to_thread(query, named, sql)
    except Refused:
        return None
    if not found.rows:
        return None
    records = found.records()
    told = "; ".join(
        ", ".join(f"{key} {short(value)}" for key, value in record.items())
        for record in records[:SHOWN_ROWS]
    )
    part = first_of(min(len(records), SHOWN_ROWS), found.total)
    cut = [_cut(table) for table in named.values() if table.cut]
    text = ": ".join(filter(None, [part.capitalize(), told])) + "".join(cut)
    names = ", ".join(table.name for table in named.values())
    return Figure(text, records, sql, names, is_whole=not part and not cut)


def _cut(table: Table) -> str:
    rows = len(table.rows)
    return f" (over the first {rows} of {rows + table.cut} rows of {table.name})"


async def is_worth_it(means: Means, question: str) -> bool:
    words = set(re.findall(r"[a-z]+", question.lower()))
    asks = bool(COMPUTING.search(question)) or not words.isdisjoint(BY_WORD)
    return asks and await means.is_able()


def _columns(table: Table) -> str:
    return ", ".join(f'"{column.name}" {column.kind}' for column in table.columns)
