from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.home import HomePage
from app.look.controls import Banner
from app.look.machine import RequestRow
from server.errors import AppError, BadRequest
from server.face.core import Load, ModelStatus, RunningRequest, ServerStatus
from tests.kit.fake_core import LARGE, STARTER, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]
FIRST = RunningRequest(1, "OpenBB", "/v1/query", "m", 0.0, "writing", 12)
SECOND = RunningRequest(2, "", "/v1/chat/completions", "m", 0.0, "waiting")


async def test_ready_is_said_in_words(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    assert page.hero.headline.text() == "Moat is ready"
    assert STARTER.name in page.hero.detail.text()
    assert page.address.text() == "http://127.0.0.1:7777"
    assert not page.failure.isVisible()
    assert not page.hero.progress.isVisible()


async def test_the_big_button_stops_and_starts(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    assert page.hero.switch.text() == "Stop"
    page.hero.switch.click()
    assert not page.hero.switch.isEnabled()
    await until(lambda: page.hero.switch.text() == "Start")
    assert page.hero.switch.isEnabled()
    assert page.address.text() == ""
    assert not page.copy.isEnabled()
    page.hero.switch.click()
    await until(lambda: page.hero.switch.text() == "Stop")
    assert core.commands == [("stop",), ("start",)]


async def test_a_refused_start_is_told_and_can_be_tried_again(shown: Shown, qapp: object) -> None:
    core = FakeCore()
    core.refuse = BadRequest("No port is free.")
    page = shown(HomePage(core))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.hero.switch.click()
    await until(lambda: told)
    assert told == ["No port is free."]
    assert page.hero.switch.isEnabled()


async def test_the_address_is_copied(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    page.copy.click()
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:7777"
    assert page.copy.text() == "Copied"


async def test_another_port_is_explained(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    note = "Port 7777 is taken, so Moat uses 7778."
    core.server.set(ServerStatus("ready", "http://127.0.0.1:7778", port_note=note))
    assert page.port_note.text() == note


async def test_loading_shows_its_progress(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.model.set(ModelStatus("loading", LARGE.name, 0.42))
    assert page.hero.progress.isVisible()
    assert page.hero.progress.value() == 42
    assert "42%" in page.hero.detail.text()
    assert page.picker.choice.isEnabled()
    core.model.set(ModelStatus("ready", LARGE.name, 1.0))
    assert not page.hero.progress.isVisible()


async def test_a_failed_model_says_why_and_can_be_tried_again(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.model.set(ModelStatus("failed", LARGE.name, reason="It needs 5 GB; 3 GB are free."))
    assert page.failure.isVisible()
    assert page.failure.text.text() == "It needs 5 GB; 3 GB are free."
    assert page.failure.advice.text()
    page.try_again()
    await until(lambda: core.commands == [("load_model", LARGE.name)])
    assert not page.failure.isVisible()


async def test_a_failed_server_is_started_again(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.server.set(ServerStatus("failed", reason="The port is taken."))
    page.try_again()
    await until(lambda: core.commands == [("start",)])


async def test_the_failure_leads_to_the_log(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.server.set(ServerStatus("failed", reason="No."))
    wanted: list[str] = []
    page.wants_page.connect(wanted.append)
    button = next(
        b for b in page.failure.findChildren(type(page.copy).__base__) if "log" in b.text()
    )
    button.click()
    assert wanted == ["Logs"]


async def test_a_model_is_picked_and_unloaded(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    picker = page.picker
    assert picker.choice.currentData() == STARTER.name
    assert picker.note.text() == STARTER.label
    picker.choice.setCurrentIndex(1)
    picker.choice.activated.emit(1)
    await until(lambda: core.model.get().name == LARGE.name)
    picker.unload.click()
    await until(lambda: core.model.get().phase == "empty")
    assert core.commands == [("load_model", LARGE.name), ("unload_model",)]
    assert not picker.unload.isEnabled()


async def test_without_a_model_it_says_what_to_do(shown: Shown, qapp: QApplication) -> None:
    page = shown(HomePage(FakeCore()))
    assert "GGUF" in page.picker.note.text()
    assert not page.picker.choice.isEnabled()


async def test_running_requests_come_change_and_are_cancelled(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    assert page.activity.empty.isVisible()
    core.requests.set((FIRST, SECOND))
    rows = page.activity.findChildren(RequestRow)
    assert [row.who.text() for row in rows] == [
        "OpenBB  ·  /v1/query",
        "Unnamed client  ·  /v1/chat/completions",
    ]
    assert "12 tokens" in rows[0].what.text()
    assert not page.activity.empty.isVisible()
    rows[0].cancel.click()
    await until(lambda: core.requests.get() == (SECOND,))
    assert core.commands == [("cancel_request", 1)]
    await until(lambda: len(page.activity.findChildren(RequestRow)) == 1)


async def test_the_load_is_shown_in_figures(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.load.set(Load(2, 1, 34.72, 5820))
    assert page.activity.speed.accessibleName() == "34.7 tokens per second"
    assert page.activity.memory.accessibleName() == "5.8 GB memory in use"


async def test_a_notice_is_shown_until_dismissed(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.notices.set(("No keychain was found.",))
    notice = next(b for b in page.findChildren(Banner) if b.text.text() == "No keychain was found.")
    await until(notice.isVisible)
    notice.close_button.click()
    await until(lambda: page.findChildren(Banner) == [page.failure])
    assert core.commands == [("dismiss_notice", "No keychain was found.")]


async def test_a_page_that_is_gone_hears_nothing(core: FakeCore, shown: Shown) -> None:
    page = HomePage(core)
    gone: list[str] = []
    page.destroyed.connect(lambda: gone.append("gone"))
    page.deleteLater()
    await until(lambda: gone)
    core.server.set(ServerStatus("failed", reason="Nobody is there to show this."))


async def test_a_load_can_be_stopped_or_another_model_picked(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    core.model.set(ModelStatus("loading", LARGE.name, 0.42))
    assert page.picker.unload.text() == "Stop loading"
    assert page.picker.unload.accessibleName() == "Stop loading"
    page.picker.unload.click()
    await until(lambda: core.model.get().phase == "empty")
    assert core.commands == [("unload_model",)]
    core.model.set(ModelStatus("ready", LARGE.name, 1.0))
    assert page.picker.unload.text() == "Unload"


async def test_a_model_that_is_refused_is_not_shown_as_the_one_that_answers(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(HomePage(core))
    core.refuse = AppError("The file is gone.")
    page.picker.choice.setCurrentIndex(1)
    page.picker.choice.activated.emit(1)
    await until(lambda: core.refuse is None)
    await until(lambda: page.picker.choice.currentData() == STARTER.name)


async def test_it_offers_a_chat_openbb_and_an_editor(core: FakeCore, shown: Shown) -> None:
    page = shown(HomePage(core))
    wanted: list[str] = []
    page.wants_page.connect(wanted.append)
    for button in (page.chat, page.openbb, page.editor):
        button.click()
    assert wanted == ["Chat", "Connect", "Connect"]
    assert "Waiting for a program" in page.client.words.text()
