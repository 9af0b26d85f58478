"""What the two Python kits share: cases with their verdicts, and the report of a run."""

import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

Subject = TypeVar("Subject")
Case = Callable[[Subject], str | None]
"""A case gets the server to look at. It may return a remark; it raises when it does not pass."""


class Failed(AssertionError):
    """The server broke a rule of the protocol."""


class NotApplicable(Exception):
    """The case says nothing about this server or this model."""


def need(condition: object, message: str) -> None:
    if not condition:
        raise Failed(message)


def shorten(value: object, limit: int = 160) -> str:
    """One line that shows the value, cut to the limit."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class Cases(Generic[Subject]):
    """The cases of a kit by their names, in the order in which they were added."""

    def __init__(self) -> None:
        self.by_name: dict[str, Case[Subject]] = {}

    def case(self, name: str) -> Callable[[Case[Subject]], Case[Subject]]:
        def add(function: Case[Subject]) -> Case[Subject]:
            if name in self.by_name:
                raise ValueError(f"There are two cases named {name}.")
            self.by_name[name] = function
            return function

        return add


@dataclass
class Result:
    case: str
    status: str
    note: str
    seconds: float
    warnings: list[str] = field(default_factory=list)


def judge(name: str, case: Case[Subject], subject: Subject) -> Result:
    began = time.monotonic()
    try:
        note, status = case(subject) or "", "PASS"
    except NotApplicable as reason:
        note, status = str(reason), "SKIP"
    except Failed as broken:
        note, status = str(broken), "FAIL"
    except Exception as error:  # noqa: BLE001 - whatever a client raises is the server's failure
        note, status = f"{type(error).__name__}: {shorten(str(error), 200)}", "FAIL"
    return Result(name, status, note, round(time.monotonic() - began, 2))


def show(result: Result) -> None:
    line = f"{result.status} {result.case:44} {result.seconds:7.2f}s  {result.note}".rstrip()
    sys.stdout.write("\n".join([line, *(f"     WARN {text}" for text in result.warnings)]) + "\n")
    sys.stdout.flush()


def summarise(results: Iterable[Result]) -> str:
    found = [result.status for result in results]
    return ", ".join(
        f"{found.count(status)} {word}"
        for status, word in (("PASS", "passed"), ("FAIL", "failed"), ("SKIP", "skipped"))
    )


def as_json(results: Iterable[Result]) -> str:
    rows: list[dict[str, Any]] = [asdict(result) for result in results]
    return json.dumps(rows, indent=1, ensure_ascii=False)
