"""The types of steps, by call type. Any other call type is a tool of the plugin's own code."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from server.asking.ask import CERTAIN, ask_json, count_tokens, fit_prompt, pick, stream, write
from server.chat import ChatRequest, Json, Sampling
from server.data import charts, sqlite
from server.data.markdown import as_text, shorten
from server.data.sqlite import Database
from server.errors import FlowFailed
from server.events import Artifact, StatusNote, TextDelta
from server.flows.base import Jump, Output, Reach, Signs, Step, Work
from server.flows.calling import call
from server.flows.templates import NOTE, background, mark_as_data, reach, render
from server.sentences import Sentence

StepRun = Callable[[Step, Work], Signs]
CHOOSE = "You choose how to go on. Answer with one name of the list and nothing else. " + NOTE
MOST_VOTES = 5
VOTING = Sampling(temperature=0.7)
"""Several votes need some chance, or all of them would be equal."""
MOST_NAMED = 20
"""How many keys of the data an error lists."""
DRAW = "You choose how to draw a table for a question. " + NOTE
USUAL_CHART = {"chart": "bar", "stacked": False, "ring": False, "scale": "linear", "title": ""}
CHART_TOKENS = 120
SYSTEM = "You are a helpful assistant. Answer from the data given, briefly and truthfully."
USER = "{context}\n{data}\nQuestion: {question}"
USUAL_TEMPERATURE = 0.3
USUAL_S = 300.0
USUAL_TOKENS = 1024
LARGEST = 1_000_000_000
"""A larger number in a step is not used."""
LEAST_ECHO = 12
"""At the end of a text, fewer letters than this are not taken for one of our sentences."""
STOPS = ".!\"' "
_MARKS = re.compile(r"</?data>", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n]")
OPENING = " ".join(NOTE.split()[:3])
"""The first words of our note. A sentence that begins like this repeats the note."""
OWN_SENTENCES = (NOTE, _MARKS.sub("", NOTE), *filter(None, SYSTEM.split(".")))
_MARK_BEGUN = re.compile(r"</?d?a?t?a?$", re.IGNORECASE)
_WORD_START = re.compile(r"(?<![^\W_])[^\W_]")
WRITE_SQL = (
    "You write one SQLite SELECT statement that answers the question. Answer with SQL only. " + NOTE
)
SQL_PATTERN = r"(SELECT|WITH) [^;]{1,900};"
SQL_TRIES = 3
SQL_TOKENS = 300
SHOWN_ROWS = 200
"""How many rows the person's table shows. The next step gets all rows."""


def run_api(step: Step, work: Work) -> Signs:
    """api: calls an endpoint of the plugin's openapi.yaml."""
    endpoint = " ".join(str(step.params["endpoint"]).split())
    return _call(step, work, ("api", endpoint), step.params.get("arguments") or {})


def run_mcp(step: Step, work: Work) -> Signs:
    """mcp: calls a tool of an MCP server that the plugin names."""
    tool = f"{step.params['server']}/{step.params['tool']}"
    return _call(step, work, ("mcp", tool), step.params.get("arguments") or {})


def run_own_tool(step: Step, work: Work) -> Signs:
    """Calls a tool of the plugin's own code, named by the call type."""
    name = step.call_type.removeprefix(f"{work.flow.plugin}.")
    known = {key: value for key, value in step.params.items() if key != "timeout"}
    return _call(step, work, ("lib", name), known)


async def _call(
    step: Step, work: Work, named: tuple[Reach, str], known: Mapping[str, Any]
) -> Signs:
    action = await work.kit.action(*named)
    async with aclosing(call(step, work, action, dict(known))) as signs:
        async for sign in signs:
            yield sign


