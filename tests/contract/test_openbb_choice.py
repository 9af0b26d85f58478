"""Asks sixty labelled questions over three dashboards: checks the ranking and the SQL."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from server.dashboard.figures.compute import compute
from server.dashboard.query import Widget
from server.dashboard.widget_choice import ranked
from server.data.tables import from_json
from server.protocols.openbb.query import read_widgets
from tests.contract.openbb import dashboards
from tests.contract.openbb.dashboards import Dashboard

TODAY = date(2025, 6, 20)
LEAST_FIRST, LEAST_IN_THREE = 56, 59
LEFT_TO_THE_MODEL = frozenset({
    "How much was paid out per share in 2024 in total?",
    "Which strike has the largest open interest?",
    "How many times did the central bank cut?",
    "What is the total market value of my positions?",
    "Which position has the largest weight?",
})  # fmt: skip
"""Questions with a word that neither the table nor the widget explains: rules do not answer."""


def questions() -> Iterator[tuple[Dashboard, dict[str, Any]]]:
    for name in dashboards.NAMES:
        dashboard = dashboards.load(name)
        for question in dashboard.questions:
            yield dashboard, question


def test_the_ranking_alone_finds_the_widget() -> None:
    first = in_three = 0
    for dashboard, question in questions():
        widgets = read_widgets({"secondary": dashboard.widgets})
        order = [widgets[one.index].id for one in ranked(question["ask"], widgets)[:3]]
        first += order[:1] == question["widgets"]
        in_three += question["widgets"][0] in order
    assert (first >= LEAST_FIRST, in_three >= LEAST_IN_THREE) == (True, True), (first, in_three)


@pytest.mark.parametrize(
    ("dashboard", "question"),
    [
        pytest.param(dashboard, question, id=question["ask"])
        for dashboard, question in questions()
        if "figure" in question
    ],
)
def test_numbers_are_right_to_the_digit(dashboard: Dashboard, question: dict[str, Any]) -> None:
    widgets = read_widgets({"secondary": dashboard.widgets})
    widget = next(widget for widget in widgets if widget.id == question["widgets"][0])
    table = from_json(dashboard.data[widget.id], widget.name)
    assert table is not None
    figure = compute(question["ask"], table, TODAY, _words(widget))
    if question["ask"] in LEFT_TO_THE_MODEL:
        assert figure is None
        return
    assert figure is not None
    told = re.sub(r"[()]", " ", figure.text).replace(",", "").split()
    assert question["figure"] in told, figure


def _words(widget: Widget) -> str:
    return " ".join([widget.name, *map(str, widget.arguments.values())])


def test_there_are_sixty_questions() -> None:
    assert len(list(questions())) == 60


def test_thirty_more_questions_are_held_out_and_labelled() -> None:
    """scripts/measure_openbb.py measures them. Nothing is tuned on them, so nothing is asserted."""
    held_out = dashboards.held_out()
    assert sum(map(len, held_out.values())) == 30
    known = {question["ask"] for _, question in questions()}
    for name, found in held_out.items():
        here = {widget["widget_id"] for widget in dashboards.load(name).widgets}
        assert {label for one in found for label in one["widgets"]} <= here
        assert known.isdisjoint(one["ask"] for one in found)
