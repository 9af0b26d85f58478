from pathlib import Path

import pytest

from app.attachments import LARGEST, Attachment, NotAttached, joined, read
from app.chats import Chat, ChatNotKept, ChatStore, Said
from server.chat import Message

ASKED = [Said("user", "What is a Moat?\nPlease."), Said("assistant", "A ditch.")]


def test_a_chat_is_kept_found_and_forgotten(tmp_path: Path) -> None:
    store = ChatStore(tmp_path / "chats")
    assert store.all() == []
    chat = Chat(system="Be brief.", said=list(ASKED))
    store.keep(chat)
    (found,) = store.all()
    assert found == chat
    assert found.title == "What is a Moat?"
    assert found.matches("DITCH")
    assert not found.matches("castle")
    store.forget(chat.id)
    assert store.all() == []


def test_the_newest_comes_first_and_an_empty_one_is_not_kept(tmp_path: Path) -> None:
    store = ChatStore(tmp_path)
    store.keep(Chat())
    assert store.all() == []
    first, second = (Chat(said=list(ASKED)) for _ in range(2))
    store.keep(first)
    store.keep(second)
    store.keep(first)
    assert [one.id for one in store.all()] == [first.id, second.id]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"said": 3}', '{"said": [{"role": "x"}]}', "\0"])
def test_a_damaged_file_is_passed_over_and_stays(tmp_path: Path, text: str) -> None:
    store = ChatStore(tmp_path)
    store.keep(Chat(said=list(ASKED)))
    broken = tmp_path / "broken.json"
    broken.write_text(text, encoding="utf-8")
    assert len(store.all()) == 1
    assert broken.exists()


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "chats").write_text("a file where the folder should be")
    with pytest.raises(ChatNotKept, match="could not be kept"):
        ChatStore(tmp_path / "chats").keep(Chat(said=list(ASKED)))


def test_what_is_sent_begins_with_the_system_prompt() -> None:
    chat = Chat(system="Be brief.", said=list(ASKED[:1]))
    assert chat.messages() == [Message("system", "Be brief."), Message("user", ASKED[0].text)]
    assert Chat(said=list(ASKED[:1])).messages() == [Message("user", ASKED[0].text)]


def test_it_is_exported_as_markdown() -> None:
    text = Chat(system="Be brief.", said=list(ASKED)).as_markdown()
    assert text.startswith("# What is a Moat?\n\n> Be brief.")
    assert "## Answer\n\nA ditch.\n" in text


def test_a_file_goes_along_in_a_fence_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("\ufeffa,b\n1,2\n", encoding="utf-8")
    attached = read(path)
    assert joined("Sum it.", [attached]) == "Sum it.\n\nprices.csv:\n```csv\na,b\n1,2\n```"
    tricky = joined("x", [Attachment("a.md", "```\ncode\n```")])
    assert "````\n```\ncode\n```\n````" in tricky


def test_what_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    for name, held in (
        ("a.bin", b"\xff\xfe\x00"),
        ("b.bin", b"a\0b"),
        ("c.txt", b"x" * (LARGEST + 1)),
    ):
        (tmp_path / name).write_bytes(held)
        with pytest.raises(NotAttached, match=name):
            read(tmp_path / name)
    with pytest.raises(NotAttached, match="could not be read"):
        read(tmp_path / "missing.txt")
