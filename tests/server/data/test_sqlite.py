import asyncio
import sqlite3
from pathlib import Path

import pytest

from server.data import sql as sandboxed
from server.data import sqlite
from server.data.sqlite import Database
from server.errors import FlowFailed
from server.events import Artifact, StatusNote
from server.flows.base import Flow, Output, Step, Work
from server.flows.steps import run_sql
from server.flows.templates import NOTE
from tests.kit.engines import ScriptedEngine, says
from tests.kit.plugin_kits import PlainKit

ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    path = tmp_path / "data.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, f"x{n}") for n in range(2000)])
    connection.commit()
    connection.close()
    return Database(path)


async def test_rows_come_with_columns_and_are_cut(database: Database) -> None:
    found = await sqlite.query(database, "SELECT a, b FROM t ORDER BY a")
    assert found["columns"] == ["a", "b"]
    assert found["rows"][1] == {"a": 1, "b": "x1"}
    assert (len(found["rows"]), found["truncated"]) == (1000, True)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t",
        "INSERT INTO t VALUES (1, 2)",
        "UPDATE t SET a = 1",
        "DROP TABLE t",
        "PRAGMA user_version = 3",
        "ATTACH 'other.db' AS o",
        "VACUUM INTO 'copy.db'",
        "CREATE TEMP TABLE x AS SELECT 1",
        "SELECT 1; DELETE FROM t",
        "SELECT load_extension('x')",
        "SELECT zeroblob(1000000000)",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "SELECT * FROM pragma_user_version",
        "SELECT readfile('/etc/passwd')",
        "SELECT replace(printf('%1000c', 'x'), ' ', printf('%2000c', 'y'))",
    ],
)
async def test_nothing_but_reading_is_possible(database: Database, statement: str) -> None:
    before = database.path.read_bytes()
    with pytest.raises(FlowFailed) as caught:
        await sqlite.query(database, statement)
    assert caught.value.fault == "sql"
    assert database.path.read_bytes() == before
    assert [path.name for path in database.path.parent.glob("*.db")] == []


async def test_cancelling_interrupts_the_query(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "TIME_S", 1e9)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await sqlite.query(database, ENDLESS)
    # It returns only when the query's thread has ended.
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_a_query_has_a_time_limit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "TIME_S", 0.2)
    with pytest.raises(FlowFailed, match="longer than"):
        await sqlite.query(database, ENDLESS)


async def test_tables_are_described_with_samples(database: Database) -> None:
    told = await sqlite.describe(database)
    assert "CREATE TABLE t (a, b);" in told
    assert "-- 0, x0" in told


async def test_a_database_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FlowFailed, match="no database"):
        await sqlite.query(Database(tmp_path / "nothing.sqlite"), "SELECT 1")


async def test_rows_of_big_values_end_at_a_budget(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed, "MAX_RESULT_CHARACTERS", 1000)
    found = await sqlite.query(database, "SELECT printf('%*c', 100, 'x') AS a FROM t")
    assert (len(found["rows"]), found["truncated"]) == (10, True)


async def test_the_step_says_that_rows_are_missing(database: Database) -> None:
    step = Step("find", "sql", {"statement": "SELECT a FROM t"})
    flow = Flow("p", "f", "d", (step,))
    work = Work(flow, "what?", ScriptedEngine(), PlainKit(base=database))
    note, table, output = [sign async for sign in run_sql(step, work)]
    assert isinstance(note, StatusNote)
    assert isinstance(table, Artifact)
    assert isinstance(output, Output)
    assert note.message == output.message == "the first 1000 rows"
    assert table.description == "the first 200 of 1000 rows"


async def test_columns_of_the_same_name_keep_their_values(database: Database) -> None:
    sql = "SELECT a, b, a + 1 AS a, b, 'own' AS a_2 FROM t WHERE a = 7"
    found = await sqlite.query(database, sql)
    assert found["columns"] == ["a", "b", "a_3", "b_2", "a_2"]
    assert found["rows"] == [{"a": 7, "b": "x7", "a_3": 8, "b_2": "x7", "a_2": "own"}]


async def test_samples_and_failures_are_shown_to_the_model_as_data(database: Database) -> None:
    step = Step("find", "sql", {})
    engine = ScriptedEngine(says("SELECT nothing FROM t;"), says("SELECT a FROM t LIMIT 1;"))
    work = Work(Flow("p", "f", "d", (step,)), "what?", engine, PlainKit(base=database))
    assert [sign async for sign in run_sql(step, work)]
    system, asked = (message.content for message in engine.requests[1].messages)
    assert NOTE in system
    tables, failed = (part.split("</data>")[0] for part in asked.split("<data>")[1:])
    assert "-- 0, x0" in tables
    assert "nothing" in failed
