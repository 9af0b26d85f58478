"""Checks the plugins that Moat ships: clean, useful, and valid by the schemas for editors."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from server.core.core import Core
from server.data.yaml_with_places import Findings, read_file
from server.engine.base import EngineOptions
from server.plugins.folder import load
from server.system.paths import find
from tests.kit.engines import ScriptedEngine, says
from tests.kit.plugin_kits import answer_approvals

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(path for path in (ROOT / "plugins").iterdir() if path.is_dir())
NAMES = [path.name for path in SHIPPED]
CSV = "symbol;quantity;price;cost\naaa;10;5.5;4\nBBB;3;100;120\nCCC;7;20;10\n"


def schema(name: str) -> jsonschema.Draft202012Validator:
    text = (ROOT / "resources" / "schemas" / f"{name}.schema.json").read_text("utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def read(path: Path) -> Any:
    return read_file(path, path.name, Findings(path.name))


@pytest.mark.parametrize("folder", SHIPPED, ids=NAMES)
def test_they_have_no_findings(folder: Path) -> None:
    loaded = load(folder)
    assert loaded.findings == []
    assert loaded.state == "ok"


@pytest.mark.parametrize("folder", SHIPPED, ids=NAMES)
def test_the_schemas_for_editors_accept_them(folder: Path) -> None:
    schema("plugin").validate(read(folder / "plugin.json"))
    for path in (folder / "flows").glob("*.yaml"):
        schema("flow").validate(read(path))


def test_the_schemas_accept_real_plugins_and_refuse_broken_ones() -> None:
    flows = list((ROOT / "tests" / "data" / "plugins").glob("*/flows/*.yaml"))
    assert len(flows) > 30
    for path in flows:
        schema("flow").validate(read(path))
    assert not schema("flow").is_valid({"name": "f", "description": "d", "steps": []})
    broken = {"name": "f", "description": "d", "steps": [{"name": "start", "call_type": "api"}]}
    assert not schema("flow").is_valid(broken)
    assert not schema("plugin").is_valid({"name": "x"})


class House:
    def __init__(self, core: Core, engine: ScriptedEngine) -> None:
        self.core = core
        self.engine = engine


@pytest.fixture
async def house() -> AsyncIterator[House]:
    engine = ScriptedEngine()

    def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
        return engine

    core = Core(find(), make)
    await core.open()
    answer_approvals(core.plugins, "once")
    yield House(core, engine)
    await core.close()


async def test_the_portfolio_is_summed_and_drawn_by_code(house: House, tmp_path: Path) -> None:
    positions = tmp_path / "positions of mine.csv"
    positions.write_text(CSV)
    await house.core.plugins.enable("portfolio")
    await house.core.plugins.set_option("portfolio", "positions", str(positions))
    house.engine._scripts[:] = [says('{"symbol": null}')]
    told = await house.core.plugins.test("portfolio", "value", "What is it worth?", "run")
    assert told.text.startswith("3 positions are worth 495.00; the gain is 25.00.")
    assert "The largest is BBB with 60.61 %." in told.text
    told = await house.core.plugins.test("portfolio", "weights", "Draw the weights", "run")
    assert (told.text, told.failed) == ("A chart of 3 rows.", False)
    house.engine._scripts[:] = [
        says("SELECT nothing FROM positions;"),
        says("SELECT symbol FROM positions ORDER BY price DESC LIMIT 1;"),
        says("It is BBB."),
    ]
    told = await house.core.plugins.test("portfolio", "ask", "Which is dearest?", "run")
    assert told.text == "It is BBB."
    prompt = house.engine.requests[-1].messages[-1].content
    assert '"rows": [{"symbol": "BBB"}]' in prompt


async def test_a_position_that_is_not_there_is_said(house: House, tmp_path: Path) -> None:
    positions = tmp_path / "p.csv"
    positions.write_text(CSV)
    await house.core.plugins.enable("portfolio")
    await house.core.plugins.set_option("portfolio", "positions", str(positions))
    house.engine._scripts[:] = [says('{"symbol": "ZZZ"}')]
    told = await house.core.plugins.test("portfolio", "value", "What is ZZZ worth?", "run")
    assert told.failed
    assert "There is no position ZZZ" in told.text


async def test_files_are_found_only_where_allowed(house: House, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "plan.txt").write_text("Nothing\nThe budget is 12 million\n")
    (tmp_path / "private.txt").write_text("The budget of others")
    (allowed / "way out.txt").symlink_to(tmp_path / "private.txt")
    await house.core.plugins.enable("files")
    await house.core.plugins.set_option("files", "folders", str(allowed))
    house.engine._scripts[:] = [says('{"words": "budget"}'), says("plan.txt")]
    told = await house.core.plugins.test("files", "search", "Which files mention budget?", "run")
    assert told.text == "plan.txt"
    prompt = house.engine.requests[-1].messages[-1].content
    assert '"line": 2, "text": "The budget is 12 million"' in prompt
    assert "others" not in prompt
    house.engine._scripts[:] = [says('{"file": "private.txt"}')]
    told = await house.core.plugins.test("files", "read", "Read private.txt", "run")
    assert "There is no file private.txt" in told.text


async def test_a_dry_run_shows_the_request_and_sends_nothing(house: House) -> None:
    house.engine._scripts[:] = [says('{"title": "Emma", "author": "Jane Austen", "year": null}')]
    told = await house.core.plugins.test("bookshelf", "add_book", "Add Emma by Jane Austen", "dry")
    assert "nothing was sent" in told.text
    assert told.requests[0].startswith("POST http://127.0.0.1:8905/books")
    assert '"author": "Jane Austen"' in told.requests[0]
    assert house.core.egress.uses.get() == ()


async def test_a_mock_run_goes_on_with_the_example(house: House) -> None:
    house.engine._scripts[:] = [says('{"author": null}'), says("tell"), says("Middlemarch")]
    told = await house.core.plugins.test("bookshelf", "list_books", "Which books?", "mock")
    assert told.text == "Middlemarch"
    assert "Middlemarch" in house.engine.requests[-1].messages[-1].content
    assert house.core.egress.uses.get() == ()
