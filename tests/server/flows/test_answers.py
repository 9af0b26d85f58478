from typing import Any

import pytest

from server.flows.answers import is_cancel, is_question, leaves_it_to_us, read_answer, word_for_word

PATH = {"type": "string", "description": "Path of the file, such as path/to/file.txt"}
TITLE = {"type": "string", "description": "The title of the book"}
CITY = {"type": "string", "description": "Which city"}
COLOUR = {"enum": ["red", "green", "dark green"]}
LIST = {"type": "array", "items": {"type": "string"}}


def asked(**parts: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(parts)}


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("/home/me/soup.txt", "/home/me/soup.txt"),
        ('"/home/me/my soup.txt"', "/home/me/my soup.txt"),
        ("The path is /home/me/soup.txt.", "/home/me/soup.txt"),
        ("path: /home/me/my soup.txt", "/home/me/my soup.txt"),
        ("please use /home/me/soup.txt please", "/home/me/soup.txt"),
        ("Der Pfad ist /home/me/suppe.txt", "/home/me/suppe.txt"),
        ("路径是/home/me/汤.txt", "/home/me/汤.txt"),
        (r"C:\Users\me\a b.txt", r"C:\Users\me\a b.txt"),
        ("soup.txt", "soup.txt"),
    ],
)
def test_one_missing_text_is_the_answer_itself(said: str, path: str) -> None:
    assert read_answer(said, asked(path=PATH)) == {"path": path}


@pytest.mark.parametrize(
    "said",
    [
        "It's a Wonderful Life",
        "The book thief is back: a story",
        "The truth is out there",
        "In Flames",
        "红楼梦",
        "Wo ist Walter",
        "cancel culture",
    ],
)
def test_nothing_is_cut_from_an_answer_that_may_belong_to_it(said: str) -> None:
    assert read_answer(said, asked(title=TITLE)) == {"title": said}
    assert not is_cancel(said, asked(title=TITLE))


@pytest.mark.parametrize(
    ("said", "part", "value"),
    [
        ("北京", CITY, "北京"),
        ("the dark green one", COLOUR, "dark green"),
        ("GREEN, please", COLOUR, "green"),
        ("五个", {"type": "integer"}, 5),
        ("fünf", {"type": "integer"}, 5),
        ("1,234", {"type": "number"}, 1234),
        ("12,5", {"type": "number"}, 12.5),
        ("-3", {"type": "integer"}, -3),
        ("nein", {"type": "boolean"}, False),
        ("好的", {"type": "boolean"}, True),
        ("苹果、梨和桃", LIST, ["苹果", "梨", "桃"]),
        ("apples, pears and plums", LIST, ["apples", "pears", "plums"]),
        ("1, 2 and 3", {"type": "array", "items": {"type": "integer"}}, [1, 2, 3]),
        ("I think AB-123", {"type": "string", "pattern": "[A-Z]{2}-[0-9]{3}"}, "AB-123"),
        ("write to a@b.example", {"type": "string", "format": "email"}, "a@b.example"),
    ],
)
def test_every_kind_is_read_as_it_was_said(said: str, part: dict[str, Any], value: Any) -> None:
    assert read_answer(said, asked(x=part)) == {"x": value}


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("blue", COLOUR),
        ("red or green", COLOUR),
        ("5, no 6", {"type": "integer"}),
        ("maybe", {"type": "boolean"}),
        ("tomorrow", {"type": "string", "format": "date"}),
        ("no such id", {"type": "string", "pattern": "[A-Z]{2}-[0-9]{3}"}),
    ],
)
def test_what_is_not_certain_is_left_open(said: str, part: dict[str, Any]) -> None:
    assert read_answer(said, asked(x=part)) == {}


@pytest.mark.parametrize(
    "said",
    [
        "from: Graz, to: Wien",
        "from is Graz and to is Wien",
        "Graz\nWien",
        '{"from": "Graz", "to": "Wien"}',
    ],
)
def test_several_are_read_by_name_or_line(said: str) -> None:
    found = read_answer(said, asked(**{"from": CITY, "to": CITY}))
    assert found == {"from": "Graz", "to": "Wien"}


@pytest.mark.parametrize(
    "said",
    ["cancel", "Stop.", "never mind", "please stop", "abbrechen", "Vergiss es!", "取消", "算了吧"],
)
def test_a_person_can_stop(said: str) -> None:
    assert is_cancel(said, asked(path=PATH))


def test_a_choice_that_is_called_stop_is_no_end() -> None:
    assert not is_cancel("stop", asked(x={"enum": ["start", "stop"]}))


@pytest.mark.parametrize("said", ["in Bern", "from Bern", "in Bern, please"])
def test_a_name_in_a_phrase_is_left_to_the_model_or_taken_out_of_it(said: str) -> None:
    assert read_answer(said, asked(city=CITY)) == {}
    assert word_for_word(said, asked(city=CITY)) == {"city": "Bern"}


@pytest.mark.parametrize(
    "said", ["What do you mean?", "was meinst du?", "什么意思", "I don't know", "which one?"]
)
def test_a_person_can_ask_back(said: str) -> None:
    assert is_question(said, asked(path=PATH))


@pytest.mark.parametrize("said", ["help", "Help me, please", "Help please!", "Hilfe!", "帮助"])
def test_a_person_can_ask_for_help(said: str) -> None:
    assert is_question(said, asked(path=PATH))


@pytest.mark.parametrize(
    "said",
    [
        "helpdesk", "Helpman Sales Ltd", "Hilfestellung.pdf", "help.txt", "help-desk", "Help Desk",
        "Hilfe.pdf", "help@example.com", "No Ideal Ltd", "帮助.pdf", "帮助文档",
    ],
)  # fmt: skip
def test_a_name_that_begins_like_a_cry_for_help_is_an_answer(said: str) -> None:
    assert not is_question(said, asked(path=PATH))


def test_a_slot_for_questions_takes_one() -> None:
    query = {"type": "string", "description": "The search query"}
    assert not is_question("what does flour cost?", asked(query=query))


@pytest.mark.parametrize("said", ["use 5 and whatever fits", "egal", "随便", "you choose"])
def test_a_person_can_leave_it_to_us(said: str) -> None:
    assert leaves_it_to_us(said)
