import time
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.chat.chat_list import ChatList, group_words
from app.chat.chats import Chat, Said
from tests.kit.chat_parts import item_of
from tests.kit.until import until

Shown = Callable[[Any], Any]
NOW = time.time()
CHATS = [Chat(f"c{n}", said=[Said("user", f"Chat {n}")], changed_at=NOW) for n in range(3)]


def made(shown: Shown) -> tuple[ChatList, list[str]]:
    """The list with c0 open, and what is deleted from it."""
    listed: ChatList = shown(ChatList())
    forgotten: list[str] = []
    listed.forgotten.connect(forgotten.append)
    listed.show_chats(CHATS, "c0")
    return listed, forgotten


def point(listed: ChatList, chat_id: str) -> None:
    """As the pointer does that comes over a row."""
    listed.list.itemEntered.emit(item_of(listed, chat_id))


def texts(listed: ChatList) -> list[str]:
    return [listed.list.item(row).text() for row in range(listed.list.count())]


async def test_deleting_asks_first(shown: Shown) -> None:
    listed, forgotten = made(shown)
    assert not listed.sure.isVisible()
    point(listed, "c1")
    assert listed.row_actions.forget.accessibleName() == "Delete Chat 1"
    listed.row_actions.forget.click()
    assert "“Chat 1”" in listed.question.text()
    assert listed.sure.accessibleName() == "Confirm: delete Chat 1"
    listed.keep.click()
    assert not listed.sure.isVisible()
    assert forgotten == []
    QTest.keyClick(listed.list, Qt.Key.Key_Delete)
    listed.sure.click()
    assert forgotten == ["c1"]
    assert not listed.sure.isVisible()


async def test_the_chosen_one_stays_chosen_when_the_list_comes_anew(shown: Shown) -> None:
    listed, forgotten = made(shown)
    point(listed, "c2")
    listed.row_actions.forget.click()
    listed.show_chats([CHATS[1], CHATS[0], CHATS[2]], "c0")
    assert listed.list.currentItem().text() == "Chat 2"
    listed.sure.click()
    assert forgotten == ["c2"]


async def test_the_question_is_about_no_other_chat(shown: Shown) -> None:
    listed, _ = made(shown)
    point(listed, "c2")
    listed.row_actions.forget.click()
    listed.list.setCurrentItem(item_of(listed, "c1"))
    assert not listed.sure.isVisible()
    QTest.keyClick(listed.list, Qt.Key.Key_Delete)
    assert listed.sure.isVisible()
    listed.show_chats([CHATS[0], CHATS[2]], "c0")
    assert not listed.sure.isVisible()
    assert listed.list.currentItem().text() == "Chat 0"


async def test_another_chat_that_is_opened_is_the_chosen_one(shown: Shown) -> None:
    listed, _ = made(shown)
    listed.list.setCurrentItem(item_of(listed, "c2"))
    listed.show_chats(CHATS, "c1")
    assert listed.list.currentItem().text() == "Chat 1"


async def test_pinned_chats_come_first_and_the_others_by_date(shown: Shown) -> None:
    listed, _ = made(shown)
    old = Chat("old", said=[Said("user", "Old")], changed_at=1.0)
    pinned = Chat("pin", said=[Said("user", "First")], changed_at=1.0, pinned=True)
    listed.show_chats([*CHATS, old, pinned], "c0")
    assert texts(listed) == [
        "Pinned",
        "First",
        "Today",
        "Chat 0",
        "Chat 1",
        "Chat 2",
        "Older",
        "Old",
    ]
    told: list[tuple[str, bool]] = []
    listed.pinned.connect(lambda *one: told.append(one))
    for chat_id in ("c1", "pin"):
        point(listed, chat_id)
        listed.row_actions.pin.click()
    assert told == [("c1", True), ("pin", False)]
    opened: list[str] = []
    listed.opened.connect(opened.append)
    listed.list.itemClicked.emit(listed.list.item(0))
    assert opened == []


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (20, "Today"),
        (21, "Today"),
        (19, "Yesterday"),
        (14, "Previous 7 days"),
        (1, "Previous 30 days"),
    ],
)
def test_a_chat_stands_under_its_date(day: int, words: str) -> None:
    chat = Chat(changed_at=datetime(2026, 10, day, 23, 59).timestamp())
    assert group_words(chat, date(2026, 10, 20)) == words


async def test_a_chat_is_renamed_in_its_row_and_a_list_that_comes_meanwhile_waits(
    shown: Shown,
) -> None:
    listed, _ = made(shown)
    told: list[tuple[str, str]] = []
    listed.renamed.connect(lambda *one: told.append(one))
    listed.list.setCurrentItem(item_of(listed, "c1"))
    QTest.keyClick(listed.list, Qt.Key.Key_F2)
    editor = listed.list.findChild(QLineEdit)
    listed.show_chats(CHATS[:2], "c0")
    assert editor.isVisible()
    editor.setText("  My bonds ")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    await until(lambda: told == [("c1", "My bonds")])
    await until(lambda: item_of(listed, "c2") is None)
