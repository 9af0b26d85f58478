"""The chat as a tester: again, edited, kept, in another protocol, with files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.attachments import Attachment
from app.chat.chats import Chat, ChatStore, Said
from app.chat.page import ChatPage
from app.chat.transcript import Answer, Question
from server.errors import AppError
from server.face.core import ModelStatus, ServerStatus
from tests.kit.chat_parts import drawn, item_of
from tests.kit.fake_api import USAGE, answering, api, chunk, streaming
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


def serving(address: str) -> FakeCore:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    return core


async def ask(page: ChatPage, text: str) -> None:
    page.ask(text)
    await finished(page)


async def finished(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


def visible(page: ChatPage, kind: type[Any]) -> list[Any]:
    found = [one for one in page.transcript.findChildren(kind) if one.isVisible()]
    return sorted(found, key=lambda message: message.place)


async def test_an_answer_is_given_again(shown: Shown, qapp: object, tmp_path: Path) -> None:
    seen: list[web.Request] = []
    handler = streaming(chunk({"content": "One."}), chunk({}, "stop"), seen=seen)
    async with api(handler) as address:
        page = shown(ChatPage(serving(address), ChatStore(tmp_path)))
        await ask(page, "First?")
        (answer,) = visible(page, Answer)
        answer.retry.click()
        await finished(page)
    assert await seen[0].json() == await seen[1].json()
    assert len(visible(page, Answer)) == 1
    (kept,) = ChatStore(tmp_path).all()
    assert [one.text for one in kept.said] == ["First?", "One."]


async def test_a_question_is_edited_and_asked_again(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    handler = streaming(chunk({"content": "Yes."}), chunk({}, "stop"), seen=seen)
    async with api(handler) as address:
        page = shown(ChatPage(serving(address), ChatStore(tmp_path)))
        await ask(page, "First?")
        await ask(page, "Second?")
        visible(page, Question)[1].edit.click()
        assert page.composer.editor.toPlainText() == "Second?"
        assert len(visible(page, Question)) == 1
        page.composer.editor.setPlainText("Other?")
        page.composer.button.click()
        await finished(page)
    body = await seen[2].json()
    assert [one["content"] for one in body["messages"]] == ["First?", "Yes.", "Other?"]


async def test_chats_are_kept_searched_opened_and_deleted(
    qtbot: QtBot, shown: Shown, tmp_path: Path
) -> None:
    store = ChatStore(tmp_path)
    async with api(answering("A ditch.")) as address:
        page = shown(ChatPage(serving(address), store))
        await ask(page, "What is a moat?")
        page.new_chat.click()
        await ask(page, "What is a bond?")
    moat, bond = (chat.id for chat in reversed(store.all()))
    assert item_of(page.chats, moat)
    assert item_of(page.chats, bond)
    page.chats.search.setText("MOAT")
    assert not item_of(page.chats, bond)
    page.chats.list.itemClicked.emit(item_of(page.chats, moat))
    await until(lambda: [one.text for one in visible(page, Question)] == ["What is a moat?"])
    assert [one.text() for one in visible(page, Answer)] == ["A ditch."]
    page.chats.search.clear()
    qtbot.keyClick(page.chats.list, Qt.Key.Key_Delete)
    page.chats.sure.click()
    assert [one.title for one in store.all()] == ["What is a bond?"]
    assert page.empty.isVisible()


async def test_system_prompt_sampling_and_raw_events(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    handler = streaming(chunk({"content": "Ja."}), chunk({}, "stop"), USAGE, seen=seen)
    async with api(handler) as address:
        core = serving(address)
        core.model.set(ModelStatus("ready", "m", 1.0, context_tokens=8192))
        page = shown(ChatPage(core, ChatStore(tmp_path)))
        page.show_options.click()
        page.options.raw.click()
        page.options.system.setPlainText("Answer in German.")
        page.options.temperature.slider.setValue(1)
        await ask(page, "Hello?")
    body = await seen[0].json()
    assert body["messages"][0] == {"role": "system", "content": "Answer in German."}
    assert body["temperature"] == 0.0
    lines = page.raw.lines.toPlainText().splitlines()
    assert lines[0] == "POST /v1/chat/completions  200"
    assert lines[-1] == "data: [DONE]"
    assert page.used.text() == "7 of 8,192 tokens of context used"
    assert not page.chats.isVisible()
    page.show_options.click()
    assert page.chats.isVisible()
    assert not page.options.isVisible()


async def test_the_protocol_decides_what_can_be_chosen(
    shown: Shown, core: FakeCore, tmp_path: Path
) -> None:
    page = shown(ChatPage(core, ChatStore(tmp_path)))
    page.show_options.click()
    page.options.protocol.setCurrentIndex(1)
    assert page.options.options().protocol == "openbb"
    assert not page.options.system.isEnabled()
    assert page.options.note.isVisible()


async def test_files_go_along_once(shown: Shown, qapp: object, tmp_path: Path) -> None:
    seen: list[web.Request] = []
    handler = streaming(chunk({"content": "3"}), chunk({}, "stop"), seen=seen)
    async with api(handler) as address:
        page = shown(ChatPage(serving(address), ChatStore(tmp_path / "chats")))
        page.attach([Attachment("p.csv", "a\n1\n2")])
        assert page.attached.names() == ["p.csv"]
        page.attached.chips[0].close_button.click()
        assert page.attached.names() == []
        page.attach([Attachment("p.csv", "a\n1\n2")])
        await ask(page, "Sum?")
    assert page.attached.names() == []
    body = await seen[0].json()
    assert body["messages"][0]["content"] == "Sum?\n\np.csv:\n```csv\na\n1\n2\n```"
    await page.export_to(tmp_path / "chat.md")
    assert "## Answer\n\n3\n" in (tmp_path / "chat.md").read_text(encoding="utf-8")
    with pytest.raises(AppError, match="exported"):
        await page.export_to(tmp_path / "chat.md" / "x.md")


async def test_a_long_chat_opens_with_its_end_and_shows_more_when_asked(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = shown(ChatPage(FakeCore.ready(), ChatStore(tmp_path)))
    said = [Said(("user", "assistant")[n % 2], f"Message {n}") for n in range(100)]
    page.open(Chat(said=said))
    assert [one.place for one in visible(page, Question)] == [98]
    await until(lambda: [one.place for one in visible(page, Question)][:1] == [60])
    await drawn(page)
    earlier = page.transcript.body.itemAt(0).widget()
    assert earlier.text() == "Show 60 earlier messages"
    earlier.click()
    await until(lambda: min(one.place for one in visible(page, Question)) == 20)
    await drawn(page)
    page.transcript.body.itemAt(0).widget().click()
    await until(lambda: len(visible(page, Question)) == 50)
    shown_places = [page.transcript.body.itemAt(at).widget().place for at in range(100)]
    assert shown_places == list(range(100))
    assert page.transcript.verticalScrollBar().value() == 0
