import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytestqt.qtbot import QtBot

from app.connect.clients import RECIPES, Here, Recipe, RecipesCard

CONTEXT = 32_768
ADDRESS, MODEL, KEY = "http://127.0.0.1:7777", "tiny-Q4_K_M", "secret-of-the-keyring"


def parsed(recipe: Recipe) -> Any:
    """The file as the program reads it."""
    text = Here(ADDRESS, MODEL, KEY).fill(recipe.snippet)
    kind = recipe.file.rpartition(".")[2]
    if kind == "env":
        return dict(line.split("=", 1) for line in text.splitlines())
    readers: dict[str, Any] = {"json": json.loads, "toml": tomllib.loads}
    return readers.get(kind, yaml.safe_load)(text)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_each_file_can_be_read_and_leads_here(recipe: Recipe) -> None:
    whole = json.dumps(parsed(recipe))
    assert ADDRESS in whole
    assert "$" not in whole
    assert recipe.start
    if recipe.name != "VS Code Copilot (Ollama)":  # it lists what is here
        assert MODEL in whole


@pytest.mark.parametrize(("loaded", "told"), [(CONTEXT, "32768"), (0, "8192")])
def test_a_program_that_asks_for_the_context_learns_the_models_own(loaded: int, told: str) -> None:
    here = Here(ADDRESS, MODEL, KEY, loaded)
    asking = {recipe.name for recipe in RECIPES if told in here.fill(recipe.snippet)}
    assert asking == {"Continue", "Zed", "Codex", "AnythingLLM"}


@pytest.fixture
def card(qtbot: QtBot) -> RecipesCard:
    made = RecipesCard()
    qtbot.addWidget(made)
    made.show_here(Here(ADDRESS, MODEL, KEY, CONTEXT))
    return made


def test_the_key_is_written_but_not_shown(card: RecipesCard, tmp_path: Path) -> None:
    for number, recipe in enumerate(RECIPES):
        card.choice.setCurrentIndex(number)
        assert recipe.file in card.file.text()
        assert KEY not in card.snippet.toPlainText() + card.start.text()
        assert card.save.isVisibleTo(card) == recipe.is_whole
        card.write_to(tmp_path / "new" / recipe.name)
        written = (tmp_path / "new" / recipe.name).read_text()
        assert ADDRESS in written
        assert (KEY in written) == ("$key" in recipe.snippet)
        assert recipe.name in card.written.text()


def test_it_is_said_which_hosts_a_program_asks_by_itself(card: RecipesCard) -> None:
    for number, recipe in enumerate(RECIPES):
        card.choice.setCurrentIndex(number)
        told = card.hosts.text()
        if recipe.other_hosts is None:
            assert told == "Whether it asks other hosts by itself was not tried here."
        elif recipe.other_hosts:
            assert all(host in told for host in recipe.other_hosts)
        else:
            assert told == "With these settings it asked no other host when it was tried."
    assert {recipe.other_hosts is None for recipe in RECIPES} == {True, False}


def test_a_folder_that_cannot_be_written_is_told(card: RecipesCard, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    card.failed.connect(lambda error: told.append(str(error)))
    card.write_to(tmp_path / "file" / "inside")
    assert len(told) == 1
    assert told[0].startswith("The file could not be written: ")


def test_without_an_address_nothing_can_be_taken(card: RecipesCard) -> None:
    card.show_here(Here("", "", ""))
    assert not card.save.isEnabled()
    assert not card.copy.isEnabled()
