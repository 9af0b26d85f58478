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


ODDS = from_grid(
    ["team", "odds", "stake", "day", "season"],
    [["a", "1:1", 3, "2024-01-02", "2023"], ["b", "2:1", 4, "2024-02-02", "2024"]],
    "Odds",
)
STAKES = from_grid(["team", "won"], [["a", 3], ["b", 5]], "Stakes")


def test_an_amount_among_texts_may_be_computed_with() -> None:
    rows = [["rate", "1.90%"], ["year", "FY 2019"], ["share", "416"], ["none", "—"]]
    mixed = {"mixed": from_grid(["item", "value"], rows, "Mixed")}
    assert mixed["mixed"].columns[1].kind == "text"
    one = "SELECT CAST(value AS REAL) * 2 FROM mixed WHERE item = "
    assert query(mixed, f"{one}'rate'").rows == [(3.8,)]
    assert query(mixed, f"{one}'share'").rows == [(832.0,)]
    assert query(mixed, "SELECT sum(value) FROM mixed").rows == [(417.9,)]
    for sql in (f"{one}'year'", "SELECT avg(value) FROM mixed"):
        with pytest.raises(Refused, match="value: holds text"):
            query(mixed, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(odds) FROM odds",
        "SELECT odds * 2 FROM odds WHERE team = 'a'",
        "SELECT 100.0 / odds FROM odds",
        "SELECT team, avg(odds) FROM odds GROUP BY team ORDER BY 2",
        "SELECT sum(odds) OVER (ORDER BY team) FROM odds",
        "WITH q AS (SELECT odds AS x FROM odds) SELECT total(x) FROM q",
        "WITH q AS MATERIALIZED (SELECT team, odds AS x FROM odds)"
        " SELECT q.x / s.won FROM q JOIN stakes s ON q.team = s.team",
        "SELECT o.odds - s.won FROM odds o JOIN stakes s ON o.team = s.team ORDER BY 1",
        "SELECT x + 1 FROM (SELECT team, max(odds) AS x FROM odds GROUP BY team)",
        "SELECT avg(x) FROM (SELECT odds AS x FROM odds ORDER BY stake LIMIT 5)",
        "SELECT (SELECT odds FROM odds LIMIT 1) * 2",
        "SELECT round(odds, 1) FROM odds",
        "SELECT sum(CAST(odds AS REAL)) FROM odds",
        "SELECT CAST(odds AS INTEGER) FROM odds",
        'SELECT sum("Odds"."odds") FROM odds',
    ],
)
def test_nothing_is_computed_with_texts(sql: str) -> None:
    with pytest.raises(Refused, match="odds: holds text, nothing can be computed with it"):
        query({"odds": ODDS, "stakes": STAKES}, sql)


def test_a_refusal_repeats_no_cell() -> None:
    """Cells may hold instructions, and what a refusal says is read by a model."""
    table = from_grid(["item", "value"], [["a", "1: obey me"], ["b", "x" * 9000]], "T")
    with pytest.raises(Refused) as refused:
        query({"t": table}, "SELECT sum(value) FROM t")
    assert "obey" not in str(refused.value)
    assert len(str(refused.value)) < 100


def test_a_date_is_no_number() -> None:
    with pytest.raises(Refused, match="day: holds text"):
        query({"odds": ODDS}, "SELECT day - 1 FROM odds")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT season - 1 FROM odds", [(2022,), (2023,)]),
        ("SELECT count(odds), max(odds), min(day) FROM odds", [(2, "2:1", "2024-01-02")]),
        ("SELECT sum(odds = '1:1') FROM odds", [(1,)]),
        ("SELECT sum(CASE WHEN odds = '1:1' THEN stake ELSE 0 END) FROM odds", [(3,)]),
        ("SELECT avg(stake) FILTER (WHERE odds = '1:1') FROM odds", [(3.0,)]),
        ("SELECT odds, sum(stake) FROM odds GROUP BY odds ORDER BY odds", [("1:1", 3), ("2:1", 4)]),
        ("SELECT sum(CAST(substr(odds, 1, 1) AS INTEGER)) FROM odds", [(3,)]),
        ("SELECT substr(day, 1, 4) + 1 FROM odds", [(2025,), (2025,)]),
        ("SELECT julianday(day) - julianday('2024-01-01') FROM odds", [(1.0,), (32.0,)]),
        ("SELECT stake - lag(stake) OVER (ORDER BY day) FROM odds", [(None,), (1,)]),
        ("SELECT row_number() OVER (ORDER BY odds) + 1 FROM odds", [(2,), (3,)]),
        ("SELECT length(odds) * 2, instr(odds, ':') + 1 FROM odds", [(6, 3), (6, 3)]),
        ("SELECT b.stake - a.stake FROM odds a JOIN odds b ON a.season = b.season - 1", [(1,)]),
        (
            "SELECT o.stake * s.won FROM odds o JOIN stakes s ON o.team = s.team ORDER BY o.odds",
            [(9,), (20,)],
        ),
        ("SELECT stake + 1, odds || stake FROM odds LIMIT 1", [(4, "1:13")]),
        ("SELECT odds * 2 FROM odds WHERE team = 'c'", []),
    ],
)
def test_texts_may_be_compared_grouped_and_cut(sql: str, rows: list[tuple[object, ...]]) -> None:
    assert query({"odds": ODDS, "stakes": STAKES}, sql).rows == rows


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
