import base64
import json

import pytest

from server.dashboard.materials import best_first, gather, read_data, read_item
from server.dashboard.query import Element, Entry, Item, Query, Result, Source, Widget
from server.data.documents import Unreadable
from server.data.tables import from_grid
from tests.kit.office_files import pdf, png

ROWS = json.dumps([{"a": 1}, {"a": 2}])
WIDGET = Widget("o", "w", "Prices", uuid="u")


def result(source: Source, *items: Item, turn: int = 1, problem: str = "") -> Result:
    return Result("get_widget_data", {}, (source,), (Element(items, problem),), turn)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_rows_become_a_table_under_the_widget_s_name() -> None:
    query = Query((), "q", 1, (WIDGET,), (result(Source("o", "w", "u"), Item(ROWS)),))
    (material,) = gather(query)
    assert (material.name, material.tables[0].values("a")) == ("Prices", [1, 2])


def test_newest_first_and_no_source_twice() -> None:
    same, other = Source("o", "w", "u"), Source("o", "w", "u", {"s": "B"})
    results = (
        result(same, Item("old")),
        result(other, Item("other")),
        result(same, Item("new"), turn=2),
    )
    found = gather(Query((), "q", 2, (WIDGET,), results))
    assert [(one.documents[0].pages[0], one.is_new) for one in found] == [
        ("new", True),
        ("other", False),
    ]


def test_context_entries_and_failures_are_materials_too() -> None:
    context = (Entry("Food", "", Element((Item("pizza"),))),)
    results = (result(Source("o", "w", "u"), problem="HTTP 404"),)
    found = gather(Query((), "q", 1, (WIDGET,), results, context))
    assert [(one.name, one.problems, one.is_empty) for one in found] == [
        ("Prices", ("HTTP 404",), True),
        ("Food", (), False),
    ]


OWN = Entry("Prices_ab12cd", "a by n, 2 of 9 rows", Element((Item(ROWS),)), is_own=True)


def test_what_we_made_is_left_out_where_its_data_is() -> None:
    results = (result(Source("o", "w", "u"), Item(ROWS)),)
    (material,) = gather(Query((), "total a?", 2, (WIDGET,), results, (OWN,)))
    assert (material.name, material.is_own) == ("Prices", False)


def test_what_we_made_says_what_it_lacks() -> None:
    (alone,) = gather(Query((), "total a?", 2, (WIDGET,), (), (OWN,)))
    assert (alone.is_own, alone.is_new, alone.tables[0].cut) == (True, False, 7)


def test_what_we_made_is_there_when_the_question_names_it() -> None:
    results = (result(Source("o", "w", "u"), Item(ROWS)),)
    found = gather(Query((), "What is in Prices_ab12cd?", 2, (WIDGET,), results, (OWN,)))
    assert [(one.name, one.is_new) for one in found] == [("Prices", False), (OWN.name, True)]


def test_the_table_that_the_question_speaks_of_comes_first() -> None:
    prices = from_grid(["date", "open", "close"], [["2025-01-02", 2.0, 3.0]], "Prices")
    sectors = from_grid(["sector", "share"], [["A", 10], ["B", 70]], "Sectors")
    assert best_first("share by sector", [prices, sectors]) == [sectors, prices]
    assert best_first("hello", [prices, sectors]) == [prices, sectors]
    assert best_first("hello", []) == []


def test_nothing_is_computed_over_what_we_made() -> None:
    results = (result(Source("o", "w", "u"), Item(ROWS)),)
    data = read_data(Query((), "What is in Prices_ab12cd?", 2, (WIDGET,), results, (OWN,)))
    assert data.best is not None
    assert (data.best.name, [one.name for one in data.used]) == (OWN.name, [OWN.name])
    assert [(one.name, words) for one, words in data.computable] == [("Prices", "Prices")]


@pytest.mark.parametrize(
    "item",
    [
        Item(encoded(pdf("Hello")), "pdf"),
        Item("data:application/pdf;base64," + encoded(pdf("Hello")), "pdf"),
        Item(encoded(pdf("Hello"))),
        Item("Hello", "txt"),
        Item(encoded(b"Hello, this is a text"), "txt"),
        Item("<p>Hello</p>", read_as="html"),
        Item('"Hello"', read_as="text"),
        Item('["Hello", "you"]'),
        Item("{Hello"),
        Item("data:text/plain;charset=utf-8;base64," + encoded(b"Hello, this is a text"), "txt"),
        Item("data: Hello, and more"),
        Item("data:Hello,more"),
    ],
)
def test_whatever_it_is_declared_as_its_text_is_found(item: Item) -> None:
    assert "Hello" in read_item(item, "x").pages[0]


def test_tables_in_text_files_and_pictures() -> None:
    assert read_item(Item("a,b\n1,2\n", "csv"), "t.csv").tables[0].values("b") == [2]
    assert read_item(Item(encoded(png()), "png"), "p.png").image is not None


@pytest.mark.parametrize(
    "item",
    [Item(url="https://files.invalid/x.pdf"), Item("JVBERi0=not-a-pdf", "pdf"), Item("é", "xlsx")],
)
def test_links_and_damage_are_said(item: Item) -> None:
    with pytest.raises(Unreadable):
        read_item(item, "x")
