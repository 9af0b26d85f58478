"""Follows a widget's data from the body of a request to the prompt: python -m tests.evaluate.walk

It asks an oracle some questions, sends the data that the oracle wants to read, and notes each time
a function of the server is given that data: the body, the query, tables, materials, the prompt. A
single cell or a column is not the data, and what cuts a text or splits it into words is not on the
way. A room is a module. A stay is a run of such calls within one room; whoever holds the data and
hands it on stays, too. A return is a stay in a room that was left before. Prints each stay, first
for a model that makes a plan and then for the rules of one that does not.
"""

import asyncio
import json
import sys
import threading
from contextlib import aclosing
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

from server.asking.ask import Means
from server.chat import ChatRequest
from server.events import ClientToolCall, Pieces
from server.protocols.base import Facts, Run
from server.protocols.openbb.query import accept
from tests.evaluate.__main__ import say
from tests.evaluate.oracle import Oracle
from tests.kit.engines import ScriptedTrial
from tests.kit.programs import read_arguments

ROOT = Path(__file__).resolve().parent.parent.parent
QUESTIONS = (
    "What is the average of the ships in Harbour Ships?",
    "What was the cargo in Harbour Ships in March 2025?",
    "What was the highest cargo in Harbour Ships?",
    "What should I know about Harbour Ships before winter?",
)
"""Rules compute a figure for the first and the third."""
FIRST, LAST = 70_301.25, 90_407.75
"""Two cells of different rows and columns. What has both has the data."""
ROWS = [
    {"month": f"2025-{month:02d}-01", "ships": 400 + month, "cargo": 1000 * month}
    for month in range(1, 13)
]
ROWS[0]["ships"], ROWS[-1]["cargo"] = FIRST, LAST
WIDGET = {
    "uuid": "11111111-1111-4111-8111-111111111111", "origin": "port", "widget_id": "traffic",
    "name": "Harbour Ships", "description": "Ships and cargo by month", "params": [],
    "metadata": {},
}  # fmt: skip
DEEPEST = 12
TOOLS = ("language", "system")
"""Rooms that know nothing of data."""


@dataclass
class Walk:
    """The stays, in order. Each is a room and the functions that were given the data there."""

    stays: list[tuple[str, list[str]]] = field(default_factory=list)
    is_over: bool = False
    _seen: list[FrameType] = field(default_factory=list)

    @property
    def returns(self) -> int:
        return len(self.stays) - len({room for room, _ in self.stays})

    def most_stays(self) -> int:
        """Returns how often the room is entered that is entered most often."""
        rooms = [room for room, _ in self.stays]
        return max((rooms.count(room) for room in rooms), default=0)

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Notes a call, as a profiler. Whatever waits is called once, however often it goes on."""
        room = _room_of(frame)
        is_call = event == "call" and not self.is_over and room
        if not is_call or any(frame is one for one in self._seen):
            return
        self._seen.append(frame)
        if not any(_has_data(given, DEEPEST) for given in _given(frame)):
            return
        if (caller := frame.f_back) is not None and (holder := _room_of(caller)):
            self._stay(holder, caller.f_code.co_name)
        self._stay(room, frame.f_code.co_name)

    def _stay(self, room: str, name: str) -> None:
        if not self.stays or self.stays[-1][0] != room:
            self.stays.append((room, []))
        if name not in self.stays[-1][1]:
            self.stays[-1][1].append(name)


class LastStop(Oracle):
    """The walk ends where the model gets a prompt with the data."""

    def __init__(self, walk: Walk) -> None:
        super().__init__()
        self._walk = walk

    async def generate(self, request: ChatRequest) -> Pieces:
        self._walk.is_over |= any(_has_data(one.content, 1) for one in request.messages)
        async with aclosing(super().generate(request)) as pieces:
            async for piece in pieces:
                yield piece


def _room_of(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(ROOT / "server") or frame.f_code.co_name.startswith("<"):
        return ""
    room = path.relative_to(ROOT / "server")
    return "" if room.parts[0] in TOOLS else str(room)


def _given(frame: FrameType) -> list[Any]:
    """Returns the arguments of a call, without the object whose method it is."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [frame.f_locals[name] for name in names if name not in ("self", "cls")]


def _has_data(given: Any, depth: int) -> bool:
    found = set[float]()
    _look_into(given, depth, found)
    return len(found) == 2


def _look_into(given: Any, depth: int, found: set[float]) -> None:
    if isinstance(given, str):
        plain = given.replace(",", "")
        found.update(mark for mark in (FIRST, LAST) if str(mark) in plain)
    elif isinstance(given, float):
        found.update({given} & {FIRST, LAST})
    elif depth and isinstance(given, dict):
        for value in given.values():
            _look_into(value, depth - 1, found)
    elif depth and isinstance(given, list | tuple):
        for value in given:
            _look_into(value, depth - 1, found)
    elif depth and is_dataclass(given):
        for one in fields(given):
            _look_into(getattr(given, one.name, None), depth - 1, found)


def follow(question: str, *, is_able: bool) -> Walk:
    """Asks the question, and follows the data of the request that brings it."""
    walk = Walk()
    means = Means(LastStop(walk), can_plan=ScriptedTrial(is_able))
    body: dict[str, Any] = {
        "messages": [{"role": "human", "content": question}],
        "widgets": {"primary": [], "secondary": [WIDGET], "extra": []},
        "timezone": "UTC",
    }
    call = asyncio.run(_ask(body, means))
    assert call is not None
    assert not walk.stays
    arguments = dict(call.call.arguments)
    asked = {"function": call.call.name, "input_arguments": arguments}
    state = arguments.pop("state")
    data = [{"items": [{"content": json.dumps(ROWS)}]}]
    body["messages"] += [
        {"role": "ai", "content": json.dumps(asked)},
        {"role": "tool", **asked, "data": data, "extra_state": state},
    ]
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        asyncio.run(_ask(body, means))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert walk.is_over
    return walk


async def _ask(body: dict[str, Any], means: Means) -> ClientToolCall | None:
    run = accept(body, Facts("http://127.0.0.1"))
    assert isinstance(run, Run)
    async with aclosing(run.converse(means)) as events:
        calls = [event async for event in events if isinstance(event, ClientToolCall)]
    return calls[0] if calls else None


def main() -> None:
    for is_able, question in product((True, False), QUESTIONS):
        walk = follow(question, is_able=is_able)
        rooms = len({room for room, _ in walk.stays})
        say(f"\n{'A plan' if is_able else 'The rules'}, {question}")
        say(f"{len(walk.stays)} stays in {rooms} rooms")
        say(f"{walk.returns} returns; a room is entered {walk.most_stays()} times at most")
        for number, (room, names) in enumerate(walk.stays, 1):
            say(f"{number:3} {room}: {', '.join(names)}")


if __name__ == "__main__":
    read_arguments(__doc__)
    main()
