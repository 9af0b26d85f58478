"""Reads xls, xlsb and ods workbooks in a process of its own, within limits of memory and time.

The library that reads them is native code. It reserves memory for as many cells as a file claims to
have, so that a small file could exhaust the memory or crash the process.
"""

import contextlib
import io
import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import psutil

from server.data.office import MAX_CELLS, MAX_SHEETS, Sheet
from server.system import processes

try:
    import resource
except ImportError:  # On Windows, only the parent limits the memory.
    resource = None  # type: ignore[assignment]

TIME_LIMIT_S = 20.0
MEMORY_LIMIT_BYTES = 1024 * 1024 * 1024
"""The most memory of the child process. The parent checks it every `LOOK_S` seconds."""
TEXT_LIMIT = 32 * 1024 * 1024
"""The most characters in all cells together: thousands of cells may share one long text."""
LOOK_S = 0.05
SHORT_CELLS = frozenset(range(12, 19))
"""The xlsb record types of cells that do not name their column."""


def read_sheets(data: bytes) -> tuple[list[Sheet], int]:
    """Reads the workbook in a child process. Returns the sheets that fit and the number of all.
    Raises ValueError if the workbook cannot be read within the limits."""
    child = subprocess.Popen(
        processes.command("sheets"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=processes.environment("sheets"),
    )
    try:
        found = json.loads(_answer(child, data))
    finally:
        child.kill()
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        child.wait()
    return [Sheet(**sheet) for sheet in found["sheets"]], found["total"]


def _answer(child: "subprocess.Popen[bytes]", data: bytes) -> bytes:
    end = time.monotonic() + TIME_LIMIT_S
    given: bytes | None = data
    while time.monotonic() < end:
        try:
            output, _ = child.communicate(given, timeout=LOOK_S)
        except subprocess.TimeoutExpired:
            given = None
            if _memory(child.pid) > MEMORY_LIMIT_BYTES:
                raise ValueError("The workbook needs too much memory.") from None
            continue
        if child.returncode != 0:
            raise ValueError("The workbook cannot be read.")
        return output
    raise ValueError("The workbook takes too long to read.")


def _memory(pid: int) -> int:
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def main() -> None:
    """Runs in the child process: reads a workbook from stdin, writes JSON to stdout."""
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):  # macOS refuses this limit.
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    import python_calamine  # noqa: PLC0415 - only this process ever loads it

    file = io.BytesIO(sys.stdin.buffer.read())
    _refuse_short_cells(file)
    book = python_calamine.CalamineWorkbook.from_filelike(file)
    result = {"sheets": list(_sheets(book)), "total": len(book.sheet_names)}
    sys.stdout.write(json.dumps(result))


def _refuse_short_cells(file: io.BytesIO) -> None:
    """Raises ValueError for an xlsb file with cells that do not name their column. The library
    skips such cells, so figures would be lost."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                is_sheet = name.startswith("xl/worksheets/") and name.endswith(".bin")
                if is_sheet and not SHORT_CELLS.isdisjoint(_record_kinds(archive.read(name))):
                    raise ValueError("This workbook has cells that cannot be read.")
    file.seek(0)


def _record_kinds(data: bytes) -> Iterator[int]:
    """Yields the type of each record: a type, a length, and the content of that length."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at)
        size, at = _number(data, at)
        at += size
        yield kind


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Reads an integer with seven bits in each byte. Returns it and the place behind it."""
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _sheets(book: Any) -> Iterator[dict[str, Any]]:
    """Yields the sheets as JSON objects. Cells and characters are limited over all of them."""
    room, letters = MAX_CELLS, TEXT_LIMIT
    for number, name in enumerate(book.sheet_names[:MAX_SHEETS]):
        if room <= 0 or letters <= 0:
            return
        rows: list[list[Any]] = []
        sheet = book.get_sheet_by_index(number)
        for row in sheet.iter_rows():
            if room <= 0 or letters <= 0:
                break
            cells = [_cell(value) for value in row]
            rows.append(cells)
            room -= len(cells) + 1
            letters -= sum(len(cell) for cell in cells if isinstance(cell, str))
        yield {"name": name, "rows": rows, "cut": max(sheet.total_height - len(rows), 0)}


def _cell(value: Any) -> Any:
    match value:
        case "":
            return None
        case datetime():
            whole = value.hour == value.minute == value.second == 0
            return value.strftime("%Y-%m-%d" if whole else "%Y-%m-%d %H:%M:%S")
        case date():
            return value.isoformat()
        case bool() | int() | float() | str():
            return value
        case _:
            return str(value)


if __name__ == "__main__":
    main()
