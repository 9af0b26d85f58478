"""Answers a question by a plan: takes its steps, then writes prose with checked numbers.

A figure of the answer is bold if rules compute it, or if its query is certainly right. A query is
trusted if it looks up one row, or takes one aggregate over several rows, as the question asks; if
it leaves out no word of the question, and takes no row that the question does not name; and if a
second query agrees. The results of other queries are not bold.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from datetime import date
from itertools import chain

from server.asking.ask import Means
from server.chat import ChatRequest, Message, Sampling
from server.dashboard.actions import Action
from server.dashboard.arguments import find_value
from server.dashboard.checked_text import (
    CheckedText,
    KnownNumbers,
    filtered,
    is_plain_count,
    is_told,
)
from server.dashboard.citations import SPEECHLESS, Answer, Steps
from server.dashboard.conditions import GIVEN_NAME, split_list, with_sums
from server.dashboard.figures.compute import Figure, compute
from server.dashboard.figures.operations import operation
from server.dashboard.figures.question import FILLERS, has_total_row
from server.dashboard.materials import read_for
from server.dashboard.next_call import Step
from server.dashboard.plan import (
    MOST_ACTIONS,
    MOST_FAILURES,
    THOUGHT_TOKENS,
    Planner,
    alternate,
    first_sentence,
)
from server.dashboard.query import Query
from server.dashboard.results import ORDERED, Computed, is_empty
from server.data.periods import timelines
from server.data.sql import Answer as QueryAnswer
from server.data.sql import Refused
from server.data.tables import Cell, Table, from_grid
from server.events import (
    Finished,
    PromptProgress,
    ReasoningDelta,
    StatusNote,
    TextDelta,
)
from server.language.dates import Unclear, read
from server.language.ranking import stems
from server.language.words import stem

LENGTHS = {"short": 120, "normal": 320, "long": 900}
TEMPERATURES = {"precise": 0.0, "balanced": 0.2, "creative": 0.8}
MOST_LINES = 6
"""The most rows of a query that are repeated beside the instruction to write."""
WRITE = """\
Now write the answer for the user, in the language of the question, in a few plain sentences. Use \
only numbers of the results above. Say so if the data does not hold the answer."""
PLACES = """\
A value of a query is written as a placeholder: {{%(query)s.%(column)s}}, or \
{{%(query)s[2].%(column)s}} for its second row."""
TALK = "You are Moat, an analyst's assistant on the user's own computer. Answer in plain sentences."
SAID_TOLD = 5
"""The number of messages in a prompt without data: the question and two turns before it."""
ABSENT = {
    "English": "I did not find {what} in {source}.",
    "German": "{what} habe ich in {source} nicht gefunden.",
    "French": "Je n'ai pas trouvé {what} dans {source}.",
    "Spanish": "No se encuentra {what} en {source}.",
    "Chinese": "{source} 中没有找到 {what}。",
}
CHAT = "Now write the answer for the user, in the language of the question."


async def answer_by_plan(query: Query, means: Means, today: date) -> Steps:
    """Yields events that end with a call for the client, a question to the user, or the answer."""
    planner = Planner(query, means.engine, today, means.client)
    yield PromptProgress(0, 0)
    if means.plugins is not None:
        planner.flows = await means.plugins.offers(query.question)
    await planner.understand()
    step = await planner.resume()
    if step is None and planner.needs_data:
        step = await _take_steps(planner)
    if step is not None:
        for event in step.events():
            yield event
        return
    async with aclosing(await _run_flow(planner, means) or _answer(planner)) as events:
        async for event in events:
            yield event


async def _run_flow(planner: Planner, means: Means) -> Steps | None:
    """Returns the events of the flow that the model chose, or None if it chose no flow."""
    if planner.flow is None or means.plugins is None:
        return None
    key, question = planner.flow
    said = [Message(one.role, one.text) for one in planner.query.said[:-1]]
    request = ChatRequest((*said, Message("user", f"@{key} {question}")), client=means.client)
    return await means.plugins.take(means.engine, request)


async def _answer(planner: Planner) -> Steps:
    figure = None
    if planner.needs_data and not planner.asked:
        figure = await asyncio.to_thread(figure_by_rules, planner)
        if figure is None:
            await planner.compute_unasked()
            await planner.compute_rest()
    for note in planner.notes:
        yield note
    if planner.asked:
        yield TextDelta(planner.asked)
        yield Finished("stop")
        return
    async with aclosing(_write(planner, figure)) as events:
        async for event in events:
            yield event


async def _take_steps(planner: Planner) -> Step | None:
    """Takes steps until the model answers or asks, or the client has to make a call."""
    if step := await _read_pointed(planner, is_needed=False):
        return step
    if planner.change and not planner.done:
        reads = [
            {"widget": one.alias, "parameters": one.parameters} for one in planner.change.reads
        ]
        if step := await planner.do(Action("read", reads)):
            return step
    while len(planner.done) < MOST_ACTIONS and planner.failures < MOST_FAILURES:
        action = await planner.next_action()
        if action is not None and planner.wanders(action):
            await planner.compute_afresh()
            break
        if action is None or action.kind == "answer":
            if step := await _read_pointed(planner, is_needed=True):
                return step
            break
        step = await planner.do(action)
        if step is not None or planner.asked or planner.flow:
            return step
        if planner.repeats_itself:
            break
    return None


async def _read_pointed(planner: Planner, *, is_needed: bool) -> Step | None:
    """Reads the widgets that the user points at: at once if they have no parameters to choose."""
    pointed = {
        alias: one for alias, one in planner.inventory.widgets.items() if one.tier == "primary"
    }
    if not pointed or planner.done:
        return None
    if not is_needed and any(widget.params for widget in pointed.values()):
        return None
    reads = [{"widget": alias, "parameters": {}} for alias in pointed]
    return await planner.do(Action("read", reads))


async def _write(planner: Planner, figure: Figure | None) -> Steps:
    """Writes the answer. `figure` is what rules have computed over what was read."""
    results, query = planner.results, planner.query
    lead = "".join(f"{one}\n\n" for one in query.missing_files)
    lead += f"**{figure.text}** ({figure.table})\n\n" if figure else await figure_by_query(planner)
    answer = Answer(query, lead)
    instead = _plain_results(planner) or SPEECHLESS
    spoken = query.wishes.language
    is_absent = planner.absent and not lead and not results.computed and not results.artifacts
    if is_absent and spoken in ABSENT:
        prose = _tell_absent(planner, ABSENT[spoken])
    else:
        prose = _prose(planner, figure, lead)
    async with aclosing(answer.tell(prose, instead)) as events:
        async for event in events:
            yield event
    cited = results.cited()
    others = cited or results.sources
    async for event in answer.close(results.artifacts, cited, results.prompt.pages, others):
        yield event


async def _tell_absent(planner: Planner, text: str) -> Steps:
    """Says by code what the data does not have. A model would give the nearest figure instead."""
    read = ", ".join(dict.fromkeys(one.name for one in planner.results.cited()))
    yield TextDelta(text.format(source=read, what=planner.absent))
    yield Finished("stop")


async def _prose(planner: Planner, figure: Figure | None, lead: str) -> Steps:
    """Yields the model's sentences. A thought before them has tokens of its own."""
    query = planner.query
    has_data = bool(planner.results.sources or planner.results.computed)
    instruction = Message("user", _instruction(planner, figure, has_data=has_data))
    limit = LENGTHS.get(str(query.options.get("answer-length")), LENGTHS["normal"])
    style = TEMPERATURES.get(str(query.options.get("answer-style")), TEMPERATURES["balanced"])
    said = [Message(one.role, one.text) for one in query.said[-SAID_TOLD:]]
    talk = tuple(alternate([Message("system", TALK), *said]))
    request = ChatRequest(
        await planner.messages(instruction) if planner.needs_data else talk,
        sampling=Sampling(temperature=style, repeat_penalty=1.05),
        max_tokens=limit + THOUGHT_TOKENS,
        client=planner.client,
    )
    known = await asyncio.to_thread(_known, planner, figure) if has_data else None
    filters = [CheckedText(planner.results, known)] if known is not None else []
    told = lead
    async with aclosing(filtered(_limited(planner, request, limit), *filters)) as events:
        async for event in events:
            told += event.text if isinstance(event, TextDelta) else ""
            yield event
    if has_data and told != lead and figure is None and (rest := _untold(planner, told)):
        yield TextDelta(f"\n\n{rest}")


