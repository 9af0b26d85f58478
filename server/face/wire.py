"""The face over a wire: its values, signals and commands by name, with how each becomes JSON."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from server.face.core import Face
from server.observe import Signal, Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    arguments: Mapping[str, TypeAdapter[Any]]
    result: TypeAdapter[Any]

    def read_arguments(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Returns checked arguments by name; raises ValueError for a wrong one."""
        if set(sent) != set(self.arguments):
            raise ValueError(f"expected the arguments {sorted(self.arguments)}")
        return {name: kind.validate_python(sent[name]) for name, kind in self.arguments.items()}


class OnDemand(Mapping[str, T]):
    """All names at once; what belongs to a name is made when it is first asked for."""

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


def _mirrored(kind: type) -> Mapping[str, TypeAdapter[Any]]:
    return OnDemand(
        {
            name: partial(TypeAdapter[Any], get_args(hint)[0])
            for name, hint in get_type_hints(Face).items()
            if get_origin(hint) is kind
        }
    )


def _commands() -> Mapping[str, Command]:
    found = inspect.getmembers(Face, inspect.iscoroutinefunction)
    return OnDemand({name: partial(_command, function) for name, function in found})


def _command(function: Callable[..., Any]) -> Command:
    hints = get_type_hints(function)
    result = TypeAdapter(hints.pop("return"))
    return Command({key: TypeAdapter(hint) for key, hint in hints.items()}, result)


VALUES = _mirrored(Value)
SIGNALS = _mirrored(Signal)
COMMANDS = _commands()
