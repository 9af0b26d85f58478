from server.conversation.run import markdown, write_into_text
from server.events import Artifact, Event, Finished, TextDelta
from tests.kit.engines import replay

ROWS = [{"a": 1, "b": "x|y"}, {"a": None, "b": "two\r\nlines"}]


def test_rows_become_a_table() -> None:
    text = markdown(Artifact("table", "t", "d", {"rows": ROWS}))
    assert text == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n|  | two lines |"


def test_a_chart_brings_its_option() -> None:
    text = markdown(Artifact("chart", "c", "d", {"rows": ROWS, "option": {"series": []}}))
    assert text.endswith('```echarts\n{"series": []}\n```')


def test_long_tables_are_cut() -> None:
    text = markdown(Artifact("table", "t", "d", {"rows": [{"a": n} for n in range(60)]}))
    assert text.endswith("10 more rows")


async def test_text_holds_what_stood_beside_it() -> None:
    made = Artifact("table", "t", "d", {"rows": ROWS})
    seen: list[Event] = [
        event async for event in write_into_text(replay(TextDelta("so:"), made, Finished("stop")))
    ]
    texts = [event.text for event in seen if isinstance(event, TextDelta)]
    assert texts[0] == "so:"
    assert texts[1].startswith("\n\n| a | b |")
    assert made in seen


async def test_a_chart_of_rows_just_shown_has_no_second_table() -> None:
    rows = [{"a": 1}]
    made = [
        Artifact("table", "t", "", {"rows": rows}),
        Artifact("chart", "c", "", {"rows": rows, "option": {"series": []}}),
        Artifact("chart", "c", "", {"rows": [{"a": 2}], "option": {"series": []}}),
    ]

    heard: list[Event] = [event async for event in write_into_text(replay(*made))]
    texts = [event.text for event in heard if isinstance(event, TextDelta)]
    assert [text.count("| a |") for text in texts] == [1, 0, 1]
    assert [text.count("```echarts") for text in texts] == [0, 1, 1]
