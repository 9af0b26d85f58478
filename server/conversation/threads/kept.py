"""The events of a run as they are kept: short, and weighed."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from server.events import CallArguments, Event, PromptProgress, StateChanged, TextDelta


def joined(events: Iterable[Event]) -> list[Event]:
    """The same with neighbouring deltas made one, only the last state, and no progress."""
    result: list[Event] = []
    for event in _without_old_states(list(events)):
        last = result[-1] if result else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif (
            isinstance(event, CallArguments)
            and isinstance(last, CallArguments)
            and last.index == event.index
        ):
            result[-1] = replace(last, text=last.text + event.text)
        else:
            result.append(event)
    return result


def _without_old_states(events: list[Event]) -> Iterable[Event]:
    states = [at for at, event in enumerate(events) if isinstance(event, StateChanged)]
    old = set(states[:-1])
    for at, event in enumerate(events):
        if at not in old and not isinstance(event, PromptProgress):
            yield event


def weight(held: Any) -> int:
    """How many characters or bytes are in it, however deep; all else counts as one."""
    total, waiting = 0, [held]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            total += len(one)
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one
        elif is_dataclass(one):
            waiting += [getattr(one, field.name) for field in fields(one)]
        else:
            total += 1
    return total
