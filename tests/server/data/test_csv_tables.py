from pathlib import Path

import pytest

from server.data import sqlite
from server.data.sqlite import import_csv
from server.errors import FlowFailed
from tests.kit.csv_rows import rows


def test_an_empty_cell_is_no_number(tmp_path: Path) -> None:
    text = "name,price\na,10\nb,\nc,20\nd,n/a\n"
    assert rows(tmp_path, text, "SELECT avg(price), count(price) FROM t") == [(15.0, 2)]


def test_a_missing_cell_and_an_empty_text_are_nothing(tmp_path: Path) -> None:
    text = "name,note\na,\nb\nc,yes\n"
    assert rows(tmp_path, text, "SELECT name FROM t WHERE note IS NULL") == [("a",), ("b",)]


def test_amounts_with_separators_are_numbers(tmp_path: Path) -> None:
    text = 'amount\n"1,200"\n$300\n(100)\n1.5e2\n'
    assert rows(tmp_path, text, "SELECT sum(amount) FROM t") == [(1550.0,)]


def test_what_begins_with_zero_is_a_name(tmp_path: Path) -> None:
    text = "zip,rate\n01234,0.5\n90210,0\n"
    assert rows(tmp_path, text, "SELECT * FROM t") == [("01234", 0.5), ("90210", 0)]


def test_words_in_a_column_of_texts_stay(tmp_path: Path) -> None:
    text = "country\nNA\nDE\n-\n"
    assert rows(tmp_path, text, "SELECT country FROM t") == [("NA",), ("DE",), ("-",)]


def test_what_older_rules_imported_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "t.csv"
    source.write_text("a\n1\n", encoding="utf-8")
    before = import_csv(source, tmp_path, "t")
    assert import_csv(source, tmp_path, "t") == before
    monkeypatch.setattr(sqlite, "RULES", sqlite.RULES + 1)
    assert import_csv(source, tmp_path, "t") != before
    assert not before.exists()


@pytest.mark.parametrize(
    "text",
    [
        'id,item,qty\n1,"5"" pipe, steel",3\n2,"plain, note",4\n',
        'id;item;qty\n1;"5"" pipe; steel";3\n2;"plain; note";4\n',
        'id, item, qty\n1, "5"" pipe, steel", 3\n2, "plain, note", 4\n',
    ],
)
def test_a_quote_inside_quotes_belongs_to_the_cell(tmp_path: Path, text: str) -> None:
    separator = ";" if ";" in text else ","
    assert rows(tmp_path, text, "SELECT * FROM t") == [
        (1, f'5" pipe{separator} steel', 3),
        (2, f"plain{separator} note", 4),
    ]


def test_a_quote_that_comes_late_is_read_like_an_early_one(tmp_path: Path) -> None:
    early = "".join(f'item{n},"plain, note {n}",{n}\n' for n in range(600))
    text = f'name,note,amount\n{early}late,"he said ""go, now"" twice",999999\n'
    found = rows(tmp_path, text, "SELECT note, amount FROM t WHERE name = 'late'")
    assert found == [('he said "go, now" twice', 999999)]


def test_a_row_longer_than_the_first_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FlowFailed, match="row 3 has 3 cells for 2 columns"):
        rows(tmp_path, "a,b\n1,2\n1,2,3\n", "SELECT * FROM t")
    assert rows(tmp_path, "a,b\n1,2,\n", "SELECT * FROM t") == [(1, 2)]


def test_an_import_leaves_other_tables_with_a_similar_name(tmp_path: Path) -> None:
    for name in ("sales", "sales-2024"):
        (tmp_path / f"{name}.csv").write_text("a,b\n1,2\n")
    kept = import_csv(tmp_path / "sales-2024.csv", tmp_path / "made", "sales-2024")
    import_csv(tmp_path / "sales.csv", tmp_path / "made", "sales")
    assert kept.exists()
