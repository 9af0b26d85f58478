"""Loads three dashboards with data and labelled questions, and plays the client's part."""

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FOLDER = Path(__file__).resolve().parent
NAMES = ("equity", "macro", "portfolio")
LOST_AT_FOLLOW_UP = ("timezone", "urls", "selected_skills", "workspace_state")


@dataclass(frozen=True, slots=True)
class Dashboard:
    name: str
    widgets: list[Json]
    data: dict[str, Any]
    questions: list[Json]

    def request(self, question: str, **more: Any) -> Json:
        """Returns what today's client sends if the user has added nothing to the chat."""
        return {
            "messages": [{"role": "human", "content": question}],
            "widgets": {"primary": [], "secondary": self.widgets, "extra": []},
            "context": [],
            "timezone": "Europe/Vienna",
            "workspace_options": {},
            "tools": [],
            **more,
        }

    def provide(self, call: Json) -> list[Json]:
        """Returns what the browser sends back for a call."""
        sources = call["input_arguments"].get("data_sources", [])
        return [self._element(self.data[source["id"]]) for source in sources]

    def _element(self, data: Any) -> Json:
        if isinstance(data, str):
            form = {"data_type": "object", "parse_as": "text"}
            return {"items": [{"content": data, "data_format": form}]}
        return {"items": [{"content": json.dumps(data)}]}


def load(name: str) -> Dashboard:
    found = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return Dashboard(found["name"], found["widgets"], found["data"], found["questions"])


def held_out() -> dict[str, list[Json]]:
    """Returns, by dashboard, questions that nothing was ever tuned on; see the file's remark."""
    found = json.loads((FOLDER / "held_out.json").read_text("utf-8"))["questions"]
    return {name: [one for one in found if one["dashboard"] == name] for name in NAMES}


def follow_up(body: Json, call: Json, result: list[Json]) -> Json:
    """Returns the next request as the client makes it: with fewer fields, and with the result."""
    kept = {key: value for key, value in body.items() if key not in LOST_AT_FOLLOW_UP}
    spoken = {"function": call["function"], "input_arguments": call["input_arguments"]}
    messages = [
        *body["messages"],
        {"role": "ai", "content": json.dumps(spoken)},
        {"role": "tool", "data": result, **call},
    ]
    return {**kept, "messages": messages}


def attachment(name: str) -> Json:
    return {
        "origin": "OpenBB Hub",
        "widget_id": f"file-{uuid.uuid5(uuid.NAMESPACE_URL, name)}",
        "name": name,
        "description": "An attached file",
        "params": [],
        "metadata": {"extension": name.rpartition(".")[2]},
    }
