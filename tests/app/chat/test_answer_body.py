import json
from collections.abc import Callable
from typing import Any

from app.chat.transcript import Answer, AnswerBody, Suggestion
from tests.kit.chat_parts import charts, plain_text
from tests.kit.until import until

Shown = Callable[[Any], Any]
OPTION = {
    "title": {"text": "Sales"},
    "dataset": {"source": [{"year": "2024", "sold": 3}, {"year": "2025", "sold": 5}]},
    "series": [{"type": "bar", "name": "sold", "encode": {"x": "year", "y": "sold"}}],
}
CHART = f"```echarts\n{json.dumps(OPTION)}\n```"


def test_a_chart_is_drawn_where_it_is_written(shown: Shown) -> None:
    body = shown(AnswerBody())
    text = f"Before.\n\n{CHART}\n\nAfter."
    for end in range(1, len(text) + 1, 7):
        body.show_text(text[:end])
    body.show_text(text)
    (chart,) = charts(body)
    assert chart.figure.title == "Sales"
    assert plain_text(body) == "Before.\nAfter."


def test_what_is_the_same_stays(shown: Shown) -> None:
    body = shown(AnswerBody())
    body.show_text(f"A\n\n{CHART}\n\nB")
    (chart,) = charts(body)
    body.show_text(f"A\n\n{CHART}\n\nB and more")
    assert charts(body) == [chart]
    body.show_text("A")
    assert charts(body) == []
    assert plain_text(body) == "A"


async def test_what_may_be_asked_next_is_a_button(shown: Shown) -> None:
    answer = shown(Answer("m"))
    asked: list[str] = []
    answer.suggested.connect(asked.append)
    answer.suggest(("One?", "Two?", "Three?", "Four?"))
    buttons = answer.findChildren(Suggestion)
    assert [one.question for one in buttons] == ["One?", "Two?", "Three?"]
    buttons[1].click()
    assert asked == ["Two?"]


async def test_a_block_is_a_paragraph_of_its_own(shown: Shown) -> None:
    answer = shown(Answer("m"))
    answer.add_text("Here:")
    answer.add_block(CHART)
    answer.add_text("Done.")
    assert answer.text() == f"Here:\n\n{CHART}\n\nDone."
    await until(lambda: charts(answer.view))
    assert plain_text(answer.view) == "Here:\nDone."
