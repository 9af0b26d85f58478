"""Defines the actions that a model may take on a dashboard, as JSON schemas for its output."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from server.artifacts import Kind
from server.chat import Json
from server.dashboard.inventory import Inventory
from server.dashboard.query import OfferedTool, Param, Widget
from server.dashboard.tickers import is_ticker
from server.schemas.bounded import closed

MOST_READS = 6
SQL_CHARACTERS = 800
TEXT_CHARACTERS = 400
VALUE_CHARACTERS = 60
NOTE_CHARACTERS = 1500
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
DASHBOARD_TOOLS: dict[str, str] = {
    "add_widget_to_dashboard": "puts a widget onto the dashboard",
    "update_widget_in_dashboard": "changes the parameters of a widget that is on the dashboard",
    "manage_navigation_bar": "makes, adds, removes or renames the tabs of the dashboard",
}
"""Changes that the client makes to the dashboard, if the user allows them."""
Stage = Literal["begin", "go on", "compute"]
"""At the beginning, every action is open. "compute" leaves computing, reading and answering."""
TABS = ("create", "add_tabs", "remove_tabs", "rename_tabs")


@dataclass(frozen=True, slots=True)
class Read:
    """A widget to read, with the parameters that differ from what the dashboard shows."""

    alias: str
    parameters: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Action:
    """A step of a plan. `kind` is the only key of the model's object, and `given` its value."""

    kind: str
    given: Any

    def to_json(self) -> str:
        return json.dumps({self.kind: self.given}, ensure_ascii=False, default=str)

    def reads(self) -> list[Read]:
        return [
            Read(one["widget"], dict(one.get("parameters") or {}))
            for one in (self.given if isinstance(self.given, list) else [])
            if isinstance(one, dict) and isinstance(one.get("widget"), str)
        ]


def parse_action(found: Any) -> Action | None:
    if not isinstance(found, dict) or len(found) != 1:
        return None
    ((kind, given),) = found.items()
    return Action(kind, given)


@dataclass(frozen=True, slots=True)
class Choices:
    """The actions that are open next. Their schema changes only with the tables and the stage."""

    inventory: Inventory
    shown: Sequence[str]
    """Aliases of the widgets that may be read."""
    tools: Sequence[OfferedTool] = ()
    changes_dashboard: bool = False
    has_tables: bool = False
    may_read: bool = True
    stage: Stage = "begin"
    names_dashboard: bool = False
    """Whether the question names the dashboard, so that charts and tables may be put on it."""
    may_draw: bool = True
    may_ask: bool = True
    """Whether the model may ask back. Once data was read, small models only repeat the question."""

    def schema(self) -> Json:
        forms: dict[str, Json] = {}
        if self.may_read and self.shown:
            widgets = [self._read_schema(alias) for alias in self.shown]
            reads: Json = {"type": "array", "items": _any_of(widgets), "minItems": 1}
            forms["read"] = {**reads, "maxItems": MOST_READS}
        if self.has_tables:
            can_place = self.changes_dashboard and self.names_dashboard
            over_tables = _forms_over_tables(can_place=can_place)
            forms |= over_tables if self.may_draw else {"query": over_tables["query"]}
        if self.changes_dashboard and self.stage != "compute":
            forms["note"] = closed({"title": _text(80), "text": _text(NOTE_CHARACTERS)})
        if self.stage != "compute":
            if self.may_ask:
                forms["ask"] = _text(TEXT_CHARACTERS)
            if tools := self._tool_schemas():
                forms["call"] = _any_of(tools)
        forms["answer"] = {"const": True}
        return _any_of([closed({kind: form}) for kind, form in forms.items()])

    def _read_schema(self, alias: str) -> Json:
        widget = self.inventory.widgets[alias]
        return closed({"widget": {"const": alias}, "parameters": parameters_schema(widget)})

    def _tool_schemas(self) -> list[Json]:
        found = [
            closed({"tool": {"const": tool.name}, "arguments": tool.schema or {"type": "object"}})
            for tool in self.tools
        ]
        if self.changes_dashboard and self.stage == "begin":
            reads = [self._read_schema(alias) for alias in self.shown]
            for name in ("add_widget_to_dashboard", "update_widget_in_dashboard"):
                if reads:
                    found.append(closed({"tool": {"const": name}, "arguments": _any_of(reads)}))
            names: Json = {"type": "array", "items": _text(40), "minItems": 1, "maxItems": 8}
            tabs = closed({"operation": {"enum": list(TABS)}, "tabs": names})
            found.append(closed({"tool": {"const": "manage_navigation_bar"}, "arguments": tabs}))
        return found


