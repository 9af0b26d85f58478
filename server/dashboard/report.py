"""A report of a finished answer: its text, its tables and the data of its charts as one HTML page.

Everything is escaped and the page is built of a few tags without attributes but styles, so that
nothing in an answer or in data can become a script, a link or a picture from elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from server.chat import Json
from server.dashboard.results import write_value
from server.events import Artifact
from server.system.limits import printable

MOST_ROWS = 200
MOST_COLUMNS = 20
TITLE_CHARACTERS = 60
WANTED = re.compile(
    r"\b(?:write|create|make|generate|prepare|draft|produce|give me)\b[^.?!]{0,80}\breport\b"
    r"|\b(?:schreib|erstell|mach|verfass|generier)\w*[^.?!]{0,80}bericht\b"
    r"|\b(?:rédige|écris|crée|fais|prépare|génère)\w*[^.?!]{0,80}\brapport\b"
    r"|\b(?:escribe|crea|haz|prepara|redacta|genera)\w*[^.?!]{0,80}\b(?:informe|reporte)\b"
    r"|\b(?:as|als|comme|como) (?:an? |einen? |un )?(?:report|bericht|rapport|informe)\b"
    r"|(?:写|生成|制作|撰写|做)[^。？！]{0,40}报告",  # noqa: RUF001
    re.IGNORECASE,
)
STYLE = "font-family: sans-serif; line-height: 1.4"
CELL = "padding: 2px 8px; border-bottom: 1px solid #8884; text-align: "


def is_report_wanted(question: str) -> bool:
    return WANTED.search(question) is not None


def make_report(text: str, made: Sequence[Artifact], sources: Iterable[str]) -> Artifact:
    names = list(dict.fromkeys(sources))
    lines = printable(text).strip().splitlines()
    title = ", ".join(names)[:TITLE_CHARACTERS] or "Report"
    if lines and lines[0].startswith("#"):
        title = lines.pop(0).lstrip("# ")[:TITLE_CHARACTERS]
    parts = [f"<h1>{escape(title)}</h1>", *_blocks(lines)]
    for one in made:
        if rows := one.content.get("rows"):
            parts += [f"<h2>{escape(one.name)}</h2>", _table(rows)]
    if names:
        parts.append(f"<p><small>{escape('; '.join(names))}</small></p>")
    page = f'<div style="{STYLE}">\n' + "\n".join(parts) + "\n</div>"
    return Artifact("html", title, "The answer as a report", {"text": page})


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Headings, lists and paragraphs of the Markdown that models write."""
    for kind, group in groupby(lines, _kind):
        held = list(group)
        if kind == "heading":
            yield from (f"<h2>{_words(line.lstrip('# '))}</h2>" for line in held)
        elif kind == "list":
            items = "".join(f"<li>{_words(re.sub(LIST_MARK, '', line))}</li>" for line in held)
            yield f"<ul>{items}</ul>"
        elif kind == "text":
            yield f"<p>{'<br>'.join(map(_words, held))}</p>"


LIST_MARK = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,3}[.)])\s+")


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    if line.startswith("#"):
        return "heading"
    return "list" if LIST_MARK.match(line) else "text"


def _words(text: str) -> str:
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escape(text.strip()))


def _table(rows: Sequence[Json]) -> str:
    names = list(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))[:MOST_COLUMNS]
    head = "".join(f'<th style="{CELL}left">{escape(str(name))}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(_cell(row.get(name)) for name in names) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: str | float | None) -> str:
    side = "right" if isinstance(value, int | float) else "left"
    text = "" if value is None else write_value(value)
    return f'<td style="{CELL}{side}">{escape(text)}</td>'
