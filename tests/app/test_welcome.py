import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from app.chat.page import ChatPage
from app.desktop.autostart import File
from app.look.controls import Card, Column
from app.look.summary import size
from app.shell.session import Session
from app.shell.tray import Tray
from app.welcome import WelcomePage, from_home
from server.errors import AppError
from server.face.core import AnsweredRequest, ServerStatus
from tests.kit.fake_core import LARGE, SERVING, STARTER, FakeCore
from tests.kit.fake_shelf import PACE, SUGGESTED
from tests.kit.until import until

Shown = Callable[[Any], Any]


def made(core: FakeCore, folder: Path) -> WelcomePage:
    return WelcomePage(core, File(folder / "moat.desktop", "x"), folder / "models")


async def test_it_says_what_this_machine_can_do(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(made(core, tmp_path))
    await until(lambda: "17.2 GB of memory" in page.machine.text())
    assert SUGGESTED.title in page.recommended.text()
    assert page.starter.isChecked()


async def test_it_says_why_there_is_no_server(core: FakeCore, shown: Shown, tmp_path: Path) -> None:
    page = shown(made(core, tmp_path))
    assert page.failure.isHidden()
    core.server.set(ServerStatus("failed", reason="The server stopped: no such folder."))
    assert page.failure.isVisible()
    assert page.failure.title.text() == "The server is not running"
    assert "no such folder" in page.failure.text.text()
    core.server.set(SERVING)
    assert page.failure.isHidden()


async def test_a_size_that_is_computed_says_so(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(made(core, tmp_path))
    await until(lambda: SUGGESTED.title in page.recommended.text())
    assert "about" not in page.recommended.text()
    page.show_suggestions([replace(SUGGESTED, is_about=True)])
    assert f"(about {size(SUGGESTED.size_bytes)})" in page.recommended.text()


async def test_the_recommendation_follows_the_measured_pace(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(made(core, tmp_path))
    await until(lambda: SUGGESTED.title in page.recommended.text())
    core.models.suggested = [replace(SUGGESTED, title="Model 9B")]
    page.machine.setText("")
    core.models.pace.set(PACE)
    await until(lambda: "Model 9B" in page.recommended.text())
    assert "17.2 GB of memory" in page.machine.text(), "of the same time as the recommendation"


async def test_the_starter_needs_nothing(core: FakeCore, shown: Shown, tmp_path: Path) -> None:
    page = shown(made(core, tmp_path))
    ended: list[str] = []
    page.done.connect(lambda: ended.append("done"))
    page.begin.click()
    await until(lambda: ended)
    assert not (tmp_path / "moat.desktop").exists()
    assert "models.download" not in [one[0] for one in core.commands]


async def test_what_was_chosen_is_done(core: FakeCore, shown: Shown, tmp_path: Path) -> None:
    page = shown(made(core, tmp_path))
    await until(page.recommended.isVisible)
    page.recommended.setChecked(True)
    page.at_login.setChecked(True)
    page.begin.click()
    await until(lambda: core.models.downloads.get())
    assert ("models.download", SUGGESTED.repo, SUGGESTED.file) in core.commands
    assert (tmp_path / "moat.desktop").exists()


async def test_a_failed_download_keeps_nobody_here(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(made(core, tmp_path))
    await until(page.recommended.isVisible)
    page.recommended.setChecked(True)
    core.refuse = AppError("Moat is set to offline.")
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.done.connect(lambda: told.append("done"))
    page.begin.click()
    await until(lambda: len(told) == 2)
    assert sorted(told) == ["Moat is set to offline.", "done"]


async def test_a_folder_is_added(core: FakeCore, shown: Shown, tmp_path: Path) -> None:
    page = shown(made(core, tmp_path))
    await page.use_folder("/data/models")
    assert core.settings.get().model.folders == ("/data/models",)
    assert "/data/models" in page.folder.text()


async def test_models_of_an_added_folder_are_offered_and_used(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    core.models.cards.set((STARTER,))
    page = shown(made(core, tmp_path))
    assert page.present.isHidden()
    assert page.choice.isHidden()
    await page.use_folder("/data/models")
    core.models.cards.set((STARTER, LARGE))
    assert page.present.isChecked()
    assert page.choice.currentText() == "Qwen3-8B (5.0 GB)"
    page.begin.click()
    await until(lambda: ("load_model", LARGE.name) in core.commands)


async def test_models_that_are_here_already_do_not_choose_themselves(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    core.models.cards.set((STARTER, LARGE))
    page = shown(made(core, tmp_path))
    assert page.present.isVisible()
    assert page.starter.isChecked()
    await page.use_folder("/data/empty")
    core.models.cards.set((STARTER, LARGE, replace(LARGE, name="Elsewhere", hosts=("vllm",))))
    assert page.starter.isChecked(), "the folder has no model"
    page.present.setChecked(True)
    core.models.cards.set((STARTER,))
    assert page.starter.isChecked()


async def test_it_comes_once_and_leads_to_a_chat(
    core: FakeCore, qapp: QApplication, memory: QSettings, tmp_path: Path
) -> None:
    session = Session(qapp, core, Tray(core), memory)
    session.welcome(File(tmp_path / "x", "x"), tmp_path)
    session.open(hidden=False)
    page = session.window.page()
    assert isinstance(page, WelcomePage)
    page.begin.click()
    await until(lambda: isinstance(session.window.page(), ChatPage))
    session.welcome(File(tmp_path / "x", "x"), tmp_path)
    assert isinstance(session.window.page(), ChatPage)
    session.close()
    session.window.deleteLater()


async def test_it_waits_until_a_program_has_its_answer(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(made(core, tmp_path))
    assert page.address.text() == core.server.get().address
    assert "Waiting for a program" in page.client.words.text()
    assert page.begin.text() == "Get started"
    route = "/v1/chat/completions"
    core.answered.set((AnsweredRequest(1, "zed", route, "m", 0.0, 1.0, "stop"),))
    assert "It works: zed" in page.client.words.text()
    assert page.begin.text() == "Done"


def test_a_folder_of_ones_own_begins_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert from_home(Path("/srv/models")) == str(Path("/srv/models"))
    if os.name == "posix":
        assert from_home(Path("/home/me/.local/share/moat/models")) == "~/.local/share/moat/models"


@pytest.mark.parametrize("height", [400, 2000], ids=["scrolled", "whole"])
async def test_the_button_stands_in_line_with_what_is_above_it(
    core: FakeCore, shown: Shown, tmp_path: Path, height: int
) -> None:
    page = shown(made(core, tmp_path))
    page.resize(1080, height)
    bar = page.findChild(Column).verticalScrollBar()
    await until(lambda: bar.isVisible() == (height == 400))
    card = next(card for card in page.findChildren(Card) if card.isVisible())

    def is_in_line() -> bool:
        edges = {part.mapTo(page, part.rect().topRight()).x() for part in (card, page.begin)}
        return len(edges) == 1

    await until(is_in_line)
