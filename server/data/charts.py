"""Builds ECharts options from rows, and checks every option against a schema of known keys."""

from functools import cache
from typing import Any

from server.artifacts import (
    LONGEST_LABEL,
    MOST_ROWS,
    MOST_SERIES,
    ROUND,
    Kind,
    chart_option,
    kind_of,
)
from server.chat import Json
from server.errors import FlowFailed
from server.sentences import Sentence
from server.system.lazy import Late

jsonschema = Late("jsonschema")
KINDS = ("bar", "line", "scatter", "pie")
CHOICE: Json = {
    "type": "object",
    "properties": {
        "chart": {"enum": list(KINDS)},
        "stacked": {"type": "boolean"},
        "ring": {"type": "boolean"},
        "scale": {"enum": ["linear", "log"]},
        "title": {"type": "string", "maxLength": 60},
    },
    "required": ["chart", "stacked", "ring", "scale", "title"],
    "additionalProperties": False,
}
"""The JSON schema of the choices that `build` takes."""
_TEXT: Json = {"type": "string", "maxLength": LONGEST_LABEL, "not": {"pattern": "[<>]|://|^data:"}}
_CELL: Json = {"anyOf": [_TEXT, {"type": ["number", "boolean", "null"]}]}
_AXIS: Json = {
    "type": "object",
    "properties": {"type": {"enum": ["category", "value", "log"]}, "name": _TEXT},
    "additionalProperties": False,
}
_SERIES: Json = {
    "type": "object",
    "properties": {
        "type": {"enum": list(KINDS)},
        "name": _TEXT,
        "stack": _TEXT,
        "radius": {"type": "array", "items": {"type": "string", "pattern": "^[0-9]{1,3}%$"}},
        "encode": {"type": "object", "additionalProperties": _TEXT},
    },
    "required": ["type"],
    "additionalProperties": False,
}
OPTION: Json = {
    "type": "object",
    "properties": {
        "title": {"type": "object", "properties": {"text": _TEXT}, "additionalProperties": False},
        "tooltip": {"type": "object", "maxProperties": 0},
        "legend": {"type": "object", "maxProperties": 0},
        "dataset": {
            "type": "object",
            "properties": {
                "dimensions": {"type": "array", "items": _TEXT},
                "source": {
                    "type": "array",
                    "maxItems": MOST_ROWS,
                    "items": {"type": "object", "additionalProperties": _CELL},
                },
            },
            "required": ["source"],
            "additionalProperties": False,
        },
        "xAxis": _AXIS,
        "yAxis": _AXIS,
        "series": {"type": "array", "items": _SERIES, "minItems": 1, "maxItems": MOST_SERIES},
    },
    "required": ["dataset", "series"],
    "additionalProperties": False,
}
"""The JSON schema of every option that may be drawn. It allows no key that is not listed."""


@cache
def _checker() -> Any:
    return jsonschema.Draft202012Validator(OPTION)


def rows_of(data: Any) -> list[Json]:
    """Returns up to `MOST_ROWS` flat rows of an SQL result or a list of objects. A single column
    becomes a label and a value. Raises FlowFailed if there is no row."""
    rows = _given_rows(data)
    flat = [{_label(key): _cell(value) for key, value in row.items()} for row in rows[:MOST_ROWS]]
    if not flat:
        raise FlowFailed("internal", Sentence("There are no rows to draw."))
    if len(flat[0]) == 1:
        name = next(iter(flat[0]))
        flat = [{"type": f"{name} {n}", "value": row.get(name)} for n, row in enumerate(flat, 1)]
    return flat


def part_of(data: Any) -> str:
    """Returns words for the part of the rows that is drawn, or "" if all of them are."""
    given = len(_given_rows(data))
    if isinstance(data, dict) and data.get("truncated") is True:
        return f"the first {min(given, MOST_ROWS)} rows"
    return f"the first {MOST_ROWS} of {given} rows" if given > MOST_ROWS else ""


def _given_rows(data: Any) -> list[Json]:
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FlowFailed(
            "internal", Sentence("There are no rows to draw: 'render' needs a table of data.")
        )
    return rows


def build(rows: list[Json], choice: Json) -> Json:
    """Builds an option from the rows and a choice that follows `CHOICE`, and checks it."""
    columns = list(rows[0])
    numeric = [name for name in columns if _is_numeric(rows, name)]
    if not numeric:
        raise FlowFailed("internal", Sentence("There is no column of numbers to draw."))
    labels = [name for name in columns if name not in numeric]
    across = labels[0] if labels else columns[0]
    drawn = [name for name in numeric if name != across][:MOST_SERIES] or numeric[:1]
    kind: Kind = "donut" if choice["chart"] == "pie" and choice.get("ring") else choice["chart"]
    option = chart_option(kind, _label(choice.get("title") or ""), rows, across, drawn)
    if kind not in ROUND:
        option["yAxis"] = {"type": "log" if choice.get("scale") == "log" else "value"}
        stack = {"stack": "all"} if choice.get("stacked") else {}
        option["series"] = [{**series, **stack} for series in option["series"]]
    check(option)
    return option


def check(option: Any) -> None:
    """Raises FlowFailed for an option with a key we do not know, an address or markup."""
    error = next(_checker().iter_errors(option), None)
    if error is not None:
        place = "/".join(str(part) for part in error.absolute_path)
        raise FlowFailed(
            "internal", Sentence("The chart is refused at '{0}': {1}", place, error.message[:120])
        )


def artifact(option: Json) -> Json:
    """Returns the option with its kind, columns and rows, for clients that draw by themselves."""
    first = option["series"][0]
    encode = first["encode"]
    ys = [series["encode"].get("y") or series["encode"].get("value") for series in option["series"]]
    return {
        "rows": option["dataset"]["source"],
        "chart": {"kind": kind_of(first), "x": encode.get("x") or encode.get("itemName"), "y": ys},
        "option": option,
    }


def _is_numeric(rows: list[Json], name: str) -> bool:
    cells = [row.get(name) for row in rows if row.get(name) is not None]
    return bool(cells) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
    )


def _label(text: Any) -> str:
    """Returns the text as a label that passes `check`: without markup and addresses, and cut."""
    plain = str(text).replace("<", "(").replace(">", ")").replace("://", ":\u2060//")
    return plain.removeprefix("data:")[:LONGEST_LABEL]


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    return _label(value)
