"""Other versions of a message stay; another model may answer; a new chat begins clean."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from app.chat.attachments import Attachment
from app.chat.chats import ChatStore
from app.chat.page import ChatPage
from app.chat.transcript import Answer, Question
from server.face.core import ModelStatus, ServerStatus
from tests.kit.chat_parts import drawn
from tests.kit.fake_api import Handler, api, streaming
from tests.kit.fake_api import chunk as piece
from tests.kit.fake_core import LARGE, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


def counting(seen: list[web.Request]) -> Handler:
    """Answers with the number of the request."""

    async def handle(request: web.Request) -> web.StreamResponse:
        number = len(seen) + 1
        return await streaming(
            piece({"content": f"Answer {number}."}), piece({}, "stop"), seen=seen
        )(request)

    return handle


def page_of(address: str, folder: Path) -> ChatPage:
    core = FakeCore.ready()
    core.server.set(ServerStatus("ready", address))
    return ChatPage(core, ChatStore(folder / "chats"))


async def finished(page: ChatPage) -> None:
    await until(lambda: page.composer.button.accessibleName() == "Send")


async def ask(page: ChatPage, text: str) -> None:
    page.ask(text)
    await finished(page)


def widgets(page: ChatPage) -> list[Any]:
    body = page.transcript.body
    return [body.itemAt(at).widget() for at in range(body.count() - 1)]


def messages(page: ChatPage) -> list[str]:
    return [one.text if isinstance(one, Question) else one.text() for one in widgets(page)]


def shown_of(page: ChatPage, kind: type[Any]) -> list[Any]:
    return [one for one in widgets(page) if isinstance(one, kind)]


async def test_what_was_regenerated_or_edited_stays_as_another_version(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(counting([])) as address:
        page = shown(page_of(address, tmp_path))
        await ask(page, "First?")
        await ask(page, "Second?")
        shown_of(page, Answer)[0].retry.click()
        await finished(page)
        assert messages(page) == ["First?", "Answer 3."]
        (answer,) = shown_of(page, Answer)
        assert answer.versions.words.text() == "2 / 2"
        answer.versions.back.click()
        assert messages(page) == ["First?", "Answer 1.", "Second?", "Answer 2."]
        shown_of(page, Question)[1].edit.click()
        page.composer.editor.setPlainText("Other?")
        page.composer.button.click()
        await finished(page)
    assert messages(page) == ["First?", "Answer 1.", "Other?", "Answer 4."]
    shown_of(page, Question)[1].versions.back.click()
    assert messages(page) == ["First?", "Answer 1.", "Second?", "Answer 2."]
    (kept,) = ChatStore(tmp_path / "chats").all()
    again = shown(page_of("http://127.0.0.1:9", tmp_path))
    again.open(kept)
    await drawn(again)
    assert messages(again) == ["First?", "Answer 1.", "Second?", "Answer 2."]
    shown_of(again, Answer)[0].versions.forth.click()
    assert messages(again) == ["First?", "Answer 3."]
    shown_of(again, Answer)[0].versions.back.click()
    shown_of(again, Question)[1].versions.forth.click()
    assert messages(again) == ["First?", "Answer 1.", "Other?", "Answer 4."]


async def test_an_edit_that_is_given_up_changes_nothing(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(counting([])) as address:
        page = shown(page_of(address, tmp_path))
        await ask(page, "First?")
        await ask(page, "Second?")
        shown_of(page, Question)[1].edit.click()
        assert messages(page) == ["First?", "Answer 1."]
        shown_of(page, Question)[0].edit.click()
        assert messages(page) == []
        page.close_something()
    assert messages(page) == ["First?", "Answer 1.", "Second?", "Answer 2."]
    assert page.composer.editor.toPlainText() == ""


async def test_another_model_answers_once_and_is_named_after_a_restart(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    seen: list[web.Request] = []
    async with api(counting(seen)) as address:
        page = shown(page_of(address, tmp_path))
        await ask(page, "First?")
        menu = page.offer_models(shown_of(page, Answer)[0])
        next(one for one in menu.actions() if one.text() == LARGE.name).trigger()
        menu.close()
        await finished(page)
        await ask(page, "Second?")
    bodies = [await one.json() for one in seen]
    assert [one.get("model") for one in bodies] == [None, LARGE.name, None]
    (kept,) = ChatStore(tmp_path / "chats").all()
    page.open(kept)
    await drawn(page)
    named = [one.model for one in shown_of(page, Answer)]
    assert named == [LARGE.name, page.core.model.get().name]


async def test_the_model_is_named_and_changed_in_the_header(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    page = shown(page_of("http://127.0.0.1:9", tmp_path))
    page.resize(1400, 700)
    assert page.picker.text() == page.core.model.get().name
    turned: list[str] = []
    page.wants_page.connect(turned.append)
    menu = page.models_menu()
    assert [one.text() for one in menu.actions() if one.isChecked()] == [page.picker.text()]
    next(one for one in menu.actions() if one.text() == LARGE.name).trigger()
    await until(lambda: page.picker.accessibleName() == f"Model: {LARGE.name}")
    menu.actions()[-1].trigger()
    assert turned == ["Models"]
    page.core.model.set(ModelStatus("loading", "Q" * 90, 0.25))
    assert page.picker.accessibleName().endswith("25%")
    assert "…" in page.picker.text()
    page.core.server.set(ServerStatus("stopped"))
    assert not page.picker.isEnabled()


async def test_a_new_chat_begins_clean_and_a_draft_stays_with_its_chat(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(counting([])) as address:
        page = shown(page_of(address, tmp_path))
        page.options.system.setPlainText("Be brief.")
        await ask(page, "First?")
    page.attach([Attachment("a.txt", "Words.")])
    page.composer.editor.setPlainText("And th")
    page.new_chat.click()
    assert page.options.system.toPlainText() == ""
    assert page.attached.files == []
    assert page.composer.editor.toPlainText() == ""
    (kept,) = ChatStore(tmp_path / "chats").all()
    page.open_saved(kept.id)
    assert page.composer.editor.toPlainText() == "And th"
    assert page.options.system.toPlainText() == "Be brief."


async def test_a_chat_is_renamed_and_pinned_without_counting_as_used(
    shown: Shown, qapp: object, tmp_path: Path
) -> None:
    async with api(counting([])) as address:
        page = shown(page_of(address, tmp_path))
        await ask(page, "First?")
        store = ChatStore(tmp_path / "chats")
        (before,) = store.all()
        page.chats.renamed.emit(before.id, "My chat")
        page.chats.pinned.emit(before.id, True)
        (after,) = store.all()
        assert (after.title, after.pinned) == ("My chat", True)
        assert after.changed_at == before.changed_at
        await ask(page, "Second?")
    (later,) = store.all()
    assert (later.title, later.pinned, len(later.said)) == ("My chat", True, 4)
    page.chats.renamed.emit(before.id, "")
    assert store.all()[0].title == "First?"
