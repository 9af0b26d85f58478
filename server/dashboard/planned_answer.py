"""The answer to a question by a plan: its steps, then prose whose numbers are held to the data."""

import asyncio
from contextlib import aclosing
from datetime import date

from server.asking.ask import Means
from server.chat import ChatRequest, Message, Sampling
from server.dashboard.actions import Action
from server.dashboard.bold_figure import figure_by_query, figure_by_rules
from server.dashboard.checked_text import CheckedText, KnownNumbers
from server.dashboard.citations import SPEECHLESS, Answer, Steps
from server.dashboard.figures.compute import Figure
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
from server.events import (
    Finished,
    PromptProgress,
    ReasoningDelta,
    StatusNote,
    TextDelta,
)
from server.language.words import language_of

LENGTHS = {"short": 120, "normal": 320, "long": 900}
TEMPERATURES = {"precise": 0.0, "balanced": 0.2, "creative": 0.8}
MOST_LINES = 6
"""So many rows of a query stand beside the instruction to write."""
WRITE = """\
Now write the answer for the user, in the language of the question, in a few plain sentences. Use \
only numbers of the results above. Say so if the data does not hold the answer."""
PLACES = """\
A value of a query is written as a placeholder: {{%(query)s.%(column)s}}, or \
{{%(query)s[2].%(column)s}} for its second row."""
TALK = "You are Moat, an analyst's assistant on the user's own computer. Answer in plain sentences."
SAID_TOLD = 5
"""The question and two turns before it."""
CHAT = "Now write the answer for the user, in the language of the question."


async def answer_by_plan(query: Query, means: Means, today: date) -> Steps:
    """Ends with a call for the client, with a question to the user, or with the answer."""
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
    """The events of the flow that the model chose; None where it chose none."""
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
    """Until the model answers, asks, or a call for the client is due."""
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
    """What the user points at is read in any case; at once where there is nothing to choose."""
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
    """`figure` is what the rules compute over what was read."""
    results, query = planner.results, planner.query
    lead = "".join(f"{one}\n\n" for one in query.missing_files)
    lead += f"**{figure.text}** ({figure.table})\n\n" if figure else await figure_by_query(planner)
    answer = Answer(query, lead)
    instead = _plain_results(planner) or SPEECHLESS
    async with aclosing(answer.tell(_prose(planner, figure), instead)) as events:
        async for event in events:
            yield event
    cited = results.cited()
    others = cited or results.sources
    async for event in answer.close(results.artifacts, cited, results.prompt.pages, others):
        yield event


async def _prose(planner: Planner, figure: Figure | None) -> Steps:
    """The model's own sentences; a thought before them has room of its own."""
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
    checked = CheckedText(planner.results, _known(planner, figure)) if has_data else None
    async with aclosing(_limited(planner, request, limit)) as pieces:
        async for piece in pieces:
            if checked is None or not isinstance(piece, TextDelta):
                yield piece
            elif text := checked.feed(piece.text):
                yield TextDelta(text)
    if checked is not None and (rest := checked.end()):
        yield TextDelta(rest)


async def _limited(planner: Planner, request: ChatRequest, limit: int) -> Steps:
    """At most `limit` tokens of text; thoughts are told by their headlines and do not count."""
    written, thought, told = 0, "", ""
    async with aclosing(planner.engine.generate(request)) as pieces:
        async for piece in pieces:
            match piece:
                case TextDelta(text):
                    text = text if written else text.lstrip()
                    written += 1 if text else 0
                    if text:
                        yield TextDelta(text)
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
    if planner.results.computed:
        last = planner.results.computed[-1]
        parts.append(PLACES % {"query": last.name, "column": last.answer.columns[-1]})
    language = planner.query.options.get("answer-language")
    spoken = language_of(planner.query.question)
    if isinstance(language, str) and language.strip():
        parts.append(f"Answer in {language.strip()[:40]}.")
    elif spoken != "English":
        parts.append(f"Answer in {spoken}.")
    known = [*([figure.text] if figure else []), _plain_results(planner)]
    if any(known):
        parts.append("Results: " + "\n".join(filter(None, known)))
    return "\n".join(parts)


def _plain_results(planner: Planner) -> str:
    """The few rows that were computed, each in a line."""
    lines = []
    for one in planner.results.computed:
        rows = one.answer.rows if len(one.answer.rows) <= MOST_LINES else []
        for number, row in enumerate(rows, 1):
            name = one.name if len(rows) == 1 else f"{one.name}[{number}]"
            lines.append(f"{name}: {one.line(row)}")
    return "\n".join(lines)


def _known(planner: Planner, figure: Figure | None) -> KnownNumbers:
    results, query = planner.results, planner.query
    pages = [page for one in results.sources for doc in one.documents for page in doc.pages]
    texts = [query.asked, *(one.text for one in query.said), *pages]
    texts += [one.outcome for one in planner.done]
    texts += [figure.text] if figure else []
    return KnownNumbers.of(results.numbers(), texts)
