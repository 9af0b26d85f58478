import pytest

from server.data import sql as sql_module
from server.data.sql import Answer, Refused, query
from server.data.tables import from_grid

TABLE = from_grid(["day", "close price"], [["2025-01-01", 10.0], ["2025-01-02", 30.5]], "T")


def run(sql: str, **more: float) -> Answer:
    return query({"data": TABLE}, sql, **more)


def test_a_select_over_the_table() -> None:
    answer = run('SELECT sum("close price") AS total, count(*) AS n FROM data')
    assert answer.records() == [{"total": 40.5, "n": 2}]


def test_tables_that_a_query_does_not_name_are_not_filled() -> None:
    empty = from_grid([], [], "E")
    tables = {"data": TABLE, "year 2025": TABLE, "empty": empty}
    assert query(tables, "SELECT count(*) FROM DATA").rows == [(2,)]
    assert query(tables, 'SELECT count(*) FROM "Year 2025"').rows == [(2,)]
    with pytest.raises(Refused, match="has no columns"):
        query(tables, "SELECT 1 FROM data, empty")


def test_columns_of_one_name_keep_their_values() -> None:
    answer = run("SELECT a.day, b.day FROM data a JOIN data b ON a.day < b.day")
    assert answer.records() == [{"day": "2025-01-01", "day_2": "2025-01-02"}]


def test_median_and_deviation() -> None:
    answer = run('SELECT median("close price"), round(stdev("close price"), 4) FROM data')
    assert answer.rows == [(20.25, 14.4957)]
    assert run("SELECT stdev(1), median(NULL)").rows == [(None, None)]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM data",
        "INSERT INTO data VALUES (1, 2)",
        "WITH x AS (SELECT 1) DELETE FROM data",
        "SELECT 1; DROP TABLE data",
        "SELECT load_extension('x')",
        "SELECT * FROM sqlite_temp_master WHERE 1; PRAGMA user_version=1",
        "PRAGMA table_info(data)",
        "ATTACH 'x' AS y",
        "SELECT nothing FROM data",
        "SELECT zeroblob(999999999)",
        "SELECT zeroblob(1)",
        "SELECT RANDOMBLOB(1)",
        "SELECT fts3_tokenizer('simple')",
        "SELECT '" + "x" * 100_000 + "'",
        "",
    ],
)
def test_everything_else_is_refused(sql: str) -> None:
    with pytest.raises(Refused):
        run(sql)


def test_an_endless_query_is_stopped() -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(Refused, match="interrupted"):
        run(endless, time_s=0.05)


def test_long_answers_are_cut() -> None:
    many = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT i FROM n"
    )
    answer = run(many)
    assert (len(answer.rows), answer.is_cut, answer.total) == (500, True, 900)


def test_an_answer_of_big_values_ends_at_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_module, "MAX_RESULT_CHARACTERS", 1000)
    answer = run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 90) "
        "SELECT printf('%*c', 100, 'x') FROM n"
    )
    assert (len(answer.rows), answer.is_cut, answer.total) == (10, True, 90)


def test_filling_counts_as_time() -> None:
    with pytest.raises(Refused, match="too long"):
        run("SELECT 1 FROM data", time_s=-1)


def test_a_name_that_is_no_column_is_refused_and_not_taken_for_a_text() -> None:
    with pytest.raises(Refused, match="no such column"):
        query({"t": TABLE}, 'SELECT "no such" FROM t')
    assert query({"t": TABLE}, """SELECT 'a "b" c' AS x FROM t LIMIT 1""").rows == [('a "b" c',)]
