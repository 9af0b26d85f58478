"""What a chat keeps of an answer that one does not wait for."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.chat.chats import Chat, ChatStore, Said
from app.chat.page import ChatPage
from app.chat.transcript import Answer, Question
from server.face.core import ServerStatus
from tests.kit.chat_parts import drawn, item_of, plain_text
from tests.kit.fake_api import api, chunk, streaming
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]
QUESTION = "A story, please."


def page_of(address: str, store: ChatStore) -> ChatPage:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    return ChatPage(core, store)


async def ask(page: ChatPage) -> Answer:
    """Until the answer has begun."""
    page.ask(QUESTION)
    answer = page.transcript.findChildren(Answer)[-1]
    await until(answer.text)
    return answer


def kept(store: ChatStore) -> list[list[str]]:
    return [[said.text for said in chat.said] for chat in store.all()]


async def test_a_question_is_kept_before_its_answer_is_over(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    store = ChatStore(tmp_path)
    async with api(streaming(chunk({"content": "Once"}), hold=hold)) as address:
        page = shown(page_of(address, store))
        await ask(page)
        assert kept(store) == [[QUESTION]]
        assert item_of(page.chats, store.all()[0].id)
        hold.set()


async def test_a_new_chat_leaves_the_question_and_what_came_in_the_old_one(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    store = ChatStore(tmp_path)
    async with api(streaming(chunk({"content": "Once"}), hold=hold)) as address:
        page = shown(page_of(address, store))
        await ask(page)
        page.new_chat.click()
        assert page.composer.button.accessibleName() == "Send"
        assert kept(store) == [[QUESTION, "Once"]]
        page.open(store.all()[0])
        assert page.transcript.findChildren(Answer)[-1].text() == "Once"
        hold.set()


async def test_an_answer_can_be_stopped_before_it_has_begun(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = shown(page_of("http://127.0.0.1:9", ChatStore(tmp_path)))
    page.ask(QUESTION)
    page.stop()
    await until(lambda: page.composer.button.accessibleName() == "Send")
    assert page.transcript.findChildren(Answer)[0].footer.text() == "Stopped"


async def test_turning_to_another_chat_keeps_what_came_too(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    store = ChatStore(tmp_path)
    store.keep(Chat("other", said=[Said("user", "Earlier."), Said("assistant", "Yes.")]))
    async with api(streaming(chunk({"content": "Once"}), hold=hold)) as address:
        page = shown(page_of(address, store))
        await ask(page)
        page.chats.opened.emit("other")
        assert kept(store) == [[QUESTION, "Once"], ["Earlier.", "Yes."]]
        hold.set()


async def test_a_chat_that_is_deleted_in_mid_answer_does_not_come_back(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    store = ChatStore(tmp_path)
    async with api(streaming(chunk({"content": "Once"}), hold=hold)) as address:
        page = shown(page_of(address, store))
        await ask(page)
        page.chats.forgotten.emit(store.all()[0].id)
        assert page.empty.isVisible()
        hold.set()
        await ask(page)
        page.stop()
        await until(lambda: page.composer.button.accessibleName() == "Send")
    assert kept(store) == [[QUESTION, "Once"]]


async def test_earlier_messages_come_above_an_answer_that_goes_on(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    hold = asyncio.Event()
    said = [Said(("user", "assistant")[n % 2], f"Message {n}") for n in range(100)]
    async with api(streaming(chunk({"content": "Once"}), chunk({}, "stop"), hold=hold)) as address:
        page = shown(page_of(address, ChatStore(tmp_path)))
        page.open(Chat(said=said))
        await drawn(page)
        answer = await ask(page)
        page.transcript.body.itemAt(0).widget().click()
        await drawn(page)
        assert page.composer.button.accessibleName() == "Stop the answer"
        oldest = page.transcript.body.itemAt(1).widget()
        assert isinstance(oldest, Question)
        assert oldest.place == 20
        await until(oldest.isVisible)
        assert answer.isVisible()
        hold.set()
        await until(lambda: page.composer.button.accessibleName() == "Send")
    assert plain_text(answer.view) == "Once"
