import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.chat.attachments import Attachment, as_url
from app.chat.chats import Chat, ChatNotKept, ChatStore, Said, asked
from server.chat import Image, Message

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
    with pytest.raises(ChatNotKept, match="could not be saved"):
        ChatStore(tmp_path / "chats").keep(Chat(said=list(ASKED)))


def test_what_is_sent_begins_with_the_system_prompt() -> None:
    chat = Chat(system="Be brief.", said=list(ASKED[:1]))
    assert chat.messages() == [Message("system", "Be brief."), Message("user", ASKED[0].text)]
    assert Chat(said=list(ASKED[:1])).messages() == [Message("user", ASKED[0].text)]


def test_it_is_exported_as_markdown() -> None:
    text = Chat(system="Be brief.", said=list(ASKED)).as_markdown()
    assert text.startswith("# What is a Moat?\n\n> Be brief.")
    assert "## Answer\n\nA ditch.\n" in text
    text = Chat(system="Be brief.\n\nBe kind.", said=list(ASKED)).as_markdown()
    assert "\n\n> Be brief.\n> \n> Be kind.\n\n" in text


def test_the_headings_of_an_exported_chat_are_translated(speak: Callable[[str], None]) -> None:
    speak("de")
    text = Chat(said=list(ASKED)).as_markdown()
    assert [line for line in text.split("\n") if line.startswith("## ")] == ["## Sie", "## Antwort"]


def test_images_are_kept_with_the_chat_and_charts_are_not_sent_back(tmp_path: Path) -> None:
    said = Said("user", "Theme", [as_url(Image("image/png", b"p"))])
    store = ChatStore(tmp_path)
    store.keep(Chat(said=[said, Said("assistant", "So.\n\n```echarts\n{}\n```")]))
    (kept,) = store.all()
    assert kept.messages() == [
        Message("user", "Theme", (Image("image/png", b"p"),)),
        Message("assistant", "So."),
    ]


def test_what_a_newer_version_wrote_survives_an_older_one(tmp_path: Path) -> None:
    said = {"role": "user", "text": "Hi", "voice": "deep"}
    told = {"system": "", "said": [said], "changed_at": 1.0, "pinned": True}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(told))
    store = ChatStore(tmp_path)
    (chat,) = store.all()
    chat.said.append(Said("assistant", "Hello"))
    store.keep(chat)
    written = json.loads(path.read_text())
    assert written["pinned"] is True
    assert written["said"][0]["voice"] == "deep"
    assert "more" not in written
    assert "more" not in written["said"][1]


def test_images_come_back_with_their_names(tmp_path: Path) -> None:
    chart = Attachment("chart.png", image=Image("image/png", b"held"))
    store = ChatStore(tmp_path)
    store.keep(Chat(said=[asked("What is it?", [Attachment("a.txt", "Words."), chart])]))
    (found,) = store.all()
    text, image = found.said[0].attached()
    assert (text.name, text.text, found.said[0].text) == ("a.txt", "Words.", "What is it?")
    assert (image.name, image.image) == (chart.name, chart.image)
    assert "a.txt:\n```\nWords.\n```" in found.messages()[0].content
    assert found.matches("words")


def test_an_image_of_an_earlier_version_has_no_name_yet() -> None:
    held = Image("image/png", b"held")
    said = Said("user", "What is it?", [as_url(held)])
    assert said.attached() == [Attachment("Image", image=held, size=4)]


def test_a_question_is_sent_as_it_was_written() -> None:
    text = "What is wrong?\n\n```echarts\n{}\n```\n\n\n\na.py:\n```python\nx\n\n\n\ny\n```\n"
    assert Chat(said=[Said("user", text)]).messages() == [Message("user", text)]
