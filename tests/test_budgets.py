"""Small functions, rooms and words, and the checkers: what a reviewer would have to count."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import check_types

ROOT = Path(__file__).resolve().parent.parent
FUNCTION_LINES = 40
FOLDERS = ("server", "app", "scripts", "tests")
ROOM_LINES = {
    "asking": 315, "commands": 3200, "conversation": 2540, "core": 3610, "dashboard": 10_770,
    "data": 3580, "engine": 15_920, "face": 1410, "flows": 2155, "language": 970,
    "models": 5725, "plugins": 8110, "protocols": 7210, "schemas": 1340, "system": 1305,
    "web": 2580,
}  # fmt: skip
"""The most lines of each room of the server: those of November 2026 and a fiftieth. Whoever exceeds
one raises it in the same commit and says why."""
PLAIN = (
    "artifacts.py", "chat.py", "errors.py", "events.py", "observe.py", "sentences.py", "sse.py",
    "tasks.py",
    "asking/**/*.py", "commands/*.py", "conversation/**/*.py", "core/*.py", "data/*.py",
    "engine/**/*.py", "face/*.py", "flows/**/*.py", "language/*.py", "models/**/*.py",
    "plugins/*.py", "plugins/api/*.py",
    "plugins/python/*.py", "plugins/walls/*.py", "protocols/**/*.py", "schemas/*.py",
    "system/*.py", "web/*.py",
)  # fmt: skip
"""The files of the server whose docstrings and names an editor has read."""
ODD_OPENING = re.compile(r"(Of|By|With|The same|In place|Said|Told)\b")


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def long_functions(source: str, limit: int) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > limit:
                yield node.name, lines


def test_functions_are_short() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": lines
        for path in sources()
        for name, lines in long_functions(path.read_text("utf-8"), FUNCTION_LINES)
    }
    assert long == {}


def test_a_long_function_is_noticed() -> None:
    source = "def f():\n" + "    pass\n" * 40
    assert list(long_functions(source, 40)) == [("f", 41)]
    assert list(long_functions(source, 41)) == []


def lines_of(room: str) -> int:
    return sum(
        len(path.read_text("utf-8").splitlines()) for path in (ROOT / "server" / room).rglob("*.py")
    )


def test_each_room_keeps_its_size() -> None:
    folders = {path.parent.name for path in (ROOT / "server").glob("*/__init__.py")}
    assert folders == ROOM_LINES.keys()
    sizes = {room: lines_of(room) for room in ROOM_LINES}
    assert {room: size for room, size in sizes.items() if size > ROOM_LINES[room]} == {}


def odd_words(source: str) -> Iterator[str]:
    """Yields docstrings that lean on their neighbour, and loop variables that name nothing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str) and ODD_OPENING.match(text):
                yield text.splitlines()[0]
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from (
                f"for {part.id}"
                for part in ast.walk(node.target)
                if isinstance(part, ast.Name) and part.id in ("one", "told", "said")
            )


def test_docstrings_and_loops_are_in_plain_english() -> None:
    odd = {
        str(path.relative_to(ROOT)): found
        for pattern in PLAIN
        for path in (ROOT / "server").glob(pattern)
        if (found := list(odd_words(path.read_text("utf-8"))))
    }
    assert odd == {}


def test_odd_words_are_noticed() -> None:
    source = 'def f(x):\n    """Of the first card."""\n    return [one for one in x]\n'
    assert list(odd_words(source)) == ["Of the first card.", "for one"]
    assert list(odd_words('"""The first card."""\n[card for card in cards]\n')) == []


def check(*command: str) -> None:
    program = shutil.which(command[0], path=str(Path(sys.executable).parent))
    assert program, f"{command[0]} is not installed in this environment"
    run = subprocess.run(
        [program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_ruff_has_nothing_to_say() -> None:
    check("ruff", "check", ".")


def test_the_code_is_formatted() -> None:
    check("ruff", "format", "--check", ".")


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("system", check_types.SYSTEMS, ids=lambda system: system.name)
def test_every_name_has_its_type_on_each_system(system: check_types.System) -> None:
    assert check_types.run_mypy(system, check_types.stubs_for(system)) == 0
