"""CONTRIBUTING's table is true row by row: each kind is added to a copy of the tree and found."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("server", "app", "tests/prove")


@dataclass(frozen=True, slots=True)
class Addition:
    """What somebody writes who follows a row of the table, and how it is seen to work."""

    probe: str
    """Python that sets `found`; it runs in the copy of the tree."""
    files: Mapping[str, str] = field(default_factory=dict)
    """New files, by their path."""
    entries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Changes of a file, or of the one in a folder that has such a place: a pattern, and what comes
    in its place. $ is what the pattern found."""


PAGE = '''"""An example."""

from app.look.page import Page
from app.look.translate import tr

GREETING = tr("An example of a text")


class ExamplePage(Page):
    title = "Example"
    icon = "logs"
'''
PROTOCOL = '''"""An example."""

from typing import Any

from server.protocols.base import Endpoint, Facts, Reply


def accept(_body: Any, _facts: Facts) -> Reply:
    """Says hello."""
    return Reply("hello")


ENDPOINTS = (Endpoint("GET", "/example", accept),)
'''
STYLE = '''"""An example."""

from dataclasses import replace

from server.engine.styles import plain

FORMAT = replace(plain.FORMAT, name="example", fits=lambda facts: "<example>" in facts.template)
'''
COMMAND = '''"""An example."""


def add_to(commands):
    one = commands.add_parser("example", help="an example")
    one.set_defaults(run=lambda _options: 7)
'''
ROW = '''"""An example."""

from tests.prove.rows import Figure, Row

ROWS = (Row("S999", "An example holds", "always", lambda _stage: Figure("it held", True)),)
'''

ADDITIONS: dict[str, Addition] = {
    "a protocol": Addition(
        """
from server.protocols import ENDPOINTS
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard
guard = Guard(lambda: Gate(frozenset()), lambda _origin, _method: None)
app = create_app(ENDPOINTS, Site(*[lambda *_: None] * 12), guard, 1000)
found = "/example" in {resource.canonical for resource in app.router.resources()}
""",
        {"server/protocols/example.py": PROTOCOL},
        {
            "server/protocols/__init__.py": (
                r"^ENDPOINTS = \($",
                "from server.protocols import example\n\n$\n    *example.ENDPOINTS,",
            )
        },
    ),
    "a tool-call style": Addition(
        """
from server.engine import styles
from server.engine.base import ModelFacts
found = styles.choose(ModelFacts(template="<example>")).name == "example"
""",
        {"server/engine/styles/example.py": STYLE},
        {
            "server/engine/styles/__init__.py": (
                r"^FORMATS: .* = \($",
                "from server.engine.styles import example\n\n$\n    example.FORMAT,",
            )
        },
    ),
    "a page": Addition(
        """
from app.shell.window import PAGES
found = PAGES[0].title == "Example"
""",
        {"app/example/__init__.py": "", "app/example/page.py": PAGE},
        {
            "app/shell": (
                r"^PAGES: .* = \($",
                "from app.example.page import ExamplePage\n\n$\n    ExamplePage,",
            ),
            "pyproject.toml": (r'"\(activity\) \|', '"(activity) | (example) |'),
            "./pyproject.toml": (r'^    "app\.activity",$', '$\n    "app.example",'),
        },
    ),
    "a setting": Addition(
        """
from PySide6.QtWidgets import QApplication
from app.settings import SettingsPage
from tests.kit.fake_core import FakeCore
running = QApplication([])
found = "privacy.example" in SettingsPage(FakeCore.ready()).fields
""",
        entries={
            "server/settings.py": (
                r"^class PrivacySettings.*$",
                '$\n    example: bool = setting(False, "Example")',
            )
        },
    ),
    "an error": Addition(
        """
from server.errors import ExampleError
from server.protocols import wording
reply = wording("/v1/messages")(ExampleError("It is an example."))
found = reply.status == 418 and "It is an example." in str(reply.body)
""",
        entries={
            "server/errors.py": (
                r"^class BadRequest",
                "class ExampleError(AppError):\n    code = 'example'\n    status = 418\n\n\n$",
            )
        },
    ),
    "a text people read": Addition(
        """
from scripts import translations
found = "An example of a text" in translations.texts()
"""
    ),
    "mirrored state": Addition(
        """
from app.shell.link import Link
from server.core.core import Core
from server.system import paths
found = Core(paths.find()).example.get() == 7 and Link().face.example.get() == 0
""",
        entries={
            "server/face/core.py": (r"^    server: Value.*$", "$\n    example: Value[int]"),
            "server/core/core.py": (
                r"^        paths\.make\(\)$",
                "$\n        self.example = Value(7)",
            ),
        },
    ),
    "a command of the window": Addition(
        """
import asyncio
from app.shell.link import Link
from server.core.core import Core
from server.face.wire import COMMANDS
from server.system import paths
found = "count" in dir(Link().face) and "count" in COMMANDS
found = found and asyncio.run(Core(paths.find()).count()) == 3
""",
        entries={
            "./server/face/core.py": (
                r"^    async def start\(self\).*$",
                "    async def count(self) -> int: ...\n$",
            ),
            "./server/core/core.py": (
                r"^    async def start\(self\).*$",
                "    async def count(self) -> int:\n        return 3\n\n$",
            ),
        },
    ),
    "a command of `moat`": Addition(
        """
from server import cli
found = cli.main(["example"]) == 7
""",
        {"server/commands/example.py": COMMAND},
        {
            "server/cli.py": (
                r"^COMMANDS = \{",
                '$"example": ("example",), ',
            )
        },
    ),
    "a check of `moat doctor`": Addition(
        """
from server.commands import doctor
from server.system import paths
doctor.ask_engine = lambda: {"error": "it is not asked here"}
found = doctor.report(paths.find())[0] == doctor.CheckResult("Example", "ok", "It is there.")
""",
        entries={
            "server/commands/doctor.py": (
                r"^def report\(",
                "def check_example() -> CheckResult:\n"
                "    return CheckResult('Example', 'ok', 'It is there.')\n\n\n$",
            ),
            "./server/commands/doctor.py": (
                r"^        check_processor\(",
                "        check_example(),\n$",
            ),
        },
    ),
    "a step of flows": Addition(
        """
from server.flows import spec
found = "example" in spec.STEPS
""",
        entries={
            "server/flows/steps.py": (
                r"^STEPS: .* = \{$",
                "async def run_example(_step: Step, _work: Work) -> Signs:\n"
                '    yield Jump("")\n\n\n$\n    "example": run_example,',
            )
        },
    ),
    "a row of the proof": Addition(
        """
from tests.prove.suite import SECTIONS
found = "S999" in {row.key for _, rows in SECTIONS for row in rows}
""",
        {"tests/prove/example.py": ROW},
        {
            "tests/prove/suite.py": (
                r"^_GETS_IN = \($",
                "from tests.prove import example\n\n$\n    *example.ROWS,",
            )
        },
    ),
}
RUN_PROBES = """
import json, sys, traceback
told = {}
for kind, probe in json.load(sys.stdin).items():
    seen = {}
    try:
        exec(probe, seen)
        told[kind] = "" if seen["found"] else "It was not found."
    except BaseException:
        told[kind] = traceback.format_exc()
with open(sys.argv[1], "w") as file:
    json.dump(told, file)
"""


