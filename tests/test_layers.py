"""The rules of the house hold, and each of them fails when it is broken on purpose."""

import ast
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

BROKEN_ON_PURPOSE = {
    "The server runs without a screen": ("server/tasks.py", "import PySide6"),
    "A call goes down, nothing points up or sideways": (
        "server/conversation/run.py",
        "import server.protocols.base",
    ),
    "The window knows the nouns of the server and nothing else": (
        "app/shell/link.py",
        "import server.system.keychain",
    ),
    "Protocols do not know each other": (
        "server/protocols/health.py",
        "import server.protocols.openai",
    ),
    "Tool-call formats do not know each other": (
        "server/engine/styles/lark.py",
        "import server.engine.styles.generic",
    ),
    "The shell holds the pages, the pages stand on the look": (
        "app/look/theme.py",
        "import app.home",
    ),
    "Pages do not know each other": ("app/home.py", "import app.logs"),
    "Only the worker touches llama.cpp": ("server/engine/process.py", "import llama_cpp"),
    "HTTP only in the web layer and at the one door out": (
        "server/models/library.py",
        "import aiohttp",
    ),
    "The hub's library is used in one place, where the door is": (
        "server/models/library.py",
        "import huggingface_hub",
    ),
    "The library of MCP is used where we speak it, and late": (
        "server/plugins/mcp/client.py",
        "import mcp",
    ),
}


def lint_imports(folder: Path) -> "subprocess.CompletedProcess[str]":
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-P", "-c", script, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def verdict(output: str, contract: str) -> str:
    line = next(line for line in output.splitlines() if line.startswith(contract))
    return line.removeprefix(contract).split()[0]


def test_every_contract_holds() -> None:
    run = lint_imports(ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_layers_told_to_contributors_are_those_of_the_contract() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = configuration["tool"]["importlinter"]["contracts"]
    (layers,) = [one["layers"] for one in contracts if one.get("containers") == ["server"]]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("commands → ")]
    told = line.removesuffix(" → the nouns").split(" → ")
    plain = [layer.replace("(", "").replace(")", "") for layer in layers]
    assert told == [layer for layer in plain if layer in told]


def test_every_contract_is_broken_once_below() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = configuration["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == BROKEN_ON_PURPOSE.keys()


@pytest.mark.parametrize("contract", BROKEN_ON_PURPOSE)
def test_a_broken_contract_is_noticed(contract: str, tmp_path: Path) -> None:
    for name in ("server", "app"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file, line = BROKEN_ON_PURPOSE[contract]
    source = (tmp_path / file).read_text("utf-8")
    (tmp_path / file).write_text(f"{source}\n{line}\n", "utf-8")
    run = lint_imports(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert verdict(run.stdout, contract) == "BROKEN"


def imports(source: str) -> Iterator[str]:
    """Every dotted name a module imports; `from a import b` counts as a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(*names: str) -> set[str]:
    """The modules of the program that import one of these, or something inside them."""
    found = set()
    for path in (*ROOT.glob("server/**/*.py"), *ROOT.glob("app/**/*.py")):
        for imported in imports(path.read_text("utf-8")):
            if any(f"{imported}.".startswith(f"{name}.") for name in names):
                found.add(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
    return found


def circle(sources: dict[str, str]) -> list[str]:
    """Returns modules that import each other in a circle, be it for types alone; if there are."""
    graph = {
        name: {
            imported if imported in sources else imported.rpartition(".")[0]
            for imported in imports(source)
        }
        for name, source in sources.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    paths = (*ROOT.glob("server/**/*.py"), *ROOT.glob("app/**/*.py"))
    sources = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): (
            path.read_text("utf-8")
        )
        for path in paths
    }
    assert "server.plugins.mcp.client" in sources
    assert circle(sources) == []


def test_a_circle_of_imports_is_noticed() -> None:
    for_types = "if TYPE_CHECKING:\n    from a import Name\n"
    assert set(circle({"a": "import b", "b": "from c import x", "c": for_types})) == {"a", "b", "c"}
    assert circle({"a": "import b", "b": "from c import x", "c": "import json"}) == []


def test_only_the_web_layer_uses_the_http_server() -> None:
    inside = importers("aiohttp.web")
    assert inside
    assert {name for name in inside if not name.startswith("server.web.")} == set()


def test_the_worker_is_started_and_never_imported() -> None:
    inside = importers("server.engine.worker")
    assert {name for name in inside if not name.startswith("server.engine.worker.")} <= {
        "app.__main__"
    }


def test_nothing_reaches_out_past_the_one_door() -> None:
    """The control link of this machine's own server is not outside."""
    reaching = importers("urllib.request", "http.client", "httpx", "requests", "ftplib")
    assert reaching == {"server.face.client"}


def test_the_reader_of_imports_sees_every_form() -> None:
    source = "import a.b\nfrom c import d\ndef f():\n    from e.f import g\n"
    assert list(imports(source)) == ["a.b", "c.d", "e.f.g"]
