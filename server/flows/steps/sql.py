"""sql: reads rows from the plugin's database, by the flow's statement or the model's."""

from server.asking.ask import write
from server.chat import Json
from server.data import sqlite
from server.data.shorten import shorten
from server.data.sqlite import Database
from server.errors import FlowFailed
from server.events import Artifact, StatusNote
from server.flows.base import Output, Signs, Step, Work
from server.flows.templates import NOTE, mark_as_data

SYSTEM = (
    "You write one SQLite SELECT statement that answers the question. Answer with SQL only. " + NOTE
)
PATTERN = r"(SELECT|WITH) [^;]{1,900};"
TRIES = 3
MOST_TOKENS = 300
SHOWN_ROWS = 200


async def run(step: Step, work: Work) -> Signs:
    database = await work.kit.database()
    statement = step.params.get("statement")
    if isinstance(statement, str):
        found = await sqlite.query(database, statement)
    else:
        found = await _ask(work, database)
    rows = found["rows"]
    count = f"the first {len(rows)} rows" if found["truncated"] else f"{len(rows)} rows"
    yield StatusNote(count, details={"SQL": found["sql"]})
    if rows:
        is_part = len(rows) > SHOWN_ROWS
        shown = f"the first {SHOWN_ROWS} of {len(rows)} rows" if is_part else count
        yield Artifact("table", step.name, shown, {"rows": rows[:SHOWN_ROWS]})
    yield Output(found, count)


async def _ask(work: Work, database: Database) -> Json:
    tables = await sqlite.describe(database)
    failed = ""
    for _ in range(TRIES):

        def prompt(room: int, failed: str = failed) -> tuple[str, str]:
            again = f"\nThis failed: {mark_as_data(failed)}. Write another one." if failed else ""
            asked = shorten(work.question, room // 2)
            return SYSTEM, f"{mark_as_data(shorten(tables, room))}\n\nQuestion: {asked}{again}"

        sql = await write(work, prompt, PATTERN, MOST_TOKENS)
        try:
            return await sqlite.query(database, sql.rstrip("; \n"))
        except FlowFailed as error:
            failed = str(error)
    raise FlowFailed("sql", f"The model wrote no query that works. {failed}")
