import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat import transcript
from app.chat.chats import ChatStore
from app.chat.page import ChatPage
from app.chat.transcript import Answer, AnswerBody, Question
from server.errors import AppError
from server.face.core import ModelStatus, ServerStatus
from server.settings import Settings
from tests.kit.chat_parts import plain_text
from tests.kit.fake_api import answering, api, chunk, streaming
from tests.kit.fake_core import LARGE, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


def serving(address: str) -> FakeCore:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    return core


def answers(page: ChatPage) -> list[Answer]:
    return page.transcript.findChildren(Answer)


async def finished(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


async def test_a_question_is_answered(qtbot: QtBot, shown: Shown) -> None:
    async with api(answering("Hel", "lo **you**")) as address:
        page = shown(ChatPage(serving(address)))
        qtbot.keyClicks(page.composer.editor, "Hi")
        qtbot.keyClick(page.composer.editor, Qt.Key.Key_Return)
        await finished(page)
    (answer,) = answers(page)
    assert answer.text() == "Hello **you**"
    assert plain_text(answer.view) == "Hello you"
    assert answer.footer.text().startswith("2 tokens")
    assert page.composer.editor.toPlainText() == ""
    assert not page.empty.isVisible()


async def test_the_next_question_carries_the_conversation(shown: Shown, qapp: object) -> None:
    seen: list[web.Request] = []
    handler = streaming(chunk({"content": "One."}), chunk({}, "stop"), seen=seen)
    async with api(handler) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("First?")
        await finished(page)
        page.ask("Second?")
        await finished(page)
    body = await seen[1].json()
    assert body["messages"] == [
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second?"},
    ]


async def test_an_answer_can_be_stopped(shown: Shown, qapp: object) -> None:
    hold = asyncio.Event()
    async with api(streaming(chunk({"content": "Once upon"}), hold=hold)) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        (answer,) = answers(page)
        await until(lambda: plain_text(answer.view) == "Once upon")
        assert page.composer.button.accessibleName() == "Stop the answer"
        page.composer.button.click()
        await finished(page)
        hold.set()
    assert answer.footer.text().startswith("Stopped")
    assert not answer.failure.isVisible()


async def test_escape_stops_too(qtbot: QtBot, shown: Shown) -> None:
    hold = asyncio.Event()
    async with api(streaming(chunk({"content": "Once"}), hold=hold)) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        await until(lambda: plain_text(answers(page)[0].view) == "Once")
        qtbot.keyClick(page.composer.editor, Qt.Key.Key_Escape)
        await finished(page)
        hold.set()


async def test_a_failure_is_shown_with_what_came_before(shown: Shown, qapp: object) -> None:
    error = {"error": {"message": "The engine stopped.", "code": "engine_crashed"}}
    async with api(streaming(chunk({"content": "Once"}), error)) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        await finished(page)
    (answer,) = answers(page)
    assert answer.failure.isVisible()
    assert answer.failure.text.text() == "The engine stopped."
    assert plain_text(answer.view) == "Once"


async def test_a_line_without_end_fails_the_turn_and_the_next_one_can_begin(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    endless = chunk({"content": "x" * 3 * 2**20})
    async with api(streaming(chunk({"content": "Once"}), endless)) as address:
        page = shown(ChatPage(serving(address), ChatStore(tmp_path)))
        page.ask("A story, please.")
        await finished(page)
    (answer,) = answers(page)
    assert "does not understand" in answer.failure.text.text()
    await until(lambda: ChatStore(tmp_path).all())
    (kept,) = ChatStore(tmp_path).all()
    assert [one.text for one in kept.said] == ["A story, please.", "Once"]


async def test_whatever_fails_in_a_turn_is_told_and_ends_it(
    shown: Shown, qapp: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with api(streaming(chunk({"content": "Once"}), {"no": "choices"})) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        await finished(page)
    (answer,) = answers(page)
    assert (
        answer.failure.text.text() == "The server sent something this window does not understand."
    )
    assert plain_text(answer.view) == "Once"
    assert "KeyError" in caplog.text


async def test_an_answer_that_cannot_be_drawn_says_so_and_ends_the_turn(
    shown: Shown, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_self: object, _text: str) -> None:
        raise ZeroDivisionError

    async with api(answering("Once")) as address:
        page = shown(ChatPage(serving(address)))
        monkeypatch.setattr(transcript, "_RENDER_MS", 60_000)
        monkeypatch.setattr(AnswerBody, "show_text", stumble)
        page.ask("A story, please.")
        await finished(page)
    assert answers(page)[0].failure.isVisible()


async def test_a_suggestion_waits_until_the_answer_is_over(shown: Shown, qapp: object) -> None:
    hold = asyncio.Event()
    async with api(streaming(chunk({"content": "Once"}, "stop"), hold=hold)) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        (answer,) = answers(page)
        await until(answer.text)
        answer.suggested.emit("And then?")
        assert len(answers(page)) == 1
        assert page.composer.editor.toPlainText() == "And then?"
        hold.set()
        await finished(page)
        page.composer.button.click()
        await finished(page)
    assert [one.text() for one in answers(page)] == ["Once", "Once"]


async def test_a_server_that_is_gone_is_said(shown: Shown, qapp: object) -> None:
    page = shown(ChatPage(serving("http://127.0.0.1:9")))
    page.ask("Hello?")
    await finished(page)
    assert "does not respond" in answers(page)[0].failure.text.text()


async def test_the_key_is_sent_when_the_server_asks_for_it(shown: Shown, qapp: object) -> None:
    seen: list[web.Request] = []
    async with api(streaming(chunk({}, "stop"), seen=seen)) as address:
        core = serving(address)
        core.settings.set(Settings().changed("server.require_key", True))
        page = shown(ChatPage(core))
        page.ask("Hi")
        await finished(page)
    assert seen[0].headers["Authorization"] == "Bearer the-access-key"


async def test_reasoning_is_folded_away(shown: Shown, qapp: object) -> None:
    handler = streaming(
        chunk({"reasoning_content": "Let me see."}), chunk({"content": "4"}), chunk({}, "stop")
    )
    async with api(handler) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("2 + 2?")
        await finished(page)
    (answer,) = answers(page)
    assert answer.text() == "4"
    assert not answer.thoughts.isVisible()
    answer.thinking.click()
    assert answer.thoughts.isVisible()
    assert answer.thoughts.text() == "Let me see."


async def test_a_new_chat_begins_empty_even_in_mid_answer(shown: Shown, qapp: object) -> None:
    hold = asyncio.Event()
    seen: list[web.Request] = []
    async with api(streaming(chunk({"content": "Once"}), seen=seen, hold=hold)) as address:
        page = shown(ChatPage(serving(address)))
        page.ask("A story, please.")
        await until(lambda: answers(page) and answers(page)[0].text())
        page.new_chat.click()
        assert page.empty.isVisible()
        await until(lambda: not page.transcript.findChildren(Question))
        hold.set()
        page.ask("Something else.")
        await until(lambda: len(seen) == 2)
        page.stop()
        await finished(page)
    body = await seen[1].json()
    assert body["messages"] == [{"role": "user", "content": "Something else."}]


async def test_the_empty_page_says_what_to_do(core: FakeCore, shown: Shown) -> None:
    page = shown(ChatPage(core))
    assert page.empty.title.text() == "Ask SmolLM2-135M-Instruct"
    core.model.set(ModelStatus("loading", "Qwen3-8B", 0.5))
    assert page.empty.title.text() == "Loading Qwen3-8B"
    core.model.set(ModelStatus("failed", "Qwen3-8B", reason="Too large."))
    assert page.empty.text.text() == "Too large."
    wanted: list[str] = []
    page.wants_page.connect(wanted.append)
    page.empty.action.click()
    assert wanted == ["Home"]
    core.server.set(ServerStatus("stopped"))
    assert page.empty.title.text() == "Moat is stopped"
    page.empty.action.click()
    await until(lambda: core.commands == [("start",)])


async def test_a_suggestion_is_asked(shown: Shown, qapp: object) -> None:
    async with api(answering("Yes.")) as address:
        page = shown(ChatPage(serving(address)))
        page.empty.suggestions[0].click()
        await finished(page)
    assert answers(page)[0].text() == "Yes."


async def test_nothing_is_sent_while_stopped(qtbot: QtBot, core: FakeCore, shown: Shown) -> None:
    core.server.set(ServerStatus("stopped"))
    page = shown(ChatPage(core))
    qtbot.keyClicks(page.composer.editor, "Hi")
    qtbot.keyClick(page.composer.editor, Qt.Key.Key_Return)
    assert page.composer.editor.toPlainText() == "Hi"
    assert not page.composer.button.isEnabled()


async def test_a_refused_start_is_told(shown: Shown, qapp: QApplication) -> None:
    core = FakeCore()
    core.refuse = AppError("No.")
    page = shown(ChatPage(core))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.empty.action.click()
    await until(lambda: told == ["No."])


async def test_after_a_suggestion_the_keyboard_is_at_the_message(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(answering("Sleep well.")) as address:
        page = shown(ChatPage(serving(address), ChatStore(tmp_path)))
        page.empty.suggestions[0].setFocus(Qt.FocusReason.MouseFocusReason)
        page.empty.suggestions[0].click()
        await finished(page)
    assert page.focusWidget() is page.composer.editor


@pytest.mark.parametrize("language", ["", "de", "zh"])
def test_no_option_is_cut_where_the_panel_scrolls(
    core: FakeCore, shown: Shown, speak: Callable[[str], None], language: str, tmp_path: Path
) -> None:
    if language:
        speak(language)
    page = shown(ChatPage(core, ChatStore(tmp_path)))
    page.resize(640, 400)
    page.show_options.setChecked(True)
    QApplication.processEvents()
    inner, options = page.options.widget(), page.options
    assert options.verticalScrollBar().maximum() > 0
    assert inner.width() <= options.viewport().width()


def test_the_menu_of_models_stays_within_the_window(core: FakeCore, shown: Shown) -> None:
    core.models.cards.set((replace(LARGE, name="very-long-name-" * 12),))
    page = shown(ChatPage(core))
    assert page.models_menu().sizeHint().width() < 640
