"""A widget's arguments: what the dashboard shows, changed only where the question asks for it."""

import json
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from server.chat import Json
from server.conversation.asking import ask_json
from server.conversation.dashboard.choosing import mentions
from server.conversation.dashboard.nouns import Element, Param, Query, Widget
from server.conversation.means import Means
from server.conversation.spans import FAR_FUTURE, FAR_PAST, find

TICKER = re.compile(r"(?<![\w.])\$?([A-Z]{1,5}(?:[.-][A-Z]{1,2})?)(?![\w])")
NO_TICKER_TEXT = """
A I AM PM AI API ARR AUM BPS CAGR CAPEX CEO CFO COO CPI CSV DCF EBIT EBITDA EM EPS ESG ETF ETFS EU
EUR EV FAQ FCF FED FX FY GAAP GBP GDP IPO IRR JPY JSON KPI LTM M MCP MOM NAV NYSE OHLC OK OPEC PB
PDF PE PEG PMI PS Q QOQ ROA ROE ROI ROIC SEC SQL TTM UK US USA USD VAR VIX VWAP YOY YTD AND OR THE
FOR OF IN ON TO IS IT BY AT VS NO YES ALL NOT
"""
NO_TICKERS = frozenset(NO_TICKER_TEXT.split())
TICKER_NAMES = frozenset({"symbol", "symbols", "ticker", "tickers"})
START_NAMES = frozenset({"start_date", "start", "from", "from_date", "date_from", "begin"})
END_NAMES = frozenset({"end_date", "end", "to", "to_date", "date_to"})
MODEL_KINDS = frozenset({"string", "text", "number", "integer", "boolean"})
SYSTEM = (
    "You fill in the settings of a data widget. Keep a setting as it is unless the question "
    "asks for another value."
)


@dataclass(frozen=True, slots=True)
class Filled:
    arguments: Json
    changed: tuple[str, ...]
    unknown: Param | None = None
    """A param that the question speaks of and whose options only the client can tell."""


async def fill(
    query: Query, means: Means, widget: Widget, today: date, options: dict[str, tuple[Any, ...]]
) -> Filled:
    """`options` are those the client has told, by param name."""
    arguments = widget.arguments
    question = query.question
    changed: list[str] = []
    open_params: list[Param] = []
    unknown = None
    for param in widget.params:
        known = options.get(param.name) or param.options
        found = _from_question(param, known, question, today)
        if found is not None:
            if found != arguments.get(param.name):
                arguments[param.name] = found
                changed.append(param.name)
        elif mentions(question, f"{param.name} {param.description}"):
            if param.asks_options and not known:
                unknown = unknown or param
            elif param.kind in MODEL_KINDS and param.name.lower() not in TICKER_NAMES:
                open_params.append(param)
    if open_params:
        told = await _ask(means, widget, open_params, question)
        arguments.update(told)
        changed += told
    return Filled(arguments, tuple(changed), unknown)


def told_options(elements: tuple[Element, ...]) -> dict[str, tuple[Any, ...]]:
    """The options in the client's answer to a question for them; labels count as values too."""
    found: dict[str, tuple[Any, ...]] = {}
    for element in elements:
        for item in element.items:
            try:
                entries = json.loads(item.content).get("param_options", [])
            except (ValueError, AttributeError, RecursionError):
                continue
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, dict) and isinstance(entry.get("options"), list):
                    found[str(entry.get("param"))] = tuple(entry["options"])
    return found


def tickers(question: str) -> list[str]:
    found = [match[1] for match in TICKER.finditer(question)]
    return [one for one in dict.fromkeys(found) if one not in NO_TICKERS]


def _from_question(param: Param, known: tuple[Any, ...], question: str, today: date) -> Any:
    """The value that the question plainly names for this param, else None."""
    if known:
        return _among(param, known, question)
    if param.kind == "ticker" or param.name.lower() in TICKER_NAMES:
        return _ticker(param, question)
    if param.kind == "date":
        return _date(param, question, today)
    if param.kind in ("number", "integer"):
        return _number(param, question)
    return None


def _among(param: Param, known: tuple[Any, ...], question: str) -> Any:
    """Options named in the question, by value or label."""
    labels = param.labels if len(param.labels) == len(known) else tuple(map(_label, known))
    hits = [
        _value(one)
        for one, label in zip(known, labels, strict=True)
        if _is_said(str(_value(one)), question) or _is_said(label, question)
    ]
    if not hits:
        return None
    return list(dict.fromkeys(map(str, hits))) if param.several else hits[0]


def _is_said(text: str, question: str) -> bool:
    if not text.strip() or len(text) > 80:
        return False
    flags = re.IGNORECASE if len(text) > 3 else re.NOFLAG
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, flags) is not None


def _value(option: Any) -> Any:
    return option.get("value") if isinstance(option, dict) else option


def _label(option: Any) -> str:
    return str(option.get("label", option.get("value")) if isinstance(option, dict) else option)


def _ticker(param: Param, question: str) -> Any:
    found = tickers(question)
    if not found:
        return None
    shown = param.value if isinstance(param.value, list) else str(param.value or "").split(",")
    if set(found) <= {str(one).strip() for one in shown}:
        return param.value
    if param.several:
        return found
    return ",".join(found) if "," in str(param.value or "") else found[0]


def _date(param: Param, question: str, today: date) -> Any:
    span = find(question, today)
    if span is None:
        return None
    name = param.name.lower()
    if name in START_NAMES and span.start != FAR_PAST:
        return span.start.isoformat()
    if name in END_NAMES and span.end not in (FAR_PAST, FAR_FUTURE):
        return min(span.end - timedelta(days=1), today).isoformat()
    one_day = span.end - span.start == timedelta(days=1)
    is_point = one_day and name not in START_NAMES | END_NAMES
    return span.start.isoformat() if is_point else None


def _number(param: Param, question: str) -> Any:
    """Only a number right beside the param's own name: 'limit 50', '50 rows limit'."""
    name = re.escape(param.name.replace("_", " "))
    beside = re.search(rf"\b{name}\s*(?:of|to|=|:)?\s*(\d+(?:\.\d+)?)\b", question, re.IGNORECASE)
    if beside is None:
        return None
    number = float(beside[1])
    return int(number) if number.is_integer() else number


async def _ask(means: Means, widget: Widget, params: list[Param], question: str) -> Json:
    properties = {param.name: _schema(param) for param in params}
    schema: Json = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    lines = [
        f"- {param.name} ({param.description or param.kind}), now {json.dumps(param.value)}"
        for param in params
    ]
    text = f"Widget: {widget.name}\nSettings:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, SYSTEM, text, schema, max_tokens=96) or {}
    told = {name: value for name, value in answer.items() if name in properties}
    now = {param.name: param.value for param in params}
    return {
        name: value
        for name, value in told.items()
        if value != now[name] and _is_grounded(value, question)
    }


def _schema(param: Param) -> Json:
    if param.options:
        return {"enum": list(param.options)}
    kind = {"number": "number", "integer": "integer", "boolean": "boolean"}.get(param.kind)
    return {"type": kind} if kind else {"type": "string", "maxLength": 60}


def _is_grounded(value: Any, question: str) -> bool:
    """A value that is nowhere in the question was made up."""
    if isinstance(value, bool):
        return True
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return bool(text.strip()) and text.lower() in question.lower()
