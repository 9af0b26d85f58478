"""An answer that is asked for again takes the place of the old one only when it comes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.chat.chats import Chat, ChatStore, Said
from app.chat.page import ChatPage
from app.chat.transcript import Answer, Question
from server.face.core import ServerStatus
from tests.kit.chat_parts import drawn
from tests.kit.fake_api import api, chunk, streaming
from tests.kit.fake_core import SERVING, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]
SAID = ["One?", "First.", "Two?", "Second."]


async def open_chat(shown: Shown, folder: Path, address: str) -> ChatPage:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    store = ChatStore(folder)
    roles = ("user", "assistant")
    store.keep(Chat(said=[Said(roles[n % 2], text) for n, text in enumerate(SAID)]))
    page: ChatPage = shown(ChatPage(core, store))
    page.open(store.all()[0])
    await drawn(page)
    return page


def messages(page: ChatPage) -> list[str]:
    """As they are shown, from the top."""
    body = page.transcript.body
    found = [body.itemAt(at).widget() for at in range(body.count() - 1)]
    return [one.text if isinstance(one, Question) else one.text() for one in found]


def answers(page: ChatPage) -> list[Answer]:
    found = [one for one in page.transcript.findChildren(Answer) if one.isVisible()]
    return sorted(found, key=lambda answer: answer.place)


def kept(folder: Path) -> list[str]:
    (chat,) = ChatStore(folder).all()
    return [one.text for one in chat.said]


async def over(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


async def test_without_a_new_answer_the_old_one_and_all_after_it_stay(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = await open_chat(shown, tmp_path, "http://127.0.0.1:9")
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    answers(page)[0].retry.click()
    await over(page)
    assert kept(tmp_path) == SAID
    assert messages(page) == SAID
    assert "does not respond" in told[0]


async def test_an_empty_answer_takes_no_place_either(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(streaming(chunk({}, "stop"))) as address:
        page = await open_chat(shown, tmp_path, address)
        told: list[str] = []
        page.failed.connect(lambda error: told.append(str(error)))
        answers(page)[0].retry.click()
        await over(page)
    assert (kept(tmp_path), messages(page)) == (SAID, SAID)
    assert told == ["The model returned an empty answer."]


@pytest.mark.parametrize("leave", [ChatPage.stop, ChatPage.clear])
async def test_one_that_is_stopped_or_left_before_it_came_takes_none(
    leave: Callable[[ChatPage], None], shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    async with api(streaming(hold=hold)) as address:
        page = await open_chat(shown, tmp_path, address)
        answers(page)[0].retry.click()
        leave(page)
        await over(page)
        hold.set()
    assert kept(tmp_path) == SAID


async def test_a_second_one_does_not_forget_what_the_first_was_to_replace(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = await open_chat(shown, tmp_path, "http://127.0.0.1:9")
    first, second = answers(page)
    second.retry.click()
    first.retry.click()
    await over(page)
    assert (kept(tmp_path), messages(page)) == (SAID, SAID)


async def test_what_came_takes_its_place(shown: Shown, qapp: object, tmp_path: Path) -> None:
    async with api(streaming(chunk({"content": "New."}), chunk({}, "stop"))) as address:
        page = await open_chat(shown, tmp_path, address)
        answers(page)[0].retry.click()
        await over(page)
    assert (kept(tmp_path), messages(page)) == (["One?", "New."], ["One?", "New."])


async def test_nothing_can_be_asked_again_while_nobody_serves(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = await open_chat(shown, tmp_path, "http://127.0.0.1:9")
    page.core.server.set(ServerStatus("stopped"))
    page.open(page._store.all()[0])
    await drawn(page)
    assert not any(one.retry.isEnabled() for one in answers(page))
    page.core.server.set(SERVING)
    assert all(one.retry.isEnabled() for one in answers(page))
