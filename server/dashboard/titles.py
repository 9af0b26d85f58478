"""Writes short texts for a Workspace: titles, names, better prompts. Small models are not used."""

import re
from pathlib import PurePath
from typing import Any

from server.asking.ask import Means, ask_json, ask_text
from server.chat import Json
from server.data import documents
from server.data.tables import Table, from_json
from server.events import Events, Finished, TextDelta
from server.language.ranking import rank
from server.schemas.bounded import closed
from server.system.limits import try_json

TITLE_WORDS = 7
TITLE_CHARACTERS = 60
FILE_CHARACTERS = 4000
FIRST_CHARACTERS = 200
CATEGORIES = {
    "Equity": "stock share price company close volume symbol ticker earnings dividend market cap",
    "Fixed Income": "bond yield coupon maturity treasury credit spread rating",
    "Economy": "gdp inflation cpi unemployment country indicator rate payroll",
    "Crypto": "bitcoin ethereum coin token blockchain",
    "Currency": "fx exchange currency eur usd pair",
    "Commodity": "oil gold gas metal crop barrel",
    "News": "headline article title author published text",
    "Portfolio": "holding position weight allocation return risk",
}


async def title(subject: str, fallback: str, means: Means) -> Events:
    """Yields a title for the subject in one line, or `fallback` if the model is too small."""
    system = "You write a title of at most six words for what follows. No quotation marks."
    schema: Json = closed(
        {"title": {"type": "string", "minLength": 3, "maxLength": TITLE_CHARACTERS}}
    )
    made = ""
    if await means.is_able():
        answer = await ask_json(means, (system, subject[:2000]), schema, max_tokens=40) or {}
        made = str(answer.get("title") or "")
    yield TextDelta(one_line(made) or fallback)
    yield Finished("stop")


async def better_prompt(prompt: str, widgets: list[str], means: Means) -> Events:
    made = ""
    if await means.is_able():
        system = (
            "Rewrite the user's question so that it is clear and complete. Keep its meaning and "
            "its language. Answer with the question only."
        )
        about = f"\nOn the dashboard: {', '.join(widgets[:20])}" if widgets else ""
        made = await ask_text(means, (system, prompt[:4000] + about), max_tokens=200)
    yield TextDelta(made or plain_better_prompt(prompt, widgets))
    yield Finished("stop")


async def write_code(request: str, means: Means) -> Events:
    """Yields the code that the request asks for, without its Markdown fence."""
    system = "You write code. Answer with the code only, without explanation."
    made = await ask_text(means, (system, request[:8000]), max_tokens=800)
    fenced = re.search(r"```\w*\n(.*?)(```|$)", made, re.DOTALL)
    text = fenced[1] if fenced else made
    if text.strip():
        yield TextDelta(text)
    yield Finished("stop")


def plain_title(text: str) -> str:
    """Returns the first words of the text, as a title without a model."""
    words = one_line(text).split()
    shown = " ".join(words[:TITLE_WORDS])[:TITLE_CHARACTERS].rstrip(" ,.;:?!")
    return shown[:1].upper() + shown[1:] if shown else "Conversation"


def plain_better_prompt(prompt: str, widgets: list[str]) -> str:
    asked = one_line(prompt).rstrip("?. ") or "Describe the data"
    names = ", ".join(widgets[:3])
    return f"{asked[:1].upper()}{asked[1:]}? Use the data of {names}." if names else f"{asked}?"


def file_info(data: bytes, file: str, name: str, description: str) -> Json:
    """Returns title, description and category of a file. Says why if it cannot be read."""
    stem = PurePath(file.replace("\\", "/")).stem.replace("_", " ").replace("-", " ")
    name = name or plain_title(stem or "A file")
    try:
        found = documents.read(data, file)
    except documents.Unreadable as error:
        return _info(None, name, description or str(error), "")
    table = found.tables[0] if found.tables else None
    text = " ".join(found.pages)[:FILE_CHARACTERS]
    return _info(table, name, description, text)


def widget_info(data: Any, name: str, description: str) -> Json:
    """Returns title, description and category of a widget, from its columns."""
    return _info(_table(data, name or "Data"), name, description, "")


def _info(table: Table | None, name: str, description: str, text: str) -> Json:
    columns = [column.name for column in table.columns] if table else []
    words = " ".join([name, description, *columns, text])
    order = rank(words, [{said: 1.0, kind: 2.0} for kind, said in CATEGORIES.items()])
    category = list(CATEGORIES)[order[0].index] if order else "Other"
    made = (
        f"{len(table.rows)} rows with {', '.join(columns[:6])}"
        if table
        else one_line(text)[:FIRST_CHARACTERS] or "Text"
    )
    return {
        "title": name or (plain_title(" ".join(columns[:4])) if columns else "Generated widget"),
        "description": description or made,
        "category": category,
        "subcategory": "Table" if table else "Note",
    }


def one_line(text: str) -> str:
    return " ".join(text.replace('"', "").split())


def _table(data: Any, name: str) -> Table | None:
    return from_json(try_json(data) if isinstance(data, str) else data, name)
