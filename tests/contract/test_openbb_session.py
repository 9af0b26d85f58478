"""Plays a session over a dashboard of twelve widgets and a PDF. With a scripted engine it checks
the exact events, with the starter the protocol."""

import base64
import json
from typing import Any

import pytest
from openbb_ai.models import Citation

from tests.contract.openbb import dashboards
from tests.contract.openbb.dashboards import follow_up
from tests.contract.openbb.player import ask, data_of, drive, names, parse, text_of
from tests.contract.openbb.talking import SENTENCE, TalkingEngine
from tests.kit.office_files import pdf
from tests.kit.running import Moat, post

EQUITY = dashboards.load("equity")
REPORT = dashboards.attachment("annual_report.pdf")
PAGES = (
    "Letter to shareholders. It was a good year.",
    "Risk factors. A strike in the port of Trieste could delay shipments.",
    "Outlook. We expect revenue of 61 billion in 2025.",
)
STEP, CALL = "copilotStatusUpdate", "copilotFunctionCall"
TEXT, CITED, NEXT = "copilotMessageChunk", "copilotCitationCollection", "copilotPromptSuggestions"
DRAWN = "copilotMessageArtifact"
PLAIN = [TEXT, CITED, NEXT]
COMPUTED = [STEP, TEXT, CITED, NEXT]
SPOKEN = "".join(SENTENCE)
# Each has the question, the widgets read, the answer's events, and the start of its text.
QUESTIONS: list[tuple[str, list[str], list[str], str]] = [
    ("Hello there!", [], [TEXT, NEXT], SPOKEN),
    ("Which headlines are there?", ["company_news"], PLAIN, SPOKEN),
    (
        "What was the highest close?",
        ["price_history"],
        COMPUTED,
        "**Highest close: 189.85 (2025-06-18)** (Price History)\n\n",
    ),
    (
        "What was the total net income?",
        ["income_statement"],
        COMPUTED,
        "**Sum of net_income: 32,135** (Income Statement)\n\n",
    ),
    ("Draw a line chart of revenue", ["income_statement"], [TEXT, DRAWN, CITED, NEXT], SPOKEN),
    (
        "What are the top 3 peers by market cap?",
        ["key_metrics"],
        [STEP, TEXT, DRAWN, CITED, NEXT],
        "**Highest market_cap: 212,700 (DYNA); 145,200 (ACME); 97,300 (FLUX)** (Peer Valuation)",
    ),
    ("Have directors been selling?", ["insider_trading"], PLAIN, SPOKEN),
    (
        "Compare Balance Sheet and Income Statement",
        ["income_statement", "balance_sheet"],
        PLAIN,
        SPOKEN,
    ),
    (
        "What was the mean close since 2025-06-01 for MSFT?",
        ["price_history"],
        COMPUTED,
        "**Average close since 2025-06-01: ",
    ),
    ("What does the company do, and who runs it?", ["company_profile"], PLAIN, SPOKEN),
]


def provide(call: dict[str, Any]) -> list[dict[str, Any]]:
    return EQUITY.provide(call)


def report(_call: dict[str, Any]) -> list[dict[str, Any]]:
    form = {"data_type": "pdf", "filename": "annual_report.pdf"}
    content = base64.b64encode(pdf(*PAGES)).decode()
    return [{"items": [{"content": content, "data_format": form}]}]


@pytest.mark.parametrize(("question", "read", "events", "begins"), QUESTIONS)
async def test_one_question(question: str, read: list[str], events: list[str], begins: str) -> None:
    calls, told = await drive(TalkingEngine(), EQUITY.request(question), provide)
    sources = [one["id"] for call in calls for one in call["input_arguments"]["data_sources"]]
    assert (sources, names(told)) == (read, events)
    assert text_of(told).startswith(begins)
    assert text_of(told).endswith(SPOKEN)


async def test_the_call_asks_for_what_the_question_needs() -> None:
    told = await ask(TalkingEngine(), EQUITY.request("The close of MSFT since 2025-06-01?"))
    assert names(told) == [STEP, CALL]
    (source,) = told[-1][1]["input_arguments"]["data_sources"]
    assert source["input_args"] == {
        "symbol": "MSFT",
        "start_date": "2025-06-01",
        "interval": "1d",
    }
    assert source["widget_uuid"] == EQUITY.widgets[0]["uuid"]


async def test_a_follow_up_question_uses_what_is_here() -> None:
    engine = TalkingEngine()
    first = EQUITY.request("What was the highest close?")
    call = (await ask(engine, first))[-1][1]
    body = follow_up(first, call, provide(call))
    body["messages"] += [
        {"role": "ai", "content": "189.85."},
        {"role": "human", "content": "And the lowest close in Price History?"},
    ]
    told = await ask(engine, body)
    assert text_of(told).startswith("**Lowest close: ")


