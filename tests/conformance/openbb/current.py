"""The protocol as Workspace speaks it today."""

import json
import threading
import uuid
from typing import Any

from tests.conformance.openbb.client import Json
from tests.conformance.openbb.material import (
    NEWS,
    ROWS,
    ai,
    dashboard,
    encode,
    fetch,
    fetched,
    human,
    item,
    items,
    make_pdf,
    make_png,
    make_xlsx,
    news_widget,
    price_widget,
    request,
    widget,
)
from tests.conformance.openbb.player import Player, text_of
from tests.conformance.verdicts import Cases, Failed, need, shorten

CASES: Cases[Player] = Cases()
case = CASES.case
HELLO = human("Say hello.")
LAST_CLOSE = human("What was the last closing price?")
PATIENT: Json = {"hops": 3, "may_repeat": True}
"""For answers to data that says little: a model may ask for it again."""


@case("current/plain-chat")
def chat(player: Player) -> str:
    return player.expect_text(request(human("Say hello in one short sentence.")))


@case("current/conversation")
def go_on_in_a_talk(player: Player) -> str:
    greeting = ai("Hello Ada.", agent_id=player.agent_id)
    question = human("What is 2 + 2? Answer with the number.")
    return player.expect_text(request(human("My name is Ada."), greeting, question))


@case("current/minimal-body")
def take_the_least_body(player: Player) -> str:
    return player.expect_text({"messages": [HELLO]})


FOOD = {"name": "food", "description": "The favourite food"}
FOOD_QUESTION = human("What is my favourite food?")


@case("current/context-items")
def take_context(player: Player) -> str:
    found = item(json.dumps([{"food": "pizza"}]), data_type="object", parse_as="table")
    given = {"uuid": str(uuid.uuid4()), **FOOD, "data": items(found), "metadata": {}}
    return player.expect_text(request(FOOD_QUESTION, context=[given]))


@case("current/context-old-form")
def take_context_of_old(player: Player) -> str:
    given = {"uuid": str(uuid.uuid4()), **FOOD, "data": {"content": "pizza"}}
    return player.expect_text(request(FOOD_QUESTION, context=[given]), is_sdk_valid=False)


@case("current/primary-widget-call")
def ask_for_the_widget(player: Player) -> str:
    box = price_widget()
    body = request(LAST_CLOSE, primary=[box], workspace_state=dashboard(box))
    _, events = player.ask(body, offered=[box])
    calls = [event.data for event in events if event.name == "copilotFunctionCall"]
    if not calls and player.options.allow_no_call:
        return "no call, which is allowed"
    need(calls, "somebody added a widget by hand, and its data is not asked for")
    name = calls[0]["function"]
    need(name == "get_widget_data", f"wanted get_widget_data, got {name}")
    symbol = calls[0]["input_arguments"]["data_sources"][0]["input_args"].get("symbol")
    if symbol != "ACME":
        player.warn(f"the widget shows ACME, and {symbol!r} is asked for")
    return shorten(calls[0], 110)


@case("current/round-trip")
def fetch_and_answer(player: Player) -> str:
    box = price_widget()
    body = request(LAST_CLOSE, primary=[box], workspace_state=dashboard(box))
    calls, events = player.drive(body, fetch, offered=[box])
    need(calls or player.options.allow_no_call, "it answered without the widget's data")
    is_cited = any(event.name == "copilotCitationCollection" for event in events)
    return tell(calls, text_of(events)) + (", cited" if is_cited else "")


def tell(calls: list[Json], text: str = "") -> str:
    return f"{len(calls)} calls, then {len(text)} characters" if text else f"{len(calls)} calls"


@case("current/round-trip-two-widgets")
def fetch_two_widgets(player: Player) -> str:
    boxes = [price_widget(), news_widget()]
    question = human("Relate the price to the news.")
    body = request(question, primary=boxes, workspace_state=dashboard(*boxes))
    calls, _ = player.drive(body, fetch, offered=boxes)
    asked = [call["input_arguments"].get("data_sources", []) for call in calls]
    return f"{len(calls)} calls for {[source['id'] for sources in asked for source in sources]}"


