from collections.abc import Callable
from typing import Any

from app.chat.chats import Chat, ChatList, Said

Shown = Callable[[Any], Any]
CHATS = [Chat(f"c{n}", said=[Said("user", f"Chat {n}")]) for n in range(3)]


def made(shown: Shown) -> tuple[ChatList, list[str]]:
    """The list with c0 open, and what is deleted from it."""
    listed: ChatList = shown(ChatList())
    forgotten: list[str] = []
    listed.forgotten.connect(forgotten.append)
    listed.show_chats(CHATS, "c0")
    return listed, forgotten


async def test_deleting_asks_first(shown: Shown) -> None:
    listed, forgotten = made(shown)
    assert not listed.sure.isVisible()
    listed.list.setCurrentRow(1)
    listed.forget.click()
    assert "“Chat 1”" in listed.question.text()
    assert listed.sure.accessibleName() == "Confirm: delete Chat 1"
    listed.keep.click()
    assert not listed.sure.isVisible()
    assert forgotten == []
    listed.forget.click()
    listed.sure.click()
    assert forgotten == ["c1"]
    assert not listed.sure.isVisible()


async def test_the_chosen_one_stays_chosen_when_the_list_comes_anew(shown: Shown) -> None:
    listed, forgotten = made(shown)
    listed.list.setCurrentRow(2)
    listed.forget.click()
    listed.show_chats([CHATS[1], CHATS[0], CHATS[2]], "c0")
    assert listed.list.currentItem().text() == "Chat 2"
    listed.sure.click()
    assert forgotten == ["c2"]


async def test_the_question_is_about_no_other_chat(shown: Shown) -> None:
    listed, _ = made(shown)
    listed.list.setCurrentRow(2)
    listed.forget.click()
    listed.list.setCurrentRow(1)
    assert not listed.sure.isVisible()
    listed.forget.click()
    listed.show_chats([CHATS[0], CHATS[2]], "c0")
    assert not listed.sure.isVisible()
    assert listed.list.currentItem().text() == "Chat 0"


async def test_another_chat_that_is_opened_is_the_chosen_one(shown: Shown) -> None:
    listed, _ = made(shown)
    listed.list.setCurrentRow(2)
    listed.show_chats(CHATS, "c1")
    assert listed.list.currentItem().text() == "Chat 1"
