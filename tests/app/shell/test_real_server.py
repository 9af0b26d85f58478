"""The window's pages with the real server process and the starter model."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.activity import ActivityPage
from app.chat.page import ChatPage
from app.chat.transcript import Answer
from app.connect.page import ConnectPage
from app.hardware import HardwarePage
from app.home import HomePage
from app.logs import LogsPage
from app.look.machine import RequestRow
from app.models.page import ModelsPage
from app.shell.link import Link, Program, keep_serving
from server import tasks
from server.system import processes
from tests.kit.until import until

Shown = Callable[[Any], Any]
LOAD_S = 180.0


def program() -> Program:
    return Program(processes.command("serve", "--child"), processes.environment("serve"))


@pytest.mark.timeout(300)
async def test_a_person_asks_stops_cancels_and_switches_off(
    shown: Shown, starter_model: Path, moat_home: Path
) -> None:
    link = Link()
    keeping = tasks.spawn(keep_serving(program(), link), "keep")
    try:
        home, chat, logs = (shown(page(link.face)) for page in (HomePage, ChatPage, LogsPage))
        await until(lambda: link.face.model.get().phase == "ready", LOAD_S)
        assert home.hero.headline.text() == "Moat is ready"
        assert home.picker.note.text().startswith("Starter")
        await _ask_and_read(chat)
        await _ask_and_stop(chat)
        await _ask_and_cancel(chat, home)
        await _ask_in_every_protocol(chat)
        await _the_machine_and_what_went_on(shown, link)
        await _every_client_connects(shown(ConnectPage(link.face)))
        await until(lambda: logs.lines.rowCount() > 0)
        home.hero.switch.click()
        await until(lambda: home.hero.switch.text() == "Start")
        chat.ask("Is anybody there?")
        await until(lambda: _last(chat).failure.isVisible())
    finally:
        await tasks.stop(keeping)


async def _ask_and_read(chat: ChatPage) -> None:
    chat.ask("Say hello.")
    await _finished(chat)
    assert _last(chat).text()
    assert "tokens" in _last(chat).footer.text()


async def _ask_and_stop(chat: ChatPage) -> None:
    chat.ask("Count from one to five hundred in words, one number per line.")
    await until(lambda: _last(chat).text(), LOAD_S)
    chat.composer.button.click()
    await _finished(chat)
    assert _last(chat).footer.text().startswith("Stopped")


async def _ask_and_cancel(chat: ChatPage, home: HomePage) -> None:
    """Somebody else's request looks just like ours: it is ended from Home."""
    chat.clear()
    await until(lambda: not home.activity.findChildren(RequestRow))
    chat.ask("Count from one to five hundred in words, one number per line.")
    await until(lambda: _last(chat).text(), LOAD_S)
    await until(lambda: home.activity.findChildren(RequestRow))
    home.activity.findChildren(RequestRow)[0].cancel.click()
    await _finished(chat)
    await until(lambda: not home.activity.findChildren(RequestRow))


async def _ask_in_every_protocol(chat: ChatPage) -> None:
    for number, first in ((1, "POST /v1/agent/query"), (2, "POST /api/copilotkit/agent")):
        chat.clear()
        chat.options.protocol.setCurrentIndex(number)
        chat.options.length.slider.setValue(1)
        chat.ask("Say hello in three words.")
        await _finished(chat)
        assert _last(chat).text(), _last(chat).failure.text.text()
        assert chat.raw.lines.toPlainText().startswith(first)
    chat.options.protocol.setCurrentIndex(0)


async def _the_machine_and_what_went_on(shown: Shown, link: Link) -> None:
    hardware = shown(HardwarePage(link.face))
    await until(lambda: hardware.fit.verdict.text() == "Runs well", LOAD_S)
    assert hardware.sliders["context_tokens"].value() == 0
    models = shown(ModelsPage(link.face))
    assert [one.load.text() for one in models.installed.list.rows] == ["In use"]
    activity = shown(ActivityPage(link.face))
    await until(lambda: activity.requests.rowCount() >= 5)
    assert activity.summary.text().startswith("Nothing has left this computer since")


async def _every_client_connects(page: ConnectPage) -> None:
    for card in page.cards.values():
        card.test.click()
        await until(lambda card=card: card.outcome.isVisible(), LOAD_S)  # type: ignore[misc]
        assert card.outcome.text().startswith("✓"), card.outcome.text()
    assert page.door.silence.isVisible()


async def _finished(chat: ChatPage) -> None:
    await until(lambda: chat.composer.button.accessibleName() == "Send", LOAD_S)
    await asyncio.sleep(0)


def _last(chat: ChatPage) -> Answer:
    return chat.transcript.findChildren(Answer)[-1]
