"""The face over a wire: its values, signals and commands by name, with how each becomes JSON."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from server.face import Face
from server.observe import Signal, Value


@dataclass(frozen=True, slots=True)
class Command:
    arguments: Mapping[str, TypeAdapter[Any]]
    result: TypeAdapter[Any]

    def read_arguments(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Checked arguments by name; raises ValueError for a wrong one."""
        if set(sent) != set(self.arguments):
            raise ValueError(f"expected the arguments {sorted(self.arguments)}")
        return {name: kind.validate_python(sent[name]) for name, kind in self.arguments.items()}


def _mirrored(kind: type) -> dict[str, TypeAdapter[Any]]:
    return {
        name: TypeAdapter(get_args(hint)[0])
        for name, hint in get_type_hints(Face).items()
        if get_origin(hint) is kind
    }


def _commands() -> dict[str, Command]:
    found = {}
    for name, function in inspect.getmembers(Face, inspect.iscoroutinefunction):
        hints = get_type_hints(function)
        result = TypeAdapter(hints.pop("return"))
        found[name] = Command({key: TypeAdapter(hint) for key, hint in hints.items()}, result)
    return found


VALUES: Mapping[str, TypeAdapter[Any]] = _mirrored(Value)
SIGNALS: Mapping[str, TypeAdapter[Any]] = _mirrored(Signal)
COMMANDS: Mapping[str, Command] = _commands()
