"""Reads recorded exchanges, and the shape of an answer, which must not depend on the server."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASES = re.compile(r"^/api/(multi|single|copilotkit|v1|empty|guard\w*|deadremote|remote)\b")


@dataclass(frozen=True)
class Exchange:
    name: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    status: int
    kind: str
    answer: bytes

    @property
    def shape(self) -> Any:
        return shape(self.status, self.kind, self.answer)


def read(folder: Path, name: str) -> Exchange:
    head, body = (folder / f"{name}.req.txt").read_bytes().split(b"\r\n\r\n", 1)
    request, *lines = head.decode().splitlines()
    method, target, _ = request.split()
    answer_head, _, answer = (folder / f"{name}.res.txt").read_bytes().partition(b"\r\n\r\n")
    status_line, *answer_lines = answer_head.decode().splitlines()
    return Exchange(
        name,
        method,
        BASES.sub("/api/copilotkit", target),
        {key: value for key, value in _headers(lines).items() if key in ("accept", "content-type")},
        body if method == "POST" else b"",
        int(status_line.split()[1]),
        _headers(answer_lines).get("content-type", ""),
        answer,
    )


def _headers(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.lower().strip(): value.strip() for name, _, value in pairs}


def shape(status: int, kind: str, answer: bytes) -> Any:
    main = kind.partition(";")[0]
    if not answer:
        return status, "", None
    if main == "multipart/mixed":
        return status, main, increments(parts(answer))
    if main == "text/event-stream":
        return status, main, _events(answer)
    if main.endswith("json"):
        return status, main, outline(json.loads(answer))
    return status, main, None


def parts(answer: bytes) -> list[Any]:
    found = [part.partition(b"\r\n\r\n")[2] for part in answer.split(b"\r\n---")]
    return [json.loads(part) for part in found if part.strip().startswith(b"{")]


def increments(payloads: list[Any]) -> dict[str, list[Any]]:
    """Returns what arrived at each place of the answer, in order. Places are independent."""
    places: dict[str, list[Any]] = {"": [outline(payloads[0].get("data"))]}
    for payload in payloads[1:]:
        for one in payload.get("incremental", ()):
            for place, entry in _placed(one):
                kept = places.setdefault(place, [])
                if not (entry == "text" and kept):
                    kept.append(entry)
    return places


def _placed(increment: Any) -> Iterator[tuple[str, Any]]:
    path = increment["path"]
    if "items" not in increment:
        # The type of its parent was sent before. Not every server repeats it.
        late = {key: value for key, value in increment["data"].items() if key != "__typename"}
        yield ".".join(map(str, path)), outline(late)
        return
    for at, item in enumerate(increment["items"], path[-1]):
        place = path[:-1] if isinstance(item, str) else [*path[:-1], at]
        yield ".".join(map(str, place)), outline(item)


def _events(answer: bytes) -> list[Any]:
    events: list[Any] = []
    for line in answer.decode().splitlines():
        if line.startswith("data: {"):
            event = json.loads(line.removeprefix("data: "))
            told = (event.get("type"), outline(event))
            if set(event) != {"hasNext"} and (not events or events[-1] != told):
                events.append(told)
    return events


IGNORED = {
    # Paths of the server's files, and addresses of a company's help pages.
    "stack", "troubleshootingUrl", "originalErrorType",
    # Free text of errors.
    "details",
    # What the real runtimes themselves send in one mode and not in the other.
    "capabilities", "singleRoute", "finishReason", "usage",
}  # fmt: skip


def outline(value: Any) -> Any:
    """Returns names and types without values. A list becomes the types in it."""
    if isinstance(value, dict):
        is_typed = "__typename" in value or "visibility" in value
        return {
            key: inner if _tells(key, is_typed=is_typed) else outline(_listed(key, inner))
            for key, inner in sorted(value.items())
            if key not in IGNORED
        }
    if isinstance(value, list):
        kinds: list[Any] = []
        for inner in map(outline, value):
            if inner not in kinds:
                kinds.append(inner)
        return kinds
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, int | float) else "text"


def _tells(key: str, *, is_typed: bool) -> bool:
    return key in ("__typename", "type") or (key == "code" and is_typed)


def _listed(key: str, value: Any) -> Any:
    """Returns the agents as a list: their names may differ, but not their descriptions."""
    if key == "value":
        return ""
    return list(value.values()) if key == "agents" and isinstance(value, dict) else value


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".req.txt") for path in folder.glob("*.req.txt"))
