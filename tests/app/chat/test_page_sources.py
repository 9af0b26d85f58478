"""Files that do not fit and folders: chips that stay, passages that go along and are cited."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from app.chat.attachments import LARGEST
from app.chat.chats import ChatStore
from app.chat.page import ChatPage
from app.chat.transcript import Answer
from server.errors import AppError
from server.face.core import FoundPassage, ServerStatus, SourceCard
from tests.kit.drops import drop
from tests.kit.fake_api import answering, api, chunk, streaming
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]
FOUND = [
    FoundPassage("report.pdf", "/r/report.pdf", 3, "", "The lease ends in 2031."),
    FoundPassage("people.xlsx", "/r/people.xlsx", 0, "Board", "Okafor | risk"),
]


def page_of(folder: Path, address: str = "http://127.0.0.1:9") -> ChatPage:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    core.sources.passages = list(FOUND)
    return ChatPage(core, ChatStore(folder / "chats"))


async def finished(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


def last_answer(page: ChatPage) -> Answer:
    return page.transcript.findChildren(Answer)[-1]


def places(page: ChatPage) -> str:
    return last_answer(page).sources.places.text().replace("\N{NO-BREAK SPACE}", " ")


async def test_a_folder_that_is_dropped_is_searched_for_each_question(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    research = tmp_path / "research"
    research.mkdir()
    handler = streaming(chunk({"content": "In 2031 [1]."}), chunk({}, "stop"), seen=seen)
    async with api(handler) as address:
        page = shown(page_of(tmp_path, address))
        assert drop(page, research)
        await until(lambda: page.attached.names() == ["research"])
        await until(lambda: page.attached.chips[0].words.text() == "Folder  ·  1 files searched")
        for question in ("When does it end?", "And who signs?"):
            page.ask(question)
            await finished(page)
    asked = [one for one in page.core.commands if one[0] == "sources.find"]
    assert asked[1] == ("sources.find", [str(research)], "And who signs?", 6)
    first, _, last = (await seen[1].json())["messages"]
    assert first["content"] == "When does it end?"
    assert "[1] report.pdf, page 3:\n```\nThe lease ends in 2031.\n```" in last["content"]
    assert "[2] people.xlsx, Board:" in last["content"]
    assert "[1] report.pdf, page 3" in places(page)
    (kept,) = ChatStore(tmp_path / "chats").all()
    assert kept.sources == [str(research)]
    again = shown(page_of(tmp_path))
    again.open(kept)
    assert again.attached.names() == ["research"]
    assert "page 3" in places(again)


async def test_a_file_that_does_not_fit_is_searched_and_says_so(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("word " * LARGEST)
    page = shown(page_of(tmp_path))
    await page.attach_files([long])
    assert page.attached.files == []
    assert page.attached.sources == [str(long)]
    assert "not read whole" in page.attached.words.text()
    page.core.sources.cards.set((SourceCard(str(long), "reading", 0, 1),))
    assert page.attached.chips[0].words.text() == "Text  ·  0 of 1 files read"
    unread = SourceCard(str(long), "ready", files=1, passages=3, notes=("Page 3 is a picture.",))
    page.core.sources.cards.set((unread,))
    chip = page.attached.chips[0]
    assert chip.words.text().endswith("Not everything could be read")
    assert chip.toolTip() == f"{long}\nPage 3 is a picture."
    page.attached.chips[0].close_button.click()
    assert page.attached.names() == []
    await until(lambda: ("sources.forget", str(long)) in page.core.commands)


async def test_a_source_of_another_chat_stays_in_the_index(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    research = tmp_path / "research"
    research.mkdir()
    async with api(answering("Yes.")) as address:
        page = shown(page_of(tmp_path, address))
        page.attached.add_source(research)
        page.ask("One?")
        await finished(page)
        page.new_chat.click()
        assert page.attached.names() == []
        page.attached.add_source(research)
        page.attached.chips[0].close_button.click()
        await until(lambda: ("sources.stop", str(research)) in page.core.commands)
        (kept,) = ChatStore(tmp_path / "chats").all()
        page.chats.forgotten.emit(kept.id)
        await until(lambda: ("sources.forget", str(research)) in page.core.commands)


async def test_a_source_that_is_gone_does_not_hold_up_the_answer(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(answering("Yes.")) as address:
        page = shown(page_of(tmp_path, address))
        page.attached.sources = [str(tmp_path / "gone")]
        page.core.refuse = AppError("There is no file or folder /gone.")
        page.ask("One?")
        await finished(page)
    assert last_answer(page).text() == "Yes."
    assert "no file or folder" in last_answer(page).steps.text()