async def test_the_pdf_is_read_and_its_pages_cited() -> None:
    engine = TalkingEngine()
    body = EQUITY.request("What could delay shipments?")
    body["widgets"]["primary"] = [REPORT]
    calls, told = await drive(engine, body, report)
    assert calls[0]["input_arguments"]["data_sources"][0]["id"] == REPORT["widget_id"]
    assert "[page 2] Risk factors." in engine.prose[0].messages[-1].content
    cited = data_of(told, CITED)[0]["citations"]
    (second,) = [
        one for one in cited if one["details"] == [{"Filename": "annual_report.pdf", "Page": 2}]
    ]
    ((box,),) = Citation.model_validate(second).model_dump()["quote_bounding_boxes"]
    assert box["text"] == "A strike in the port of Trieste could delay shipments."
    assert (box["page"], round(box["x0"]), round(box["top"])) == (2, 141, 62)


async def test_a_chart_goes_on_the_dashboard_in_a_second_hop() -> None:
    body = EQUITY.request(
        "Add a bar chart of revenue from Income Statement to the dashboard",
        workspace_options={"generative-ui": True},
    )

    def both(call: dict[str, Any]) -> list[dict[str, Any]]:
        if call["function"] == "add_generative_widget":
            return [{"status": "success", "message": "done", "data": {"widget_uuid": "new"}}]
        return EQUITY.provide(call)

    calls, told = await drive(TalkingEngine(), body, both)
    assert [call["function"] for call in calls] == ["get_widget_data", "add_generative_widget"]
    added = calls[1]["input_arguments"]
    assert added["chart_params"] == {"chartType": "bar", "xKey": "fiscal_year", "yKey": ["revenue"]}
    assert text_of(told).startswith("Income Statement is now on your dashboard.")


async def test_a_note_of_the_answer_goes_on_the_dashboard() -> None:
    body = EQUITY.request(
        "Add a note on the last close in Price History to the dashboard",
        workspace_options={"generative-ui": True},
    )

    def both(call: dict[str, Any]) -> list[dict[str, Any]]:
        if call["function"] == "add_generative_widget":
            return [{"status": "success", "message": "done", "data": {"widget_uuid": "new"}}]
        return EQUITY.provide(call)

    engine = TalkingEngine()
    calls, told = await drive(engine, body, both)
    assert [call["function"] for call in calls] == ["get_widget_data", "add_generative_widget"]
    kept = calls[1]["input_arguments"]
    assert (kept["widget_type"], kept["name"]) == ("note", "Note on Price History")
    assert kept["data"].startswith("**Latest close: 189.85")
    assert kept["data"].endswith(SPOKEN)
    assert calls[1]["extra_state"]
    assert text_of(told) == "Note on Price History is now on your dashboard."
    assert len(engine.prose) == 1


async def test_a_task_of_another_agent_is_answered_as_a_question() -> None:
    body = EQUITY.request("Look at the market for me")
    task = {"role": "ai", "content": "What was the highest close?", "agent_id": "openbb-copilot"}
    body["messages"].append(task)
    calls, told = await drive(TalkingEngine(), body, provide)
    assert calls[0]["input_arguments"]["data_sources"][0]["id"] == "price_history"
    assert text_of(told).startswith("**Highest close: 189.85")


async def test_a_skill_named_in_the_question_is_fetched_and_followed() -> None:
    catalogue = [{"slug": "risk-memo", "description": "Writes a memo", "updatedAt": "2025"}]
    body = EQUITY.request("Use the risk memo skill on Company News", skills_catalog=catalogue)
    skill = {"slug": "risk-memo", "description": "d", "contentMarkdown": "Begin with RISKS."}

    def both(call: dict[str, Any]) -> list[dict[str, Any]]:
        if call["function"] == "get_skill_content":
            return [{"status": "success", "data": {"skill": skill}}]
        return EQUITY.provide(call)

    engine = TalkingEngine()
    calls, _ = await drive(engine, body, both)
    assert [call["function"] for call in calls] == ["get_skill_content", "get_widget_data"]
    assert "Begin with RISKS." in engine.prose[0].messages[0].content


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_starter_keeps_to_the_protocol(moat: Moat) -> None:
    """Asks all ten questions over HTTP. Whatever the model says, the events are in order, and
    computed text is ours."""
    options = {"answer-length": "short"}
    for question, read, events, begins in QUESTIONS:
        body = EQUITY.request(question, workspace_options=options)
        told = _asked(moat, body)
        if read:
            call = told[-1][1]
            sources = [one["id"] for one in call["input_arguments"]["data_sources"]]
            assert set(read) <= set(sources), question
            told = _asked(moat, follow_up(body, call, EQUITY.provide(call)))
        assert text_of(told).strip()
        assert begins.startswith(SPOKEN) or text_of(told).startswith(begins), question
        shown = [name for name in names(told) if name in events]
        assert shown == [name for name in events if name in shown], question
        assert told[-1][0] == NEXT, question


def _asked(moat: Moat, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    with post(f"{moat.address}/v1/agent/query", body) as answer:
        blocks = answer.read().split(b"\n\n")
    return [parse(block + b"\n\n") for block in blocks if block.startswith(b"event:")]


def test_the_dashboard_has_twelve_widgets_with_data() -> None:
    assert len(EQUITY.widgets) == 12
    assert set(EQUITY.data) == {widget["widget_id"] for widget in EQUITY.widgets}
    assert json.dumps(EQUITY.data)
