"""graphql-core tells increments by id; the clients of CopilotKit know only paths with an index."""

from collections.abc import Mapping
from typing import Any

from server.chat import Json


class Paths:
    """Remembers where each id points, and which item of its list comes next."""

    def __init__(self) -> None:
        self._paths: dict[str, list[str | int]] = {}
        self._next: dict[str, int] = {}

    def initial(self, payload: Mapping[str, Any]) -> Json:
        self._learn(payload, payload.get("data"))
        kept = ("data", "errors", "extensions", "hasNext")
        return {name: payload[name] for name in kept if name in payload}

    def following(self, payload: Mapping[str, Any]) -> Json | None:
        """None when the payload carries nothing a client could use."""
        self._learn(payload, None)
        increments = [self._placed(entry) for entry in payload.get("incremental", ())]
        for done in payload.get("completed", ()):
            if done.get("errors"):
                path = self._paths.get(done["id"], [])
                increments.append({"data": None, "path": path, "errors": done["errors"]})
            self._paths.pop(done["id"], None)
        if increments:
            return {"incremental": increments, "hasNext": payload["hasNext"]}
        return None if payload["hasNext"] else {"hasNext": False}

    def _placed(self, entry: Mapping[str, Any]) -> Json:
        base = self._paths[entry["id"]]
        extra = {name: entry[name] for name in ("errors", "extensions") if entry.get(name)}
        if "items" not in entry:
            path = [*base, *entry.get("subPath", ())]
            return {"data": entry["data"], "path": path} | extra
        index = self._next[entry["id"]]
        self._next[entry["id"]] = index + len(entry["items"])
        return {"items": entry["items"], "path": [*base, index]} | extra

    def _learn(self, payload: Mapping[str, Any], data: Any) -> None:
        for pending in payload.get("pending", ()):
            path = list(pending["path"])
            self._paths[pending["id"]] = path
            there = _at(data, path)
            self._next[pending["id"]] = len(there) if isinstance(there, list) else 0


def _at(data: Any, path: list[str | int]) -> Any:
    for step in path:
        try:
            data = data[step]
        except (TypeError, KeyError, IndexError):
            return None
    return data
