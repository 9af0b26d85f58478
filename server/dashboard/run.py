"""Answers a question about a dashboard: asks the client for data until there is enough."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from server.asking.ask import TRYING_OUT, Means, PluginChoice
from server.chat import ChatRequest, Message, Sampling
from server.dashboard import charts
from server.dashboard.additions import add_widget, is_note, note_call, outcome
from server.dashboard.checked_text import (
    AgreeingText,
    CheckedText,
    KnownNumbers,
    TextFilter,
    filtered,
)
from server.dashboard.citations import Answer, Steps
from server.dashboard.figures.compute import Figure, compute_from, may_write, write_and_run
from server.dashboard.links import with_files
from server.dashboard.materials import Data, read_data
from server.dashboard.next_call import next_step
from server.dashboard.planned_answer import answer_by_plan
from server.dashboard.prompt import SUMMARY, compose
from server.dashboard.query import Query
from server.dashboard.wishes import words_of_note
from server.data.tables import Table
from server.errors import AppError
from server.events import (
    Artifact,
    ClientToolCall,
    Events,
    Failed,
    Finished,
    PromptProgress,
    StatusNote,
    TextDelta,
)

TEMPERATURES = {"precise": 0.1, "balanced": 0.4, "creative": 0.9}
SMALL_TOKENS = 160
"""The most tokens of an answer by a very small model: what it writes later is rambling."""


async def converse(query: Query, means: Means) -> Events:
    """Yields the answer's events. The last is Finished or Failed, after a call for the client."""
    said = tuple(Message(one.role, one.text) for one in query.said)
    plugins = means.plugins if _may_be_taken(query) else None
    request = ChatRequest(said, client=means.client)
    choice = PluginChoice(replace(means, plugins=plugins), request)
    try:
        async for note in choice.look():
            yield note
        async with aclosing(choice.taken or _steps(query, means)) as events:
            async for event in events:
                yield event
    except AppError as error:
        yield Failed(error)


def _may_be_taken(query: Query) -> bool:
    """Whether a plugin's flow may answer: the question names it, or there are no widgets.

    Beside widgets, a model that plans may choose a flow as one of its steps.
    """
    is_named = query.question.lstrip().startswith("@")
    return not query.hop and (is_named or not query.widgets)


async def _steps(query: Query, means: Means) -> Steps:
    today = _today(query.timezone)
    if any(map(is_note, query.additions)):
        yield TextDelta(outcome(query.additions))
        yield Finished("stop")
        return
    if query.note and not query.hop:
        yield StatusNote(query.note, "warning")
    if query.links and means.files is not None:
        query = await with_files(query, means.files)
    if query.lacks_all_files:
        yield TextDelta("\n\n".join(query.missing_files))
        yield Finished("stop")
        return
    # The clients of 2024 know only one kind of call, which is too little for a plan.
    may_plan = not query.plain_calls
    if may_plan and means.is_untried:
        yield StatusNote(TRYING_OUT)
    is_planned = may_plan and await means.is_able()
    answer = answer_by_plan if is_planned else _answer_by_rules
    async with aclosing(answer(query, means, today)) as events:
        async for event in events:
            yield event


async def _answer_by_rules(query: Query, means: Means, today: date) -> Steps:
    """Answers without a plan: fixed rules choose the next call or the answer."""
    step = await next_step(query, means, today)
    if step is None:
        data = await asyncio.to_thread(read_data, query)
        if query.wants_widget:
            step = await add_widget(query, means, data.best)
    if step is not None:
        for event in step.events():
            yield event
        return
    noted = words_of_note(query.question) if query.wants_note else ""
    figures = await asyncio.to_thread(compute_from, query.question, data.computable, today, noted)
    if not figures and await may_write(means, query.question):
        tables = [table for table, _ in data.computable]
        written = await write_and_run(means, query.question, tables)
        figures = [written] if written else []
    async with aclosing(_answer(query, means, data, figures)) as events:
        async for event in events:
            yield event