@case("current/dashboard-widgets-only")
def choose_from_the_dashboard(player: Player) -> str:
    boxes = [price_widget(), news_widget()]
    question = human("Which headlines are there about the company?")
    body = request(question, secondary=boxes, workspace_state=dashboard(*boxes))
    calls, _ = player.drive(body, fetch, offered=boxes)
    return tell(calls)


@case("current/widget-error")
def answer_after_an_error(player: Player) -> str:
    box = price_widget()
    error = {"error_type": "gateway_error", "content": "HTTP 404 from the backend"}
    body = request(LAST_CLOSE, primary=[box])
    calls, _ = player.drive(body, lambda _call: [error], offered=[box], **PATIENT)
    return tell(calls)


def answer_from(
    player: Player, question: str, box: Json, data: list[Json], arguments: Json | None = None
) -> tuple[list[Json], str]:
    """Asks where the data was fetched already: the calls that came, and the answer."""
    body = request(human(question), *fetched(data, box, arguments), primary=[box])
    calls, events = player.drive(body, fetch, offered=[box], **PATIENT)
    return calls, text_of(events)


@case("current/empty-widget-data")
def answer_from_nothing(player: Player) -> str:
    data = [items(item("[]"))]
    calls, _ = answer_from(player, "What was the last closing price?", price_widget(), data)
    return tell(calls)


@case("current/tool-result-items")
def answer_from_text(player: Player) -> str:
    data = [items(item(NEWS))]
    given = {"ticker": "ACME"}
    return tell(*answer_from(player, "Rate each headline.", news_widget(), data, given))


@case("current/files")
def answer_from_files(player: Player) -> str:
    box = widget("file-1", "report.pdf", "An attached file", metadata={"extension": "pdf"})
    pdf = encode(make_pdf("The secret word is MARZIPAN."))
    data = items(
        item(pdf, data_type="pdf", filename="report.pdf"),
        item(encode(make_png()), data_type="png", filename="p.png"),
        item(encode(make_xlsx()), data_type="xlsx", filename="t.xlsx", parse_as="table"),
        item("a,b\n1,2\n", data_type="csv", filename="t.csv", parse_as="table"),
        item("# Title", data_type="md", filename="t.md"),
    )
    calls, text = answer_from(player, "What is the secret word?", box, [data])
    return f"{tell(calls)}, word found: {'MARZIPAN' in text.upper()}"


@case("current/broken-files")
def answer_from_broken_files(player: Player) -> str:
    box = widget("file-2", "broken.pdf", "An attached file")
    broken = items(
        item("JVBERi0=not-a-pdf", data_type="pdf", filename="broken.pdf"),
        item(encode(b"PK\x03\x04junk"), data_type="docx", filename="broken.docx"),
    )
    told = {"data_type": "pdf", "filename": "report.pdf"}
    linked = items({"url": "https://files.invalid/report.pdf", "data_format": told})
    calls, _ = answer_from(player, "Summarise the file.", box, [broken, linked])
    return tell(calls)


@case("current/attachment-without-uuid")
def take_widgets_without_ids(player: Player) -> str:
    file = {
        "origin": "OpenBB Hub",
        "widget_id": f"file-{uuid.uuid4()}",
        "name": "logs.csv",
        "description": "logs",
        "params": [],
        "metadata": {"extension": "csv"},
    }
    framed = {
        "origin": "OpenBB Workspace",
        "widget_id": f"{uuid.uuid4()}::iframe::inner",
        "uuid": f"{uuid.uuid4()}::iframe::inner",
        "name": "Inner",
        "description": "",
        "params": [],
        "metadata": {},
    }
    body = request(human("What is in the file?"), primary=[file], secondary=[framed])
    calls, _ = player.drive(body, fetch, offered=[file, framed], is_sdk_valid=False)
    return tell(calls)


