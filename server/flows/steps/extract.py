"""extract: takes values out of the last step's data by dotted paths."""

from collections import Counter
from typing import Any

from server.data.shorten import as_text
from server.errors import FlowFailed
from server.flows.base import Output, Signs, Step, Work
from server.flows.templates import reach

MOST_NAMED = 20


async def run(step: Step, work: Work) -> Signs:
    keys = [str(key) for key in step.params["keys"]]
    last_parts = Counter(key.split(".")[-1] for key in keys)
    found = {}
    for key in keys:
        short = key.split(".")[-1]
        found[short if last_parts[short] == 1 else key] = _value(work.data, key)
    only = next(iter(found.values())) if len(found) == 1 else None
    yield Output(found, only if isinstance(only, str) else as_text(found))


def _value(data: Any, key: str) -> Any:
    try:
        return reach(data, key)
    except KeyError as error:
        known = list(data)[:MOST_NAMED] if isinstance(data, dict) else []
        hint = f" There are: {', '.join(map(str, known))}." if known else ""
        message = f"The data has no '{error.args[0]}' for '{key}'.{hint}"
        raise FlowFailed("internal", message, {"available": known}) from None
