"""The transport of the face: its values, signals and commands by name, and as JSON.

Names in a room begin with the room's name: `models.cards`, `models.download`.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from server.face.core import Face
from server.observe import Signal, Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    """The types of a command's arguments and result."""

    arguments: Mapping[str, TypeAdapter[Any]]
    result: TypeAdapter[Any]

    def read_arguments(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the checked arguments by name. Raises ValueError for a wrong one."""
        if set(sent) != set(self.arguments):
            raise ValueError(f"expected the arguments {sorted(self.arguments)}")
        return {name: kind.validate_python(sent[name]) for name, kind in self.arguments.items()}

    def name_arguments(self, *args: Any, **named: Any) -> dict[str, Any]:
        """Returns arguments by name, from a call with positional and named arguments."""
        given = [inspect.Parameter(name, _EITHER) for name in self.arguments]
        return dict(inspect.Signature(given).bind(*args, **named).arguments)


_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD


class OnDemand(Mapping[str, T]):
    """A mapping whose names are known at once, and whose items are made on first access."""

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = makers
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _find_rooms() -> dict[str, type]:
    """Returns the face and its rooms, by the prefix of the names in them."""
    rooms = inspect.getmembers(Face, lambda member: isinstance(member, property))
    return {"": Face} | {f"{name}.": get_type_hints(room.fget)["return"] for name, room in rooms}


ROOMS = _find_rooms()


def _find_held(kind: type) -> dict[str, Any]:
    """Returns the type inside each value, or each signal."""
    return {
        room + name: get_args(hint)[0]
        for room, face in ROOMS.items()
        for name, hint in get_type_hints(face, include_extras=True).items()
        if get_origin(hint) is kind
    }


def _adapt(held: Mapping[str, Any]) -> Mapping[str, TypeAdapter[Any]]:
    return OnDemand({name: partial(TypeAdapter[Any], hint) for name, hint in held.items()})


def _find_commands() -> Mapping[str, Command]:
    return OnDemand(
        {
            room + name: partial(_command, function)
            for room, face in ROOMS.items()
            for name, function in inspect.getmembers(face, inspect.iscoroutinefunction)
        }
    )


def _command(function: Callable[..., Any]) -> Command:
    hints = get_type_hints(function, include_extras=True)
    result = TypeAdapter(hints.pop("return"))
    return Command({key: TypeAdapter(hint) for key, hint in hints.items()}, result)


_HELD = _find_held(Value)
VALUES = _adapt(_HELD)
SIGNALS = _adapt(_find_held(Signal))
COMMANDS = _find_commands()


def initial(name: str) -> Any:
    """Returns the value before the core has sent it: the default of its type."""
    held = _HELD[name]
    return () if get_origin(held) is tuple else held()


def assemble(parts: Mapping[str, Any]) -> Face:
    """Returns a face with these parts, each under its name and in its room."""
    rooms = {room: SimpleNamespace() for room in ROOMS}
    for name, part in parts.items():
        before, dot, own = name.rpartition(".")
        setattr(rooms[before + dot], own, part)
    face = rooms.pop("")
    for room, namespace in rooms.items():
        setattr(face, room.removesuffix("."), namespace)
    return cast(Face, face)
