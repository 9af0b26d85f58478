"""docs/architecture.md names what there is: the rooms of the contract, paths and classes."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PYTHON_TEST = r"`(tests/[\w./]+\.py)`"
FOREIGN = {"YAML", "JSON", "HTTP"}


def rooms_of_the_contract() -> list[set[str]]:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = configuration["tool"]["importlinter"]["contracts"]
    (layers,) = [found["layers"] for found in contracts if found.get("containers") == ["server"]]
    return [set(re.findall(r"\w+", layer)) for layer in layers]


def rooms_of_the_picture() -> list[set[str]]:
    picture = TEXT.partition("compares it with the contract. -->\n```\n")[2].partition("```")[0]
    return [set(re.findall(r"\w+", line.partition("   ")[0])) for line in picture.splitlines()]


def test_the_picture_has_the_rooms_of_the_contract_in_its_order() -> None:
    drawn = rooms_of_the_picture()
    assert drawn == [layer for layer in rooms_of_the_contract() if layer in drawn]


def test_the_picture_leaves_out_no_folder() -> None:
    drawn = set().union(*rooms_of_the_picture())
    folders = {path.parent.name for path in (ROOT / "server").glob("*/__init__.py")}
    assert folders - drawn == set()


def test_every_path_it_names_is_there() -> None:
    paths = re.findall(r"`((?:app|server|tests|scripts|packaging|resources)/[\w./]*)`", TEXT)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_tests_that_pages_beside_data_name_are_there() -> None:
    pages = sorted((ROOT / "tests").rglob("*.md"))
    named = {name for page in pages for name in re.findall(PYTHON_TEST, page.read_text("utf-8"))}
    assert len(named) > 3
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_every_class_it_names_is_there() -> None:
    sources = [*(ROOT / "server").rglob("*.py"), *(ROOT / "app").rglob("*.py")]
    code = "\n".join(path.read_text("utf-8") for path in sources)
    known = set(re.findall(r"^class (\w+)", code, re.M))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`", TEXT)) - FOREIGN
    assert len(named) > 10
    assert named - known == set()


def test_the_links_to_headings_of_other_pages_lead_somewhere() -> None:
    for page, heading in re.findall(r"\]\(([\w./]*)#([\w-]+)\)", TEXT):
        text = (ROOT / "docs" / page).read_text("utf-8") if page else TEXT
        titles = re.findall(r"^#+ (.+)$", text, re.M)
        assert heading in {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in titles}