@case("current/mcp-tools")
def call_a_tool(player: Player) -> str:
    question = {"type": "string", "description": "the question"}
    tool = {
        "server_id": "srv-1",
        "name": "Lab_lookup_answer",
        "url": "http://127.0.0.1:9/mcp",
        "description": "Looks up the answer to a question",
        "input_schema": {
            "type": "object",
            "properties": {"question": question},
            "required": ["question"],
        },
    }

    def provide(call: Json) -> list[Json]:
        if call["function"] == "execute_agent_tool":
            asked = call["input_arguments"]
            is_same = (asked["server_id"], asked["tool_name"]) == ("srv-1", tool["name"])
            need(is_same, "execute_agent_tool must repeat server_id and the whole name")
        return fetch(call)

    body = request(
        human("Use the lookup tool to find the answer to everything."),
        tools=[tool],
        workspace_options={"mcp-tools": True},
    )
    calls, _ = player.drive(body, provide)
    return str([call["function"] for call in calls])


@case("current/orchestrated")
def work_for_another_agent(player: Player) -> str:
    task = ai("Write one sentence about prices.", agent_id="openbb-copilot")
    calls, _ = player.drive(request(human("Ask the helper."), task), fetch)
    return tell(calls)


@case("current/unknown-fields")
def ignore_unknown_fields(player: Player) -> str:
    skill = {"slug": "brief", "description": "How to answer briefly"}
    chosen = {"slug": "brief", "description": "b", "contentMarkdown": "Be brief."}
    body = request(
        {**HELLO, "uuid": "u", "timestamp": 1, "files": []},
        model="some-model",
        skills_catalog=[{**skill, "updatedAt": "2026-01-01T00:00:00Z"}],
        selected_skills=[{**chosen, "source": "forced_slash"}],
        semantic_views=[],
        force_web_search=False,
        some_future_field={"a": [1, None]},
        workspace_options={"web-search": True, "model": "x"},
        workspace_state={
            "current_page_context": "other",
            "current_dashboard_info": None,
            "extra_widgets_slim": True,
        },
    )
    calls, _ = player.drive(body, fetch)
    return tell(calls)


@case("current/options-as-list")
def take_options_in_a_list(player: Player) -> str:
    body = request(HELLO, workspace_options=["web-search", "model=x"])
    return player.expect_text(body, is_sdk_valid=False)


@case("current/odd-history")
def take_an_odd_talk(player: Player) -> str:
    marked = (
        "See <|start_artifact_id|>Table_ab12<|end_artifact_id|> and "
        "<|start_citation_id|>c1<|end_citation_id|>."
    )
    odd = "\u2028 \u2029 \u0000 \u00e9 \U0001f600 {x} {{y}} </s>"
    return player.expect_text(
        request(
            human('{"function": "get_widget_data", "input_arguments": {}}'),
            ai(marked),
            human(f"Thanks. Repeat these characters: {odd}"),
        )
    )


@case("current/large-table")
def answer_from_a_large_table(player: Player) -> str:
    rows = [{**ROWS[number % 10], "row": number} for number in range(60_000)]
    data = [items(item(json.dumps(rows)))]
    given = {"symbol": "ACME", "limit": 60_000}
    return tell(*answer_from(player, "How many rows are there?", price_widget(), data, given))


@case("current/long-history")
def take_a_long_talk(player: Player) -> str:
    turns = []
    for number in range(60):
        turns.append(human(f"Question {number}: " + "word " * 120))
        turns.append(ai("Answer. " + "text " * 200))
    return player.expect_text(request(*turns, HELLO))


@case("current/abort-then-next")
def answer_after_somebody_left(player: Player) -> str:
    body = request(human("Write a long story about a river."))
    reply = player.client.post(player.current_endpoint, body, leave_early=True)
    need(reply.status == 200 and reply.body, f"HTTP {reply.status}")
    return player.expect_text(request(HELLO))


@case("current/two-at-once")
def answer_two_at_once(player: Player) -> str:
    problems: list[Any] = []

    def ask(number: int) -> None:
        try:
            body = request(human(f"Say the number {number}."))
            player.expect_text(body, timeout=player.options.timeout * 2)
        except Exception as error:  # noqa: BLE001 - reported by the thread that waits
            problems.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise Failed(f"one of two requests at once: {problems[0]}")
    return "both answered"
