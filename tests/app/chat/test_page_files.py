"""Files on their way into a question: read one by one, held until then, never lost."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.chat.attachments import IMAGES
from app.chat.chats import ChatStore
from app.chat.page import ChatPage
from app.chat.transcript import Answer, Question
from server import tasks
from server.chat import DOCUMENTS
from server.data import sources
from server.errors import AppError
from server.face.core import FileText, ServerStatus
from tests.kit.drops import drop
from tests.kit.fake_api import Handler, api, chunk, streaming
from tests.kit.fake_core import LOADED, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


class SlowReader(FakeCore):
    """Reads documents only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.model.set(replace(LOADED, sees_images=True))

    async def read_document(self, path: str) -> FileText:
        await self.go_on.wait()
        self.take("read_document", path)
        return FileText(Path(path).name, "Slow words.")


def page_of(core: FakeCore, folder: Path, address: str = "http://127.0.0.1:9") -> ChatPage:
    core.server.set(ServerStatus("ready", address))
    return ChatPage(core, ChatStore(folder / "chats"))


def text_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(f"Words of {name}.", encoding="utf-8")
    return path


def picture(folder: Path) -> Path:
    path = folder / "chart.png"
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    image.fill("steelblue")
    image.save(str(path))
    return path


def recording(seen: list[web.Request]) -> Handler:
    return streaming(chunk({"content": "Yes."}), chunk({}, "stop"), seen=seen)


async def finished(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


async def test_all_that_the_server_reads_is_picked_and_dropped(
    shown: Shown, qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One list says what that is: that of the folders that are searched."""
    core = FakeCore.ready()
    core.document = FileText("file", "Words.")
    page = shown(page_of(core, tmp_path))
    picked = [tmp_path / f"picked{kind}" for kind in DOCUMENTS]
    dropped = [tmp_path / f"dropped{kind}" for kind in DOCUMENTS]
    filters: list[str] = []

    def pick(_parent: object, _title: str, filter: str = "") -> tuple[list[str], str]:  # noqa: A002
        filters.append(filter)
        return [str(path) for path in picked], filter

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", pick)
    page._attach_files()
    assert drop(page, *dropped)
    asked = [("read_document", str(path)) for path in (*picked, *dropped)]
    await until(lambda: set(asked) <= set(core.commands))
    offered, everything = filters[0].split(";;")
    assert everything == "All files (*)"
    listed = {kind.removeprefix("*") for kind in offered.partition("(")[2].rstrip(")").split()}
    assert listed == sources.KINDS | set(IMAGES)
    assert {".xls", ".xlsb", ".ods", ".pdf"} <= listed


async def test_a_file_picked_while_another_is_read_stays(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    core = SlowReader()
    page = shown(page_of(core, tmp_path))
    page.run(page.attach_files([tmp_path / "slow.pdf"]))
    await until(lambda: [chip.words.text() for chip in page.attached.chips] == ["Reading…"])
    await page.attach_files([text_file(tmp_path, "notes.txt")])
    assert page.attached.names() == ["slow.pdf", "notes.txt"]
    core.go_on.set()
    await until(lambda: page.attached.names() == ["notes.txt", "slow.pdf"])
    assert page.attached.chips[0].words.text() == "Text  ·  19 bytes"


async def test_a_question_waits_until_its_files_are_read(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    core = SlowReader()
    async with api(recording(seen)) as address:
        page = shown(page_of(core, tmp_path, address))
        page.composer.editor.setPlainText("What do they say?")
        await page.attach_files([text_file(tmp_path, "a.txt")])
        page.run(page.attach_files([tmp_path / "slow.pdf"]))
        await until(lambda: not page.composer.button.isEnabled())
        page.ask("A suggestion?")
        page.composer.editor.entered.emit()
        assert page.composer.editor.toPlainText() == "What do they say?"
        assert not page.transcript.findChildren(Answer)
        core.go_on.set()
        await until(page.composer.button.isEnabled)
        page.composer.button.click()
        await finished(page)
    (message,) = (await seen[0].json())["messages"]
    assert "Words of a.txt." in message["content"]
    assert "Slow words." in message["content"]
    assert page.attached.names() == []


async def test_what_is_removed_while_it_is_read_stays_away(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    core = SlowReader()
    page = shown(page_of(core, tmp_path))
    page.composer.editor.setPlainText("Hello?")
    await page.attach_files([text_file(tmp_path, "a.txt")])
    reading = tasks.spawn(page.attach_files([tmp_path / "slow.pdf"]), "reading")
    await until(lambda: not page.composer.button.isEnabled())
    for chip in list(page.attached.chips):
        chip.close_button.click()
    assert page.composer.button.isEnabled()
    core.refuse = AppError("slow.pdf is protected by a password.")
    core.go_on.set()
    await reading
    assert page.attached.names() == []
    assert not page.attached.files


async def test_a_file_that_cannot_be_read_holds_nothing_up(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    core = SlowReader()
    page = shown(page_of(core, tmp_path))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.composer.editor.setPlainText("Hello?")
    core.refuse = AppError("slow.pdf is protected by a password.")
    page.run(page.attach_files([text_file(tmp_path, "a.txt"), tmp_path / "slow.pdf"]))
    core.go_on.set()
    await until(lambda: told == ["slow.pdf is protected by a password."])
    assert page.attached.names() == ["a.txt"]
    assert page.composer.button.isEnabled()


async def test_an_edited_question_keeps_its_image(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    async with api(recording(seen)) as address:
        page = shown(page_of(SlowReader(), tmp_path, address))
        await page.attach_files([picture(tmp_path)])
        page.ask("What is it?")
        await finished(page)
        (question,) = page.transcript.findChildren(Question)
        (shown_image,) = question.pictures
        assert shown_image.accessibleName() == "chart.png"
        assert not shown_image.pixmap().isNull()
        question.edit.click()
        assert page.attached.names() == ["chart.png"]
        page.composer.editor.setPlainText("What is it really?")
        page.composer.button.click()
        await finished(page)
    first, again = [(await one.json())["messages"][0]["content"][1] for one in seen]
    assert first == again


async def test_openbb_is_asked_nothing_that_it_cannot_carry(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = shown(page_of(SlowReader(), tmp_path))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.options.protocol.setCurrentIndex(page.options.protocol.findData("openbb"))
    await page.attach_files([picture(tmp_path)])
    page.composer.editor.setPlainText("What is it?")
    page.composer.button.click()
    assert told == [
        "OpenBB's protocol does not support images. Choose another protocol in the options."
    ]
    assert page.composer.editor.toPlainText() == "What is it?"
    assert page.attached.names() == ["chart.png"]
    assert not page.transcript.findChildren(Question)
