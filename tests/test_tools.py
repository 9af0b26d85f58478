"""The tools among the tests say how they are used, instead of starting an hour's work."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STARTED_BY_OTHERS = {
    "tests.bench.raw_loop", "tests.bench.reference", "tests.bench.window_load",
    "tests.contract.copilotkit.peers.endpoint", "tests.contract.copilotkit.serve",
    "tests.evaluate.serve", "tests.kit.by_llama_cpp", "tests.kit.hostile_engine",
    "tests.kit.hub_library", "tests.kit.scripted_worker", "tests.kit.sdk_mcp",
    "tests.kit.served_core", "tests.kit.small_engine", "tests.prove.alone", "tests.prove.clients",
    "tests.prove.guided",
}  # fmt: skip
"""Tests and tools start these with the arguments that they know; no person does."""
READERS = {"read_arguments", "ArgumentParser"}
QUICK = ("tests.evaluate", "tests.prove", "tests.bench.walls")


def find_tools() -> dict[str, bool]:
    """Each module of the tests that can be run, and whether it reads its arguments."""
    found: dict[str, bool] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        checks = (node for node in tree.body if isinstance(node, ast.If))
        if any(ast.unparse(node.test) == "__name__ == '__main__'" for node in checks):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__main__")] = reads_arguments(tree)
    return found


def reads_arguments(tree: ast.Module) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(ast.unparse(called).rpartition(".")[2] in READERS for called in calls)


def test_each_tool_reads_its_arguments() -> None:
    tools = find_tools()
    assert set(tools) > STARTED_BY_OTHERS
    silent = {name for name, reads in tools.items() if not reads and name not in STARTED_BY_OTHERS}
    assert silent == set()
    assert len(tools) > 30


def test_a_tool_that_reads_none_is_noticed() -> None:
    assert not reads_arguments(ast.parse("import sys\nmain(sys.argv[1:])"))
    assert reads_arguments(ast.parse("argparse.ArgumentParser().parse_args()"))


@pytest.mark.parametrize("tool", QUICK)
def test_help_is_printed_and_an_unknown_argument_is_refused(tool: str) -> None:
    def run(argument: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", tool, argument]
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )

    asked = run("--help")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert len(asked.stdout) > 20
    refused = run("--unknown")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"There is no argument '--unknown'.\n{asked.stdout}"