def _untold(planner: Planner, told: str) -> str:
    """Returns rows of queries, a line each, if the text leaves out some that are asked for."""
    if planner.results.artifacts:
        return ""
    newest = {one.answer.columns: one for one in planner.results.computed}
    lines = [
        f"- {one.line(row)}"
        for one in newest.values()
        if len(one.answer.rows) <= MOST_LINES
        and not is_empty(one.answer)
        and _leaves_out(told, one, planner)
        for row in one.answer.rows
    ]
    return "\n".join(lines) if len(lines) <= MOST_LINES else ""


def _leaves_out(told: str, computed: Computed, planner: Planner) -> bool:
    """Whether the text lacks rows. Of ordered rows it needs only the first and the named ones."""
    rows = computed.answer.rows
    lacking = [row for row in rows if not _is_row_told(row, told)]
    if not lacking or lacking[0] is rows[0] or not ORDERED.search(computed.sql):
        return bool(lacking)
    asked = f"{planner.own_question} {planner.meaning}"
    return any(find_value(str(cell), asked) for row in lacking for cell in row if cell is not None)


def _is_row_told(row: tuple[Cell, ...], told: str) -> bool:
    """Whether the text has a figure of the row, or a name if the row has no figures."""
    figures = [one for one in _figures(row) if not is_plain_count(abs(one)) or one != int(one)]
    if figures:
        return any(is_told(one, told) for one in figures)
    return any(str(cell).lower() in told.lower() for cell in row if cell is not None)