async def _answer(query: Query, means: Means, data: Data, figures: Sequence[Figure]) -> Steps:
    is_able = await means.is_able()
    answer = Answer(query, _lead(query, figures))
    chart = await _chart(query, means, data.best)
    prompt = await compose(means, query, data.materials, figures)
    for note in (*data.notes(), *_notes(means, figures, prompt.cuts, has_images=data.has_images)):
        yield note
    filters: list[TextFilter] = []
    if data.materials:
        texts = [message.content for message in prompt.messages]
        filters.append(await asyncio.to_thread(CheckedText.of, data.cells(), texts))
    if figures and not is_able:
        filters.append(_agreeing(query.question, figures))
    style = TEMPERATURES.get(str(query.options.get("answer-style")), TEMPERATURES["balanced"])
    request = ChatRequest(
        prompt.messages,
        sampling=Sampling(temperature=style, repeat_penalty=1.05),
        max_tokens=prompt.max_tokens if is_able else min(prompt.max_tokens, SMALL_TOKENS),
        client=means.client,
    )
    yield PromptProgress(0, 0)
    prose = filtered(means.engine.generate(request), *filters)
    async with aclosing(answer.tell(prose)) as events:
        async for event in events:
            yield event
    if answer.text and query.wants_note:
        about = data.used[0].name if data.used else ""
        yield ClientToolCall(note_call(query, about, answer.text))
        yield Finished("tool_calls")
        return
    made = _artifacts(query, data.best, figures, chart)
    async for event in answer.close(made, data.used, prompt.pages, data.materials):
        yield event


async def _chart(query: Query, means: Means, table: Table | None) -> charts.Chart | None:
    if table is None or query.plain_calls or not query.wishes.chart:
        return None
    return await charts.draw(means, query.question, table)


def _notes(
    means: Means, figures: Sequence[Figure], cuts: Sequence[str], *, has_images: bool
) -> list[StatusNote]:
    """Returns what people should know about what the model reads, and how figures were computed."""
    notes = []
    cuts = [cut for cut in cuts if not (SUMMARY in cut and _are_exact(figures))]
    if cuts:
        notes.append(StatusNote("Not everything fits: " + "; ".join(cuts[:4]), "warning"))
    if has_images and not means.engine.facts.sees_images:
        notes.append(StatusNote("This model cannot see pictures; they were left out", "warning"))
    for figure in figures:
        notes.append(StatusNote(f"Computed over {figure.table}", details={"SQL": figure.sql}))
    return notes


def _are_exact(figures: Sequence[Figure]) -> bool:
    """Whether figures cover all rows, so that it does not matter which of them the model read."""
    return bool(figures) and all(figure.is_whole for figure in figures)


def _lead(query: Query, figures: Sequence[Figure]) -> str:
    """Returns the lead of the answer, written by code, so that its digits are exact."""
    lines = [*query.missing_files, *filter(None, [outcome(query.additions)])]
    lines += [f"**{figure.text}** ({figure.table})" for figure in figures]
    return "\n\n".join(lines) + "\n\n" if lines else ""


def _agreeing(question: str, figures: Sequence[Figure]) -> AgreeingText:
    """Returns a filter for a small model, which may write no numbers but those of the figures."""
    cells = [cell for figure in figures for row in figure.rows for cell in row.values()]
    texts = [question, *(figure.text for figure in figures)]
    return AgreeingText(KnownNumbers.of(cells, texts))


def _artifacts(
    query: Query,
    table: Table | None,
    figures: Sequence[Figure],
    chart: charts.Chart | None,
) -> list[Artifact]:
    if chart is not None:
        return [chart.artifact]
    many = next((figure for figure in figures if len(figure.rows) > 1), None)
    if many is not None:
        return [Artifact("table", many.table, many.text[:200], {"rows": list(many.rows)})]
    if table is None or not (query.wishes.chart or query.wishes.table):
        return []
    return [charts.show(table)]


def _today(timezone: str) -> date:
    """Returns the day in the user's time zone, or in UTC if the zone is not known."""
    try:
        return datetime.now(ZoneInfo(timezone)).date()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.now(UTC).date()
