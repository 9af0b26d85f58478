from server.data.describe import describe
from server.data.tables import from_grid

SMALL = from_grid(["day", "close"], [["2025-01-01", 1.5], ["2025-01-02", 2.5]], "Prices")


def test_a_small_table_is_shown_whole() -> None:
    assert describe(SMALL, "", 500) == (
        "2 rows, 2 columns, all of them:\nday,close\n2025-01-01,1.5\n2025-01-02,2.5\n"
    )


def test_a_big_table_is_summarised_and_its_ends_shown() -> None:
    rows = [[f"2025-01-{1 + n % 28:02d}", n, None if n % 2 else "x"] for n in range(50_000)]
    text = describe(from_grid(["day", "n", "note"], rows, "Big"), "", 1000)
    assert "50000 rows, 3 columns" in text
    assert "- day (date): 2025-01-01 to 2025-01-28" in text
    assert "- n (number): min 0, max 49999, mean 24999.5\n" in text
    assert "- note (text): 1+ different, such as x, 25000 missing" in text
    assert "of 50000 rows follow, the first and the last" in text
    assert "2025-01-01,0,x" in text
    assert text.rstrip().endswith("49999,")
    assert len(text) < 1200


def test_one_long_row_is_shown_once() -> None:
    names = [f"column {number}" for number in range(60)]
    text = describe(from_grid(names, [["x" * 70] * 60], "One"), "", 100)
    assert "Only 1 of 1 rows follow" in text
    assert sum(line.startswith("xxx") for line in text.splitlines()) == 1


def test_of_many_columns_those_asked_for_are_kept() -> None:
    names = [f"column {chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)] + ["margin"]
    text = describe(from_grid(names, [list(range(61))] * 50, "Wide"), "the margin", 800)
    assert "- margin (number)" in text
    assert text.count("(number)") == 30


def test_numbers_at_the_end_of_all_numbers_have_a_mean() -> None:
    assert "mean 1e+308" in describe(from_grid(["n"], [[1e308]] * 100, "Huge"), "", 100)


def test_the_latest_value_is_that_of_the_newest_row() -> None:
    rows = [[f"2025-01-{31 - n:02d}", n] for n in range(31)]
    text = describe(from_grid(["day", "n"], rows, "Newest first"), "", 100)
    assert "- n (number): min 0, max 30, mean 15.0, latest 0" in text
    unordered = from_grid(["name", "n"], [[f"name {n}", n] for n in range(31)], "T")
    assert "mean 15.0\n" in describe(unordered, "", 100)