async def _limited(planner: Planner, request: ChatRequest, limit: int) -> Steps:
    """Yields at most `limit` tokens of text. Thoughts show as headlines and do not count."""
    written, thought, told = 0, "", ""
    async with aclosing(planner.engine.generate(request)) as pieces:
        async for piece in pieces:
            match piece:
                case TextDelta(text):
                    written += 1 if written or text.strip() else 0
                    yield piece
                    if written >= limit:
                        yield Finished("length")
                        return
                case ReasoningDelta(text):
                    thought += text
                    if not told and "\n" in thought.strip() and (told := first_sentence(thought)):
                        yield StatusNote(told)
                case PromptProgress() | Finished():
                    yield piece
                case _:
                    pass


def _instruction(planner: Planner, figure: Figure | None, *, has_data: bool) -> str:
    parts = [WRITE if has_data else CHAT]
    if found := [one for one in planner.results.computed if not is_empty(one.answer)]:
        last = found[-1]
        parts.append(PLACES % {"query": last.name, "column": last.answer.columns[-1]})
    language = planner.query.options.get("answer-language")
    spoken = planner.query.wishes.language
    if isinstance(language, str) and language.strip():
        parts.append(f"Answer in {language.strip()[:40]}.")
    elif spoken != "English":
        parts.append(f"Answer in {spoken}.")
    known = [*([figure.text] if figure else []), _plain_results(planner)]
    if any(known):
        parts.append("Results: " + "\n".join(filter(None, known)))
    return "\n".join(parts)


def _plain_results(planner: Planner) -> str:
    """Returns the rows of short query results, a line each."""
    lines = []
    for one in planner.results.computed:
        is_short = len(one.answer.rows) <= MOST_LINES and not is_empty(one.answer)
        rows = one.answer.rows if is_short else []
        for number, row in enumerate(rows, 1):
            name = one.name if len(rows) == 1 else f"{one.name}[{number}]"
            lines.append(f"{name}: {one.line(row)}")
    return "\n".join(lines)


def _known(planner: Planner, figure: Figure | None) -> KnownNumbers:
    results, query = planner.results, planner.query
    texts = [query.asked, *(one.text for one in query.said)]
    texts += [text for one in results.sources for text in one.texts()]
    texts += [one.outcome for one in planner.done]
    texts += [figure.text] if figure else []
    counts = [len(table.rows) for table in results.tables.values()]
    return KnownNumbers.of(chain(counts, results.cells()), texts)


MOST_SEARCHED_ROWS = 2000
MOST_CELLS = 4
"""A row with more cells is a table, not a figure."""
SAME_FIGURE = 1e-6
PLAIN_QUERY = re.compile(
    r"SELECT (?P<list>[^;]{1,600}?) FROM (?P<table>\w{1,200})(?P<where> WHERE [^;]{1,600}?)?"
    r"(?: ORDER BY (?P<by>\w{1,80})(?: (?P<way>ASC|DESC))?)?(?: LIMIT 1)? ?;?",
    re.IGNORECASE,
)
"""Matches a query in which all white space was reduced to single spaces."""
NOT_PLAIN = re.compile(
    r"\b(?:SELECT|UNION|JOIN|GROUP|HAVING|OVER|OR|NOT|LIKE|CASE|LIMIT|OFFSET)\b|!=|[<>]",
    re.IGNORECASE,
)
CELL_OF_LIST = re.compile(r"(\w{1,80})(?:\s+AS\s+\w{1,80})?", re.IGNORECASE)
AGGREGATE = re.compile(
    r"(AVG|SUM|TOTAL|MIN|MAX|COUNT)\s?\(\s*(?:DISTINCT\s+)?(?:\w{1,80}|\*)\s*\)(?:\s+AS\s+\w{1,80})?",
    re.IGNORECASE,
)
TEXT = re.compile(r"'([^']*)'")
OVER_ALL = re.compile(r"\b(?:all|altogether|together|combined|whole|entire|sum)\b", re.IGNORECASE)
ASKED_AS = {
    "avg": "mean", "sum": "sum", "total": "sum", "min": "min", "max": "max", "count": "count",
}  # fmt: skip
QUALIFIERS_TEXT = """
average mean weighted percent percentage pct ratio rate per change growth margin yield diluted
adjusted cumulative estimate estimated forecast target previous prior
"""
QUALIFIERS = frozenset(map(stem, QUALIFIERS_TEXT.split()))
"""Words in a column's name that make it another figure: an average price is not the price."""


