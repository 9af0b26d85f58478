"""What is laid out for the installer."""

import json
from pathlib import Path

import pytest

from scripts.bootstrap import places as clone
from scripts.package.windows import places, tree
from server.core import updates


def test_the_program_knows_who_announces_new_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "TREE", tmp_path)
    monkeypatch.setattr(places, "PROGRAM", tmp_path / "program")
    monkeypatch.setenv("MOAT_UPDATE_ADDRESS", "https://moat.example/moat.json")
    monkeypatch.setenv("MOAT_UPDATE_KEY", "a2V5")
    tree.put_program()
    looked_for = places.PROGRAM / updates.SOURCE.relative_to(clone.ROOT)
    assert json.loads(looked_for.read_text("utf-8")) == {
        "address": "https://moat.example/moat.json",
        "key": "a2V5",
    }
    assert (places.PROGRAM / "start.py").is_file()
