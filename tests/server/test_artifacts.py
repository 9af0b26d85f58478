import pytest

from server.artifacts import Kind, chart_option, kind_of, markdown_table

ROWS = [{"year": "2024", "a": 1, "b": 2}]


@pytest.mark.parametrize(
    ("kind", "series"), [("line", 2), ("bar", 2), ("scatter", 2), ("pie", 1), ("donut", 1)]
)
def test_an_option_tells_its_kind_again(kind: Kind, series: int) -> None:
    option = chart_option(kind, "T", ROWS, "year", ["a", "b"])
    assert kind_of(option["series"][0]) == kind
    assert len(option["series"]) == series
    assert ("xAxis" in option) is (series == 2)


def test_no_cell_breaks_the_table() -> None:
    text = markdown_table(["a|b", "c"], [["x\ny", 1], ["", "|"]], str)
    assert text == "| a\\|b | c |\n| --- | --- |\n| x y | 1 |\n|  | \\| |"
