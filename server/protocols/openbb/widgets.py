"""Reads widgets as three generations of clients describe them."""

from typing import Any, get_args

from server.chat import Json
from server.dashboard.query import Param, Tier, Widget

VALUE_FIELDS = ("executed_value", "current_value", "default_value")
UNDEFINED = "<<UNDEFINED>>"


def read_widgets(widgets: Any) -> tuple[Widget, ...]:
    """Reads the flat list of old clients, or the three groups of newer ones."""
    if isinstance(widgets, list):
        return tuple(_widget(widget, "secondary") for widget in widgets if isinstance(widget, dict))
    if not isinstance(widgets, dict):
        return ()
    found: list[Widget] = []
    for tier in get_args(Tier):
        group = widgets.get(tier)
        group = group if isinstance(group, list) else []
        found += [_widget(widget, tier) for widget in group if isinstance(widget, dict)]
    return tuple(found)


def _widget(widget: Json, tier: Tier) -> Widget:
    uuid = widget.get("uuid")
    metadata = widget.get("metadata")
    return Widget(
        origin=_text(widget, "origin"),
        id=_text(widget, "widget_id"),
        name=_text(widget, "name") or _text(widget, "widget_id") or "Widget",
        description=_text(widget, "description"),
        tier=tier,
        uuid=str(uuid) if uuid else None,
        params=_params(widget.get("params")) or _old_params(metadata),
        category=_text(widget, "category"),
        sub_category=_text(widget, "sub_category"),
        source=_text(widget, "source"),
        columns=_columns(widget.get("columns")),
    )


def _params(params: Any) -> tuple[Param, ...]:
    if not isinstance(params, list):
        return ()
    named = {
        param["name"]: _param(param)
        for param in params
        if isinstance(param, dict) and isinstance(param.get("name"), str) and param["name"]
    }
    return tuple(named.values())


def _old_params(metadata: Any) -> tuple[Param, ...]:
    """The first clients had a widget's arguments only in its metadata, which is enough to rank
    it."""
    if not isinstance(metadata, dict) or "symbol" not in metadata:
        return ()
    return (Param("symbol", "ticker", value=metadata["symbol"], has_value=True),)


def _param(param: Json) -> Param:
    value, has_value = _value(param)
    values, labels = _options(param.get("options"))
    return Param(
        param["name"],
        _text(param, "type") or "string",
        _text(param, "description"),
        value,
        has_value,
        values,
        labels,
        bool(param.get("get_options")),
        _inputs(param.get("options_params")),
        bool(param.get("multi_select")),
    )


def _value(param: Json) -> tuple[Any, bool]:
    for field in VALUE_FIELDS:
        value = param.get(field)
        if value is not None and value != UNDEFINED:
            return value, True
    return None, False


def _options(options: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    if not isinstance(options, list):
        return (), ()
    values = [option.get("value") if isinstance(option, dict) else option for option in options]
    labels = [
        str(option.get("label", option.get("value"))) if isinstance(option, dict) else str(option)
        for option in options
    ]
    return tuple(values), tuple(labels)


def _inputs(inputs: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(inputs, list):
        return ()
    return tuple(
        (entry["name"], str(entry.get("inherit_value_from") or entry["name"]))
        for entry in inputs
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    )


def _columns(columns: Any) -> tuple[str, ...]:
    if not isinstance(columns, list):
        return ()
    return tuple(column for column in columns if isinstance(column, str))


def _text(widget: Json, field: str) -> str:
    found = widget.get(field)
    return found if isinstance(found, str) else ""
