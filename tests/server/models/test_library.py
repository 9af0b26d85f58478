from pathlib import Path

import pytest

from server.errors import ModelNotFound, NoModel
from server.models import starter
from server.models.library import Library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "maker").mkdir()
    (tmp_path / "maker" / "big.gguf").write_bytes(b"x" * 10)
    (tmp_path / "notes.txt").write_text("no model")
    return tmp_path


def test_models_in_folders_and_the_starter_are_listed(folder: Path):
    cards = {card.name: card for card in Library([folder]).scan()}
    assert cards["big"].size_bytes == 10
    assert cards[starter.NAME].starter
    assert "proves that everything works" in cards[starter.NAME].label


def test_the_starter_answers_until_another_is_picked(folder: Path):
    library = Library([folder])
    assert library.find(None, "").name == starter.NAME
    assert library.find(None, "big").name == "big"
    assert library.find(None, "deleted since").name == starter.NAME


def test_an_unknown_name_is_refused_with_what_is_there(folder: Path):
    with pytest.raises(ModelNotFound, match="big"):
        Library([folder]).find("nope", "")


def test_a_file_given_by_path_is_a_model_for_this_run(folder: Path):
    library = Library([])
    assert library.find(library.add(folder / "maker" / "big.gguf"), "").name == "big"


def test_without_any_model_the_reader_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(starter, "find", lambda: None)
    with pytest.raises(NoModel, match="Models page"):
        Library([]).find(None, "")
