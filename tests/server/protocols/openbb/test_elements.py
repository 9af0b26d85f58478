from typing import Any

import pytest

from server.dashboard.query import Element, Item
from server.protocols.openbb.query import read_context, read_element
from server.protocols.openbb.writer import artifact_name


def test_items_keep_their_format() -> None:
    form = {"data_type": "PDF", "filename": "a.pdf", "parse_as": "text"}
    element = read_element({"items": [{"content": "x", "data_format": form}, "odd"]})
    assert element.items == (Item("x", "pdf", "text", "a.pdf"),)


def test_a_link_is_kept_as_a_link() -> None:
    assert read_element({"items": [{"url": "https://x.example/a"}]}).items[0].url.endswith("/a")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"isError": true, "error_type": "x", "content": "No  such\\ntool."}', "No such tool."),
        ('{"isError": true, "content": [{"type": "text", "text": "Timed out"}]}', "Timed out"),
        ('{"error_type": "gateway_error", "message": "It is away."}', "It is away."),
        (' {"isError": true}', "unknown error"),
    ],
)  # fmt: skip
def test_a_tool_that_failed_is_a_problem_and_no_data(content: str, problem: str) -> None:
    assert read_element({"items": [{"content": content}]}) == Element(problem=problem)


def test_what_a_tool_brought_beside_a_failure_is_kept() -> None:
    items = [{"content": "[1]"}, {"content": '{"isError": true, "error": "half"}'}]
    assert read_element({"items": items}) == Element((Item("[1]"),), "half")


@pytest.mark.parametrize(
    "content",
    ['{"isError": false, "rows": []}', '[{"error_type": "x"}]', '{"a": "error_type"}', "isError"],
)
def test_data_that_speaks_of_errors_stays_data(content: str) -> None:
    assert read_element({"items": [{"content": content}]}) == Element((Item(content),))


@pytest.mark.parametrize("odd", [None, 3, [], {}, {"content": ""}, {"items": None}])
def test_odd_elements_are_empty(odd: Any) -> None:
    assert read_element(odd) == Element()


def test_a_command_that_failed_is_a_problem() -> None:
    assert read_element({"status": "error", "message": "no"}).problem == "no"
    outcome = read_element({"status": "success", "message": "done", "data": {"a": 1}}).outcome
    assert outcome == {"status": "success", "message": "done", "data": {"a": 1}}


@pytest.mark.parametrize(
    "context",
    [
        "pizza",
        [{"name": "food", "data": {"content": "pizza"}}],
        [{"name": "food", "data": {"items": [{"content": "pizza"}]}}],
        [{"name": "food", "content": "pizza"}],
        ["pizza"],
    ],
)
def test_every_form_of_context_is_read(context: Any) -> None:
    assert read_context(context)[0].element.items[0].content == "pizza"


@pytest.mark.parametrize("context", [None, "", " ", [], [3], 7])
def test_no_context_is_none(context: Any) -> None:
    assert read_context(context) == ()


@pytest.mark.parametrize(
    ("title", "form", "is_own"),
    [
        ("Prices of ACME", {"data_type": "object", "parse_as": "chart"}, True),
        ("Prices", {"data_type": "object", "parse_as": "table"}, True),
        ("Prices", None, False),
    ],
)
def test_what_we_made_is_known_again(title: str, form: Any, is_own: bool) -> None:
    assert is_own_entry(artifact_name(title), form) is is_own


def test_what_only_has_the_form_of_ours_is_not_ours() -> None:
    assert not is_own_entry("Prices", {"data_type": "object", "parse_as": "table"})


def is_own_entry(name: str, form: Any) -> bool:
    data = {"items": [{"content": "[]", "data_format": form}]}
    (entry,) = read_context([{"name": name, "description": "d", "data": data}])
    return entry.is_own
