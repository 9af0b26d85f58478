"""Small functions and the checkers: what a reviewer would have to count."""

import ast
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
