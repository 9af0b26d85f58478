import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.look.controls import Button, Label
from app.look.model_rows import state_words, time_left
from app.models.discover import FileRow, RepositoryRow
from app.models.installed import FolderRow, OtherFolders
from app.models.page import DISCOVER, DOWNLOADS, ModelsPage
from server.errors import AppError, LinkLost
from server.face.core import ModelStatus, ServerStatus
from server.face.models import Download, FoundFolder, HubModel, Suggestion
from tests.kit.fake_core import LARGE, SERVING, STARTER, FakeCore
from tests.kit.fake_shelf import AT_FORTY, CARD, LISTING, PACE, SUGGESTED, TOO_LARGE
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_what_is_installed_can_be_loaded(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    starter, large = page.installed.list.rows
    assert starter.load.text() == "In use"
    assert not starter.load.isEnabled()
    assert not starter.remove.isVisible()
    assert "5.0 GB" in large.facts.text()
    large.load.click()
    await until(lambda: core.model.get().name == LARGE.name)
    assert large.load.text() == "In use"
    core.model.set(ModelStatus("loading", LARGE.name, 0.4))
    assert (large.load.text(), large.load.accessibleName()) == ("Loading", f"Loading {LARGE.name}")
    assert not large.load.isEnabled()


async def test_deleting_asks_first_and_says_what_it_freed(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    large = page.installed.list.rows[1]
    large.remove.click()
    assert "5.0 GB" in large.note.text()
    large.keep.click()
    assert not large.sure.isVisible()
    large.remove.click()
    large.sure.click()
    await until(page.freed.isVisible)
    assert "2.1 GB" in page.freed.text.text()
    assert ("models.delete", LARGE.name) in core.commands


async def test_the_details_show_the_template_and_what_differs(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    large = page.installed.list.rows[1]
    large.about.click()
    await until(lambda: large.details and large.details.isVisible())
    details = large.details
    assert "Tool calls: hermes" in details.about.text()
    assert details.fit.verdict.text() == "Runs well"
    (show,) = [one for one in details.findChildren(Button) if one.text() == "Show differences"]
    show.click()
    assert details.text.toPlainText().endswith("-{{ messages[0] }}\n+{{ messages }}")
    details.template.click()
    assert details.text.toPlainText() == "{{ messages }}"
    details.template.click()
    assert not details.text.isVisible()
    large.about.click()
    assert not details.isVisible()


async def test_a_token_is_kept_and_forgotten_and_not_shown(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    page.token.edit.setText(" hf_secret ")
    page.token.keep.click()
    await until(lambda: ("models.set_hub_token", "hf_secret") in core.commands)
    await until(lambda: page.token.state.text() == "The token is saved with your secrets.")
    assert page.token.edit.text() == ""
    page.token.forget.click()
    await until(lambda: ("models.set_hub_token", "") in core.commands)


async def test_a_login_of_this_computer_is_offered_and_used(core: FakeCore, shown: Shown) -> None:
    core.models.hub_login = "HF_TOKEN"
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    await until(page.token.login.isVisible)
    assert "HF_TOKEN" in page.token.login.text.text()
    page.token.use.click()
    await until(lambda: ("models.use_hub_login",) in core.commands)
    await until(lambda: not page.token.login.isVisible())


async def test_a_newer_file_is_looked_for_and_fetched(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    large = page.installed.list.rows[1]
    large.about.click()
    await until(lambda: large.details and large.details.isVisible())
    newer = large.details.newer
    assert not newer.get.isVisible()
    newer.seek.click()
    assert not newer.seek.isEnabled()
    await until(newer.get.isVisible)
    assert newer.state.text().startswith("A newer file is in maker/model-GGUF: 2.1 GB")
    newer.get.click()
    await until(lambda: ("models.download_newer", LARGE.name) in core.commands)
    await until(lambda: page.downloads.list.rows)
    core.refuse = AppError("No.")
    newer.seek.click()
    await until(lambda: newer.state.text() == "No.")
    assert newer.seek.isEnabled()


async def test_a_card_is_read_before_a_download(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    await until(lambda: page.discover.heading.text() == "For this computer")
    await page.discover.open("maker/model-GGUF")
    about = page.discover.about
    assert not about.text.isVisible()
    about.read.click()
    await until(about.text.isVisible)
    assert "maker-licence" in about.licence.text()
    assert "old.bin (suspicious)" in about.scan.text()
    assert "![logo](https://elsewhere.example/logo.png)" in about.text.toPlainText()
    page.discover.show_card(replace(CARD, text="", problem="The hub stopped responding."))
    assert about.text.toPlainText() == "The hub stopped responding."
    page.discover.back.click()
    assert not about.isVisible()


async def test_with_nothing_installed_it_leads_on(shown: Shown, qapp: QApplication) -> None:
    core = FakeCore()
    page = shown(ModelsPage(core))
    assert page.installed.empty.isVisible()
    page.installed.discover.click()
    await until(lambda: ("models.suggest",) in core.commands)
    await until(lambda: page.discover.findChildren(FileRow))


async def test_folders_of_other_programs_are_offered(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    await until(page.folders.isVisible)
    (line,) = page.folders.findChildren(FolderRow)
    line.use.click()
    await until(lambda: core.settings.get().model.folders == ("/home/me/.lmstudio/models",))


async def test_a_folder_is_added_once(core: FakeCore, shown: Shown, tmp_path: Path) -> None:
    page = shown(ModelsPage(core))
    for _ in range(2):
        await page.take_files([tmp_path])
    await page.use_folder(f"{tmp_path}/")
    assert core.settings.get().model.folders == (str(tmp_path),)


async def test_a_file_is_imported(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    await page.import_file("/models/x.gguf")
    assert ("models.import_file", "/models/x.gguf") in core.commands


async def test_a_search_leads_to_files_and_a_download(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    await until(lambda: page.discover.heading.text() == "For this computer")
    page.discover.search.setText(" qwen ")
    page.discover.go.click()
    assert not page.discover.go.isEnabled()
    await until(lambda: page.discover.findChildren(RepositoryRow))
    assert ("models.search", "qwen") in core.commands
    page.discover.findChildren(RepositoryRow)[0].open.click()
    await until(lambda: page.discover.heading.text() == LISTING.repo)
    fits, too_large = [one for one in page.discover.findChildren(FileRow) if one.isVisible()]
    assert fits.fit.verdict.text() == "Runs well"
    assert too_large.fit.verdict.text() == "Does not fit"
    assert too_large.fit.why.text() == TOO_LARGE.why
    assert "20.5 GB" in TOO_LARGE.why
    fits.button.click()
    await until(lambda: page.parts.buttons[DOWNLOADS].isChecked())
    assert ("models.download", LISTING.repo, "m-Q4_K_M.gguf") in core.commands
    assert page.parts.buttons[DOWNLOADS].text() == "Downloads (1)"


async def test_a_download_that_is_refused_can_be_asked_for_again(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ModelsPage(core))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.parts.choose(DISCOVER)
    await until(lambda: page.discover.findChildren(FileRow))
    suggested = page.discover.findChildren(FileRow)[0]
    core.refuse = AppError("Moat is set to offline.")
    suggested.button.click()
    assert not suggested.button.isEnabled()
    await until(lambda: told == ["Moat is set to offline."])
    assert suggested.button.isEnabled()
    await page.discover.open(LISTING.repo)
    await until(lambda: len(page.discover.findChildren(FileRow)) == len(LISTING.files))
    file = page.discover.findChildren(FileRow)[0]
    core.refuse = AppError("Moat is set to offline.")
    file.button.click()
    await until(lambda: len(told) == 2)
    assert file.button.isEnabled()


async def test_a_download_that_was_cancelled_can_be_asked_for_again(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ModelsPage(core))
    await page.discover.open(LISTING.repo)
    await until(lambda: len(page.discover.findChildren(FileRow)) == len(LISTING.files))
    file = page.discover.findChildren(FileRow)[0]
    file.button.click()
    core.models.downloads.set((Download("1", "a", LISTING.repo, "running"),))
    assert not file.button.isEnabled()
    core.models.downloads.set(())
    assert file.button.isEnabled()


async def test_a_search_that_fails_says_why_and_can_be_repeated(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    await until(lambda: page.discover.heading.text())
    core.refuse = AppError("Moat is set to offline.")
    page.discover.search.setText("x")
    page.discover.go.click()
    await until(lambda: page.discover.busy.text() == "Moat is set to offline.")
    assert page.discover.go.isEnabled()


async def test_a_download_is_paused_resumed_retried_and_cancelled(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DOWNLOADS)
    assert page.downloads.empty.isVisible()
    core.models.downloads.set((AT_FORTY,))
    (line,) = page.downloads.list.rows
    assert line.progress.value() == 400
    assert line.state.text() == "859 MB of 2.1 GB  ·  9.0 MB/s  ·  2 min left"
    line.pause.click()
    core.models.downloads.set((replace(AT_FORTY, phase="paused"),))
    assert page.downloads.list.rows == [line]
    line.resume.click()
    core.models.downloads.set((replace(AT_FORTY, phase="failed", reason="The disk is full."),))
    assert line.state.text() == "The disk is full."
    assert not line.progress.isVisible()
    line.retry.click()
    line.cancel.click()
    await until(lambda: page.downloads.empty.isVisible())
    assert [one[0] for one in core.commands if "download" in one[0]] == [
        "models.pause_download",
        "models.resume_download",
        "models.resume_download",
        "models.cancel_download",
    ]


def test_states_and_times_in_words() -> None:
    done = Download("d", "x", "r", "done", 10, 10)
    assert state_words(done).startswith("Finished and verified")
    assert state_words(replace(done, phase="waiting", reason="429")) == "Waiting  ·  429"
    assert time_left(None) == ""
    assert time_left(20) == "less than a minute left"
    assert time_left(7400) == "2 h 3 min left"


async def test_the_answering_model_changes_with_the_core(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    core.model.set(ModelStatus("loading", LARGE.name))
    assert [one.load.text() for one in page.installed.list.rows] == ["Load", "Loading"]
    core.models.cards.set((STARTER,))
    assert len(page.installed.list.rows) == 1


async def test_deleting_promises_only_what_it_does(core: FakeCore, shown: Shown) -> None:
    listed = replace(LARGE, name="listed", owned="listed")
    core.models.cards.set((listed, replace(LARGE, name="theirs", owned="other")))
    page = shown(ModelsPage(core))
    first, second = page.installed.list.rows
    assert not second.remove.isVisible()
    first.remove.click()
    assert first.note.text() == "This removes it from the list. The file is not deleted."
    first.keep.click()
    assert first.remove.isVisible()


async def test_while_one_model_loads_another_can_be_picked(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    core.model.set(ModelStatus("loading", LARGE.name, 0.4))
    starter, large = page.installed.list.rows
    assert not large.load.isEnabled()
    assert starter.load.isEnabled()


def test_one_is_not_spoken_of_as_many(qapp: QApplication) -> None:
    folder = FolderRow(FoundFolder("Other", "/models", 1, 5_000_000_000), OtherFolders())
    words = [label.text() for label in folder.findChildren(Label)]
    assert words == ["Other", "1 model, 5.0 GB, in /models"]
    folder.deleteLater()
    repository = RepositoryRow(HubModel("maker/model-GGUF", 1))
    assert any("1 download  " in f"{one.text()}  " for one in repository.findChildren(Label))
    repository.deleteLater()


async def test_what_was_to_be_suggested_before_the_server_came_is_suggested_then(
    core: FakeCore, shown: Shown
) -> None:
    core.server.set(ServerStatus("starting"))
    page = shown(ModelsPage(core))
    await asyncio.sleep(0)
    core.refuse = LinkLost()
    page.parts.choose(DISCOVER)
    await until(lambda: core.refuse is None)
    assert page.discover.busy.text() == "Scanning this computer…"
    core.server.set(SERVING)
    await until(lambda: page.discover.heading.text() == "For this computer")
    assert page.discover.go.isEnabled()


async def test_what_is_suggested_follows_the_measured_pace(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    await until(lambda: page.discover.heading.text() == "For this computer")
    core.models.suggested = [replace(SUGGESTED, file="m-9B.gguf", title="Model 9B")]
    core.models.pace.set(PACE)
    await until(lambda: list(page.discover._files) == [("maker/model-GGUF", "m-9B.gguf")])
    page.discover.search.setText("x")
    page.discover.go.click()
    await until(lambda: "Results" in page.discover.heading.text())
    core.models.suggested = [SUGGESTED]
    core.models.pace.set(replace(PACE, measured_at=2.0))
    await until(lambda: core.commands.count(("models.suggest",)) == 3)
    await asyncio.sleep(0)
    assert "Results" in page.discover.heading.text()
    page.discover.back.click()
    assert list(page.discover._files) == [("maker/model-GGUF", "m-Q4_K_M.gguf")]


async def test_the_page_says_where_a_token_is_kept(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    await until(lambda: "keyring" in page.token.place.text())
    assert "unencrypted" not in page.token.place.text()
    core.plain_file = "/home/me/secrets.json"
    page.hide()
    page.show()
    await until(lambda: "unencrypted" in page.token.place.text())
    assert core.plain_file in page.token.place.text().replace("\u200b", "")


async def test_a_model_that_could_not_be_loaded_says_why(core: FakeCore, shown: Shown) -> None:
    page = shown(ModelsPage(core))
    core.models.cards.set((STARTER, replace(LARGE, failure="The file is damaged.")))
    starter, large = page.installed.list.rows
    assert large.note.text() == "Could not be loaded: The file is damaged."
    assert "damaged" not in starter.note.text()
    assert large.load.isEnabled()


async def test_new_models_are_looked_for_when_asked_and_no_more_when_cancelled(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ModelsPage(core))
    page.parts.choose(DISCOVER)
    discover = page.discover
    await until(lambda: discover.refresh.isVisible())
    assert ("models.refresh_suggestions",) not in core.commands
    core.models.refreshing.set("Reading maker/model (1 of 3).")
    assert discover.busy.text() == "Reading maker/model (1 of 3)."
    assert not discover.refresh.isEnabled()
    discover.cancel.click()
    await until(lambda: ("models.cancel_refresh",) in core.commands)
    core.refuse = AppError("No way.")
    await page.discover.look_for_new()
    assert discover.busy.text() == "No way."
    assert (discover.refresh.isEnabled(), discover.cancel.isVisible()) == (True, False)
    await page.discover.look_for_new()
    assert core.commands[-2:] == [("models.refresh_suggestions",), ("models.suggest",)]
    assert discover.busy.text() == ""


async def test_a_long_name_does_not_push_the_buttons_off_the_page(
    core: FakeCore, shown: Shown
) -> None:
    name = "Qwen2_5_Coder_0_5B_Instruct-abliterated-finance-tuned-" + "very_long_name" * 6
    core.models.cards.set((replace(LARGE, name=name),))
    core.models.downloads.set((Download("1", "a" * 90 + ".gguf", "r", "running"),))
    page = shown(ModelsPage(core))
    page.resize(640, 600)
    (large,) = page.installed.list.rows
    assert large.load.mapTo(page, large.load.rect().topRight()).x() < 640
    assert large.name.text() == large.name.accessibleName() == name
    page.turn_to(DOWNLOADS)
    (row,) = page.downloads.list.rows
    assert row.cancel.mapTo(page, row.cancel.rect().topRight()).x() < 640


async def test_a_search_for_new_models_ends_even_if_the_server_goes(
    core: FakeCore, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose() -> list[Suggestion]:
        raise LinkLost

    page = shown(ModelsPage(core))
    monkeypatch.setattr(core.models, "suggest", lose)
    await page.discover.look_for_new()
    assert (page.discover.busy.text(), page.discover.go.isEnabled()) == ("", True)