def table_rows() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, _, after = text.partition("## One file and one list entry")
    rows = re.findall(r"^\| (.+?) \|", after.partition("\n## ")[0], re.M)
    return [row for row in rows if row != "to add"]


def copy_tree(into: Path) -> None:
    """The folders that additions change are copied; the others are as good where they are."""
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "corpus", "found")
        shutil.copytree(ROOT / name, into / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", into)
    for name in ("resources", "scripts"):
        (into / name).symlink_to(ROOT / name)
    for path in (ROOT / "tests").iterdir():
        if path.name not in ("prove", "__pycache__"):
            (into / "tests" / path.name).symlink_to(path)


def add(addition: Addition, root: Path) -> None:
    for name, text in addition.files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    for name, (pattern, change) in addition.entries.items():
        place = re.compile(pattern, re.M)
        path = find_place(root / name, place)
        before = path.read_text("utf-8")
        after = place.sub(lambda hit, change=change: change.replace("$", hit[0]), before)
        path.write_text(after, "utf-8")


def find_place(path: Path, place: re.Pattern[str]) -> Path:
    """The one file, the path itself or one in that folder, that has the place once."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    counts = {file: len(place.findall(file.read_text("utf-8"))) for file in files}
    found = [file for file, count in counts.items() if count]
    assert sum(counts.values()) == 1, f"{path} has {sum(counts.values())} places like {place}"
    return found[0]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more of each kind."""
    root = tmp_path_factory.mktemp("grown")
    copy_tree(root)
    for addition in ADDITIONS.values():
        add(addition, root)
    return root


@pytest.fixture(scope="module")
def outcomes(grown: Path) -> dict[str, str]:
    """What is wrong with each kind; nothing where it was found. One process sees to all of them."""
    own = {"PYTHONPATH": str(grown), "MOAT_HOME": str(grown / "home")}
    environment = {**os.environ, **own, "QT_QPA_PLATFORM": "offscreen"}
    report = grown / "report.json"
    subprocess.run(
        [sys.executable, "-P", "-c", RUN_PROBES, str(report)],
        input=json.dumps({kind: addition.probe for kind, addition in ADDITIONS.items()}),
        cwd=grown,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    found: dict[str, str] = json.loads(report.read_text("utf-8"))
    return found


def test_every_row_of_the_table_is_tried_here() -> None:
    assert table_rows() == list(ADDITIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
@pytest.mark.parametrize("kind", ADDITIONS)
def test_what_is_added_by_the_table_is_found(kind: str, outcomes: dict[str, str]) -> None:
    assert outcomes[kind] == "", outcomes[kind]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_the_contracts_hold_with_one_more_of_each_kind(grown: Path) -> None:
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-P", "-c", script, "--no-cache"]
    run = subprocess.run(command, cwd=grown, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_files_and_lists_that_the_table_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, _, after = text.partition("## One file and one list entry")
    table = after.partition("\n## ")[0]
    paths = re.findall(r"`([\w.]+/[\w./]*)`", table)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    for name, path in re.findall(r"\| `([A-Z]+)` in `([\w./]+)`", table):
        assert find_place(ROOT / path, re.compile(rf"^{name}\b.*= [({{]", re.M)), name
