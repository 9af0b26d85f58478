"""Finds the columns that a query computes with, in the program that SQLite makes of it.

Instructions are read in their order, without following jumps, and those that are not known are
passed over. So a column may be missed, or found too often: whether it matters is for the caller.
"""

import re
from collections.abc import Iterable
from typing import Any

Place = tuple[int, int]
"""The root page of a table, and the number of a column in it."""
Instruction = tuple[str, int, int, int, Any]
"""A line of EXPLAIN: the name and its first four parameters."""
COMPUTES = re.compile(r"(sum|avg|total|abs|round)\(")
CHOOSES = re.compile(r"(min|max)\(")
CALCULATIONS = frozenset({"Add", "Subtract", "Multiply", "Divide", "Remainder"})
NUMERIC = ord("C")
"""The affinities from this one on are numbers. Those before it are blobs and text."""
WRITTEN = {
    "AggFinal": 0,
    **dict.fromkeys(("Integer", "Real", "Int64", "String8", "Null", "Variable", "Rowid"), 1),
    **dict.fromkeys(("Function", "PureFunc", "Concat", "And", "Or", "AggValue"), 2),
}
"""Which parameter names the register that an instruction fills with something that is no column."""


def columns_computed(program: Iterable[Instruction]) -> set[Place]:
    """Returns the columns that are added up, averaged, made numbers, or part of a calculation."""
    trace = _Trace()
    for instruction in program:
        trace.follow(*instruction)
    return trace.computed


class _Trace:
    """The columns in the registers, in the records and in the tables that SQLite makes in passing,
    as far as the program was read."""

    def __init__(self) -> None:
        self.computed: set[Place] = set()
        self._opened: dict[int, int] = {}
        """The root page that each cursor reads."""
        self._registers: dict[int, Place] = {}
        self._records: dict[int, dict[int, Place]] = {}
        """The columns in the record that a register holds."""
        self._passing: dict[int, dict[int, Place]] = {}
        """Those in the records that a cursor was given."""

    def follow(self, name: str, first: int, second: int, third: int, more: Any) -> None:
        match name:
            case "Column":
                self._put(third, self._read(first, second))
            case "Copy" | "SCopy" | "Move":
                count = {"Copy": third + 1, "Move": third}.get(name, 1)
                for at in range(count):
                    self._put(second + at, self._registers.get(first + at))
            case "AggStep" | "Function" | "PureFunc" if COMPUTES.match(str(more)):
                self._compute(second)
                self._put(third, None)
            case "AggStep" if CHOOSES.match(str(more)):
                self._put(third, self._registers.get(second))
            case "AggFinal" if CHOOSES.match(str(more)):
                pass
            case "Cast" if second >= NUMERIC:
                self._compute(first)
            case _ if name in CALCULATIONS:
                self._compute(first)
                self._compute(second)
                self._put(third, None)
            case _ if name in WRITTEN:
                self._put((first, second, third)[WRITTEN[name]], None)
            case _:
                self._pass_on(name, first, second, third)

    def _pass_on(self, name: str, first: int, second: int, third: int) -> None:
        """Follows tables, and records that are made, kept in passing, and read again."""
        match name:
            case "OpenRead":
                self._opened[first] = second
            case "OpenDup":
                self._passing[first] = self._passing.setdefault(second, {})
            case "OpenPseudo":
                self._passing[first] = self._records.setdefault(second, {})
            case "MakeRecord":
                held = self._registers
                row = {at: held[first + at] for at in range(second) if first + at in held}
                self._records.setdefault(third, {}).update(row)
            case "Insert" | "SorterInsert" | "IdxInsert":
                self._passing.setdefault(first, {}).update(self._records.get(second, {}))
            case "SorterData":
                self._records.setdefault(second, {}).update(self._passing.get(first, {}))

    def _read(self, cursor: int, column: int) -> Place | None:
        if cursor in self._opened:
            return self._opened[cursor], column
        return self._passing.get(cursor, {}).get(column)

    def _put(self, register: int, place: Place | None) -> None:
        if place is None:
            self._registers.pop(register, None)
        else:
            self._registers[register] = place

    def _compute(self, register: int) -> None:
        if register in self._registers:
            self.computed.add(self._registers[register])