async def figure_by_query(planner: Planner) -> str:
    """Returns the last computed figure in bold, if its query is plain and a second one agrees."""
    last = planner.results.computed[-1] if planner.results.computed else None
    if last is None or len(last.answer.rows) != 1 or len(last.answer.rows[0]) > MOST_CELLS:
        return ""
    numbers = list(_figures(last.answer.rows[0]))
    if not numbers or not await asyncio.to_thread(_uses_up_question, planner, last):
        return ""
    if not await _is_plain(planner, last) or not await _is_confirmed(planner, numbers):
        return ""
    return f"**{last.line(last.answer.rows[0])}**\n\n"


async def _is_plain(planner: Planner, computed: Computed) -> bool:
    """Whether the query does only what the question asks for: a lookup or an aggregate."""
    query = PLAIN_QUERY.fullmatch(" ".join(computed.sql.split()))
    table = planner.results.all_tables().get(query["table"]) if query else None
    if query is None or table is None or NOT_PLAIN.search(f"{query['list']} {query['where']}"):
        return False
    try:
        rest = read(planner.own_question, planner.today).rest
        rows = await planner.results.query(f"SELECT * FROM {query['table']}{query['where'] or ''}")
    except (Unclear, Refused):
        return False
    return await asyncio.to_thread(_takes_what_is_asked, planner, query, table, rows, rest)


def _takes_what_is_asked(
    planner: Planner, query: "re.Match[str]", table: Table, rows: QueryAnswer, rest: str
) -> bool:
    """Whether a plain query takes what the question asks for.

    `rows` are all rows that it uses, and `rest` is the question without its time.
    """
    chosen = GIVEN_NAME.sub(" ", f"{query['list']} {query['where'] or ''}").replace("_", " ")
    is_of_all = OVER_ALL.search(planner.own_question) is not None
    wanted = _asked_operation(rest, set(stems(chosen)), is_of_all=is_of_all)
    is_other = bool((set(stems(chosen)) & QUALIFIERS) - set(stems(planner.own_question)))
    texts = TEXT.findall(query["where"] or "")
    if wanted is None or is_other or not all(_is_named(planner, one, table) for one in texts):
        return False
    parts = [part.strip() for part in split_list(query["list"])]
    found = from_grid(rows.columns, rows.rows, query["table"])
    if all(map(CELL_OF_LIST.fullmatch, parts)):
        is_largest = wanted in ("max", "min") and has_total_row(found)
        return not is_largest and _is_looked_up(query, wanted, len(rows.rows), table)
    made = AGGREGATE.fullmatch(parts[0]) if len(parts) == 1 and not query["by"] else None
    if made is None or len(rows.rows) == 1:
        return made is not None and not wanted and made[1].lower() != "count"
    is_asked = ASKED_AS[made[1].lower()] == wanted and not has_total_row(found)
    return is_asked and _takes_right_rows(rest, table, chosen)


def _asked_operation(question: str, taken: set[str], *, is_of_all: bool) -> str | None:
    """Returns the computation asked for. A column of totals is only summed over all rows."""
    wanted = operation(question, taken, taken)
    if wanted is None:
        return None
    return wanted.name or ("sum" if is_of_all else "")