async def run_llm(step: Step, work: Work) -> Signs:
    """llm: lets the model write a text from a prompt with data."""
    system = str(step.params.get("system_prompt") or SYSTEM)
    user = str(step.params.get("user_prompt") or USER)
    share = max(len(user.split("{")) - 1, 1)

    def prompt(room: int) -> tuple[str, str]:
        each = room // share
        return f"{render(system, work, each)}\n{NOTE}", render(user, work, each)

    messages = await fit_prompt(work.engine, prompt)
    most = int(_number(step.params.get("max_tokens"), USUAL_TOKENS)) or USUAL_TOKENS
    context = work.engine.facts.context_tokens
    left = context - await count_tokens(
        work.engine, "".join(message.content for message in messages)
    )
    request = ChatRequest(
        messages,
        sampling=Sampling(temperature=_number(step.params.get("temperature"), USUAL_TEMPERATURE)),
        max_tokens=min(most, max(left, context // 5) if context else 512),
        client=work.client,
    )
    parts: list[str] = []
    echo = Echo()
    limit_s = min(_number(step.params.get("timeout"), USUAL_S) or USUAL_S, USUAL_S)
    try:
        async with asyncio.timeout(limit_s), aclosing(stream(work.engine, request)) as texts:
            async for text in texts:
                if own := echo.without(text):
                    parts.append(own)
                    yield TextDelta(own)
        if own := echo.rest():
            parts.append(own)
            yield TextDelta(own)
    except TimeoutError:
        raise FlowFailed(
            "timeout", Sentence("The model took longer than {0:.0f} s.", limit_s)
        ) from None
    written = "".join(parts).strip()
    yield Output(written, written, is_answer=bool(written))


@dataclass(slots=True)
class Echo:
    """Removes our own instructions from a streamed text, because weak models repeat them."""

    _held: str = ""
    _is_after: bool = False
    """Whether one of our sentences was just removed. Its full stop may still come."""

    def without(self, text: str) -> str:
        """Adds text and returns what can be shown. Holds what may become one of our sentences."""
        self._held = _MARKS.sub("", self._held + text)
        if self._is_after:
            self._held = self._held.lstrip(STOPS)
            self._is_after = not self._held
        shown = ""
        while (found := self._find()) is not None:
            begin, end = found
            shown += self._held[:begin]
            if end is None:
                self._held = self._held[begin:]
                return shown
            self._held = self._held[end:].lstrip(STOPS)
            self._is_after = not self._held
        begun = _MARK_BEGUN.search(self._held)
        place = begun.start() if begun else len(self._held)
        shown, self._held = shown + self._held[:place], self._held[place:]
        return shown

    def rest(self) -> str:
        """Returns the rest of the text, without a sentence of ours that was cut off."""
        found = self._find()
        held, self._held = self._held, ""
        if found is None or len(_letters(held[found[0] :])) < LEAST_ECHO:
            return held
        return held[: found[0]]

    def _find(self) -> tuple[int, int | None] | None:
        """Returns the start and the end of one of our sentences; no end if it is not complete."""
        for start in _WORD_START.finditer(self._held):
            begin = start.start()
            letters = _letters(self._held[begin:])
            if letters.startswith(_letters(OPENING)):
                end = _SENTENCE_END.search(self._held, begin)
                return begin, end.end() if end else None
            for own in map(_letters, OWN_SENTENCES):
                if letters.startswith(own):
                    return begin, begin + _length(self._held[begin:], len(own))
                if own.startswith(letters):
                    return begin, None
        return None


def _letters(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def _length(text: str, letters: int) -> int:
    """Returns how long a beginning of the text must be to have so many letters."""
    return next(n for n in range(1, len(text) + 1) if len(_letters(text[:n])) >= letters)


def _number(given: Any, usual: float) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return float(given) if is_number and 0 <= given <= LARGEST else usual


async def run_choice(step: Step, work: Work) -> Signs:
    """choice: lets the model choose the step to go on with."""
    choices = step.params["choices"]
    names = [str(choice["step"]) for choice in choices]
    lines = "\n".join(
        f"- {choice['step']}: {choice.get('description') or ''}" for choice in choices
    )
    instruction = str(step.params.get("instruction") or step.params.get("propose") or "")

    def prompt(room: int) -> tuple[str, str]:
        return CHOOSE, (
            f"{mark_as_data(shorten(work.data, room // 2))}\n{background(work, room // 4)}\n"
            f"Question: {shorten(work.question, room // 4)}\n{instruction}\n{lines}\nName:"
        )

    votes = step.params.get("votes")
    count = min(max(votes, 1), MOST_VOTES) if isinstance(votes, int) else 1
    how = CERTAIN if count == 1 else VOTING
    picked = [await pick(work, prompt, names, sampling=how) for _ in range(count)]
    chosen = Counter(picked).most_common(1)[0][0]
    yield StatusNote(Sentence("Chose {0}", chosen))
    yield Jump(chosen)


async def run_end(_step: Step, _work: Work) -> Signs:
    """none: does nothing and ends the flow."""
    yield Jump("")


async def run_sql(step: Step, work: Work) -> Signs:
    """sql: reads rows from the plugin's database with the flow's statement, or one by the model."""
    database = await work.kit.database()
    statement = step.params.get("statement")
    if isinstance(statement, str):
        found = await sqlite.query(database, statement)
    else:
        found = await _ask_for_rows(work, database)
    rows = found["rows"]
    count = f"the first {len(rows)} rows" if found["truncated"] else Sentence("{0} rows", len(rows))
    yield StatusNote(count, details={"SQL": found["sql"]})
    if rows:
        is_part = len(rows) > SHOWN_ROWS
        shown = f"the first {SHOWN_ROWS} of {len(rows)} rows" if is_part else count
        yield Artifact("table", step.name, shown, {"rows": rows[:SHOWN_ROWS]})
    yield Output(found, count)


async def _ask_for_rows(work: Work, database: Database) -> Json:
    tables = await sqlite.describe(database)
    failed = ""
    for _ in range(SQL_TRIES):

        def prompt(room: int, failed: str = failed) -> tuple[str, str]:
            again = f"\nThis failed: {mark_as_data(failed)}. Write another one." if failed else ""
            asked = shorten(work.question, room // 2)
            return WRITE_SQL, f"{mark_as_data(shorten(tables, room))}\n\nQuestion: {asked}{again}"

        sql = await write(work, prompt, SQL_PATTERN, SQL_TOKENS)
        try:
            return await sqlite.query(database, sql.rstrip("; \n"))
        except FlowFailed as error:
            failed = str(error)
    raise FlowFailed("sql", Sentence("The model wrote no query that works. {0}", failed))


async def run_render(step: Step, work: Work) -> Signs:
    """render: draws the last step's rows as a chart. The model chooses only how it looks."""
    rows, part = charts.rows_of(work.data), charts.part_of(work.data)

    def prompt(room: int) -> tuple[str, str]:
        shown = mark_as_data(shorten(rows[:5], room // 2))
        return DRAW, f"Rows: {shown}\nQuestion: {shorten(work.question, room // 3)}"

    fixed = {key: step.params[key] for key in USUAL_CHART if key in step.params}
    picked = None
    if "chart" not in fixed:
        picked = await ask_json(work, prompt, charts.CHOICE, CHART_TOKENS, must=True)
    option = charts.build(rows, {**USUAL_CHART, **(picked or {}), **fixed})
    yield StatusNote(Sentence("Drew a {0} chart", option["series"][0]["type"]))
    name = option["title"]["text"] or work.flow.name
    about = " ".join(filter(None, (work.flow.description[:200], f"({part})" if part else "")))
    yield Artifact("chart", name, about, charts.artifact(option))
    yield Output(option, f"A chart of {part or f'{len(rows)} rows'}.")


async def run_extract(step: Step, work: Work) -> Signs:
    """extract: takes values from the last step's data by dotted paths."""
    keys = [str(key) for key in step.params["keys"]]
    last_parts = Counter(key.split(".")[-1] for key in keys)
    found = {}
    for key in keys:
        short = key.split(".")[-1]
        found[short if last_parts[short] == 1 else key] = _value_at(work.data, key)
    only = next(iter(found.values())) if len(found) == 1 else None
    yield Output(found, only if isinstance(only, str) else as_text(found))


def _value_at(data: Any, key: str) -> Any:
    try:
        return reach(data, key)
    except KeyError as error:
        known = list(data)[:MOST_NAMED] if isinstance(data, dict) else []
        hint = f" There are: {', '.join(map(str, known))}." if known else ""
        message = f"The data has no '{error.args[0]}' for '{key}'.{hint}"
        raise FlowFailed("internal", message, {"available": known}) from None


STEPS: Mapping[str, StepRun] = {
    "api": run_api,
    "llm": run_llm,
    "choice": run_choice,
    "sql": run_sql,
    "render": run_render,
    "extract": run_extract,
    "none": run_end,
    "mcp": run_mcp,
}
OWN_TOOL: StepRun = run_own_tool
TEXT_STEPS = frozenset({"llm"})