def parameters_schema(widget: Widget) -> Json:
    """Returns a schema for any of the widget's parameters, each with its possible values."""
    return {
        "type": "object",
        "properties": {param.name: value_schema(param) for param in widget.params},
        "additionalProperties": False,
    }


def value_schema(param: Param) -> Json:
    if param.options:
        values = map(_plain, param.options)
        one: Json = {"enum": list({json.dumps(value): value for value in values}.values())}
    elif param.kind == "date":
        one = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
    elif is_ticker(param):
        one = {"type": "string", "pattern": r"^[A-Za-z0-9^$][A-Za-z0-9.,=^/-]{0,59}$"}
    else:
        kinds = {"number": "number", "integer": "integer", "boolean": "boolean"}
        kind = kinds.get(param.kind)
        one = {"type": kind} if kind else _text(VALUE_CHARACTERS)
    if param.several:
        return {"type": "array", "items": one, "minItems": 1, "maxItems": 12}
    return one


def fit_parameters(widget: Widget, given: Json) -> tuple[Json, list[str]]:
    """Returns the parameters that the widget has, with values it can take, and those left out."""
    fitted: Json = {}
    left_out: list[str] = []
    by_name = {param.name.lower(): param for param in widget.params}
    for name, value in given.items():
        param = by_name.get(str(name).lower())
        found = None if param is None else _fit_value(param, value)
        if param is None or found is None:
            left_out.append(f"{name}={value}")
        else:
            fitted[param.name] = found
    return fitted, left_out


def _fit_value(param: Param, value: Any) -> Any:
    if param.options and (option := _fit_option(param, value)) is not None:
        return [option] if param.several else option
    if param.several and not isinstance(value, list):
        value = [value]
    if isinstance(value, list):
        found = [one for one in (_fit_one(param, each) for each in value) if one is not None]
        if param.several:
            return found or None
        return ",".join(map(str, found)) if is_ticker(param) and found else (found or [None])[0]
    return _fit_one(param, value)


def _fit_one(param: Param, value: Any) -> Any:
    """Returns the value in the parameter's type, or None if the parameter cannot have it."""
    text = str(value).strip()
    if param.options or not text or value is None:
        return _fit_option(param, value)
    if is_ticker(param):
        return text.upper().lstrip("$")
    match param.kind:
        case "date":
            return text[:10] if DAY.fullmatch(text[:10]) else None
        case "number" | "integer":
            return _fit_number(text)
        case "boolean":
            return BOOLEANS.get(text.lower())
    return value


def _fit_option(param: Param, value: Any) -> Any:
    wanted = str(value).strip().lower()
    labels = param.labels if len(param.labels) == len(param.options) else ()
    for place, option in enumerate(param.options):
        names = [str(_plain(option)), *(labels[place : place + 1])]
        if wanted in (name.lower() for name in names):
            return _plain(option)
    return None


def _fit_number(text: str) -> int | float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _forms_over_tables(*, can_place: bool) -> dict[str, Json]:
    sql: Json = {
        "type": "string",
        "pattern": r"^(SELECT|WITH) [\s\S]+$",
        "maxLength": SQL_CHARACTERS,
    }
    columns: Json = {"type": "array", "items": _text(60), "minItems": 1, "maxItems": 6}
    place = {"place": {"enum": ["chat", "dashboard"]}} if can_place else {}
    chart = closed({
        "sql": sql, "kind": {"enum": list(get_args(Kind))}, "x": _text(60), "y": columns,
        "title": _text(80), **place,
    })  # fmt: skip
    table = closed({"sql": sql, "title": _text(80), **place})
    return {"query": sql, "chart": chart, "table": table}


def _any_of(schemas: list[Json]) -> Json:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _text(characters: int) -> Json:
    return {"type": "string", "minLength": 1, "maxLength": characters}


def _plain(option: Any) -> Any:
    return option["value"] if isinstance(option, dict) and "value" in option else option