def _is_named(planner: Planner, value: str, table: Table) -> bool:
    """Whether the question means this text of the table, and no other text of the column.

    It has all of its words, or words that no other text has together.
    """
    is_symbol = any(one.is_meant_by(value) for one in planner.named_symbols())
    if is_symbol or value in _arguments(planner):
        return True
    asked = set(stems(planner.own_question))
    words = set(stems(value))
    if words <= asked:
        return True
    for column in table.of_kind("text"):
        texts = {str(one) for one in table.values(column.name) if one is not None}
        others = [set(stems(one)) for one in texts if one.lower() != value.lower()]
        is_held = len(others) < len(texts)
        if is_held and (not words & asked or any(words & asked <= other for other in others)):
            return False
    return True


def _is_looked_up(query: "re.Match[str]", wanted: str, rows: int, table: Table) -> bool:
    """Whether one row is taken: the only one, or the first or last in time or by size."""
    if not query["by"]:
        return rows == 1 and wanted in ("", "last", "first")
    falls = (query["way"] or "").upper() == "DESC"
    is_shown = query["by"].lower() in query["list"].lower()
    by_size = wanted in ("max", "min") and is_shown
    by_time = wanted in ("last", "first") and query["by"].lower() in {
        line.column.lower() for line in timelines(table)
    }
    return rows > 0 and (by_size or by_time) and falls == (wanted in ("max", "last"))


def _takes_right_rows(question: str, table: Table, chosen: str) -> bool:
    """Whether the query has every word of the question that only some of the rows have."""
    asked = set(stems(question)) - set(stems(chosen))
    for column in table.of_kind("text"):
        texts = Counter(str(one) for one in table.values(column.name) if one is not None)
        labels = [(set(stems(text)), count) for text, count in texts.items()]
        for word in asked:
            rows = sum(count for label, count in labels if word in label)
            if 0 < rows < texts.total():
                return False
    return True


def _uses_up_question(planner: Planner, computed: Computed) -> bool:
    """Whether the query or the sources have each word, number and company of the question.

    False for a question in another language than the table's, whose words are not there, and for
    one that refers to the question before and was not completed.
    """
    question = planner.own_question
    is_completed = question != planner.query.question or not planner.before.question
    is_own = question == planner.meaning and not planner.is_joined
    if not is_completed or not is_own or not planner.results.uses_all_read():
        return False
    arguments = _arguments(planner)
    try:
        rest = read(question, planner.today).rest
    except Unclear:
        return False
    wanted = operation(rest, set(), set())
    if wanted is None:
        return False
    names = [source.name for source in planner.results.cited()]
    used = " ".join([with_sums(computed.sql), *arguments, *planner.results.tables, *names])
    words = {*stems(used.replace("_", " ")), *wanted.words, *FILLERS}
    named = planner.named_symbols()
    said = {word for one in named for word in stems(one.words)}
    if any(word not in words | said for word in stems(rest)):
        return False
    if not _whole_numbers(question) <= _whole_numbers(used):
        return False
    tables = planner.results.tables.values()
    cells = {
        str(cell) for table in tables for row in table.rows[:MOST_SEARCHED_ROWS] for cell in row
    }
    return all(any(one.is_meant_by(value) for value in [*arguments, *cells]) for one in named)


def _arguments(planner: Planner) -> list[str]:
    """Returns the values for which the sources were read."""
    return [
        str(value)
        for source in planner.results.sources
        if source.source is not None
        for value in source.source.arguments.values()
    ]


def _whole_numbers(text: str) -> set[int]:
    return set(map(int, re.findall(r"\d{1,9}", text)))


def _figures(row: tuple[Cell, ...]) -> Iterator[float]:
    for cell in row:
        if isinstance(cell, int | float) and math.isfinite(cell):
            yield float(cell)


async def _is_confirmed(planner: Planner, numbers: list[float]) -> bool:
    try:
        again = await planner.results.query(await planner.write_sql())
    except Refused:
        return False
    if len(again.rows) != 1:
        return False
    return _are_same(numbers, list(_figures(again.rows[0])))


def figure_by_rules(planner: Planner) -> Figure | None:
    """Returns the figure that rules compute over this question's tables, if it is only one."""
    if planner.is_joined:
        return None
    sources = planner.results.cited()
    found = [
        figure
        for source in sources
        for table in source.tables
        if (figure := compute(planner.own_question, table, planner.today, read_for(source)))
    ]
    return found[0] if len({figure.text for figure in found}) == 1 else None


def _are_same(first: list[float], second: list[float]) -> bool:
    """Whether every figure of the shorter list is in the longer one."""
    few, many = sorted((first, second), key=len)
    return bool(few) and all(
        any(math.isclose(one, other, rel_tol=SAME_FIGURE, abs_tol=1e-9) for other in many)
        for one in few
    )
