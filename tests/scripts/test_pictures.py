"""The documentation's pictures are those that the script took from a running Moat."""

import hashlib
import json
import re
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.look.page import Page
from app.models.discover import Discover
from scripts.pictures import LIST, OUT, ROOT, SCENES, Untrue, check_suggestions
from server.face.models import Suggestion
from server.models import catalogue
from tests.kit.fake_core import FakeCore
from tests.kit.fake_shelf import SUGGESTED


def test_each_picture_is_one_that_was_taken() -> None:
    taken = json.loads((OUT / LIST).read_text("utf-8"))
    here = {path.stem: path for path in OUT.glob("*.png")}
    assert here.keys() == taken.keys()
    for name, path in here.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == taken[name]["sha256"], name
        assert taken[name]["shows"], name
    assert {f"{scene}-{look}" for scene in SCENES for look in ("light", "dark")} <= taken.keys()


def test_the_documentation_shows_only_these() -> None:
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    used = {
        name for page in pages for name in re.findall(r"images/([\w-]+)\.png", page.read_text())
    }
    assert used == {path.stem for path in OUT.glob("*.png")}


def shown(qtbot: QtBot, suggestion: Suggestion) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    discover = Discover(Page(FakeCore()))
    QVBoxLayout(page).addWidget(discover)
    discover.show_suggestions([suggestion])
    return page


def test_a_suggestion_with_the_facts_of_another_is_untrue(qtbot: QtBot) -> None:
    entry = catalogue.read().models[0]
    true = replace(
        SUGGESTED,
        title=entry.title,
        size_bytes=entry.download_bytes,
        parameters=entry.parameters,
    )
    check_suggestions(shown(qtbot, true))
    for wrong in ({"size_bytes": 29 * 10**8}, {"parameters": 4 * 10**9}, {"title": "Nobody 7B"}):
        with pytest.raises(Untrue):
            check_suggestions(shown(qtbot, replace(true, **wrong)))
