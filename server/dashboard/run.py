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
from server.dashboard.checked_text import AgreeingText, CheckedText, KnownNumbers
from server.dashboard.citations import Answer, Steps
from server.dashboard.figures.compute import Figure, compute, write_and_run
from server.dashboard.links import with_files
from server.dashboard.materials import Data, Material, read_data
from server.dashboard.next_call import next_step
from server.dashboard.planned_answer import answer_by_plan
from server.dashboard.prompt import SUMMARY, Prompt, compose
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
from server.sentences import Sentence

TEMPERATURES = {"precise": 0.1, "balanced": 0.4, "creative": 0.9}
MOST_FIGURES = 2
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
    async with aclosing(_answer(query, means, data, today)) as events:
        async for event in events:
            yield event


async def _answer(query: Query, means: Means, data: Data, today: date) -> Steps:
    figures = await _figures(query, means, data, today)
    chart = await _chart(query, means, data.best)
    prompt = await compose(means, query, data.materials, figures)
    for note in _notes(means, data.materials, figures, prompt):
        yield note
    answer = Answer(query, _lead(query, figures))
    checked: CheckedText | None = None
    if data.materials:
        tables = [table for one in data.materials for table in one.tables]
        texts = [message.content for message in prompt.messages]
        checked = await asyncio.to_thread(CheckedText.of_tables, tables, texts)
    agreeing = await _agreeing(query, means, figures)
    prose = _speak(query, means, prompt, checked, agreeing)
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


async def _figures(query: Query, means: Means, data: Data, today: date) -> list[Figure]:
    noted = words_of_note(query.question) if query.wants_note else ""
    found = []
    for table, read_for in data.computable:
        about = f"{read_for} {noted}"
        figure = await asyncio.to_thread(compute, query.question, table, today, about)
        if figure is not None:
            found.append(figure)
        if len(found) == MOST_FIGURES:
            break
    if not found:
        tables = [table for table, _ in data.computable]
        written = await write_and_run(means, query.question, tables)
        found = [written] if written else []
    return found


async def _chart(query: Query, means: Means, table: Table | None) -> charts.Chart | None:
    if table is None or query.plain_calls or not query.wishes.chart:
        return None
    return await charts.draw(means, query.question, table)


def _notes(
    means: Means, materials: Sequence[Material], figures: Sequence[Figure], prompt: Prompt
) -> list[StatusNote]:
    notes = []
    for material in materials:
        if material.is_new:
            notes += [
                StatusNote(Sentence("{0}: {1}", material.name, problem), "warning")
                for problem in material.problems
            ]
            told = [note for document in material.documents for note in document.notes]
            notes += [StatusNote(note, "warning") for note in told]
    cuts = [cut for cut in prompt.cuts if not (SUMMARY in cut and _are_exact(figures))]
    if cuts:
        notes.append(StatusNote("Not everything fits: " + "; ".join(cuts[:4]), "warning"))
    pictured = any(material.images for material in materials if material.is_new)
    if pictured and not means.engine.facts.sees_images:
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


async def _agreeing(query: Query, means: Means, figures: Sequence[Figure]) -> AgreeingText | None:
    """Returns a filter for a small model, which may write no numbers but those of the figures."""
    if not figures or await means.is_able():
        return None
    numbers = [cell for one in figures for row in one.rows for cell in row.values()]
    known = [float(one) for one in numbers if isinstance(one, int | float)]
    texts = [query.question, *(figure.text for figure in figures)]
    return AgreeingText(KnownNumbers.of(known, texts))


async def _speak(
    query: Query,
    means: Means,
    prompt: Prompt,
    checked: CheckedText | None,
    agreeing: AgreeingText | None,
) -> Steps:
    limit = prompt.max_tokens
    if not await means.is_able():
        limit = min(limit, SMALL_TOKENS)
    temperature = TEMPERATURES.get(str(query.options.get("answer-style")), TEMPERATURES["balanced"])
    request = ChatRequest(
        prompt.messages,
        sampling=Sampling(temperature=temperature, repeat_penalty=1.05),
        max_tokens=limit,
        client=means.client,
    )
    began = False
    yield PromptProgress(0, 0)
    async with aclosing(means.engine.generate(request)) as pieces:
        async for piece in pieces:
            match piece:
                case TextDelta(text):
                    text = text if began else text.lstrip()
                    began = began or bool(text)
                    text = checked.feed(text) if checked else text
                    text = agreeing.feed(text) if agreeing else text
                    if text:
                        yield TextDelta(text)
                case Finished():
                    rest = checked.end() if checked else ""
                    rest = agreeing.feed(rest) + agreeing.end() if agreeing else rest
                    if rest:
                        yield TextDelta(rest)
                    yield piece
                case PromptProgress():
                    yield piece
                case _:
                    pass


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
