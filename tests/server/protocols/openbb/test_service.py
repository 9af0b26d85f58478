from collections.abc import Callable
from typing import Any

import pytest

from server.asking.ask import Means
from server.conversation.agents.base import Agents
from server.errors import BadRequest, EngineCrashed
from server.protocols.base import Facts, Reply, Run, Upload
from server.protocols.openbb import service
from tests.contract.openbb.player import FACTS
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.engines import ScriptedEngine, fails_trial, passes_trial, says
from tests.kit.threads import make_threads

NO_MODELS = Facts("http://localhost:1")
ASKED = {"messages": [{"role": "human", "content": "compare two bonds, please!"}]}
WIDGETS = {"widgets": [{"name": "Price History"}, {"name": "Company News"}]}


async def answered(
    accept: Callable[..., Any], collect: Any, body: Any, engine: Any, trial: Any = passes_trial
) -> Reply:
    accepted = accept(body, FACTS)
    assert isinstance(accepted, Run)
    reply = await collect(accepted.converse(Means(engine, can_plan=trial)), body, FACTS)
    assert isinstance(reply, Reply)
    return reply


async def test_a_model_that_fails_the_trial_is_not_asked_for_a_title() -> None:
    engine = TalkingEngine()
    reply = await answered(service.chat_title, service.collect_json, ASKED, engine, fails_trial)
    assert reply.body == "Compare two bonds, please"
    assert engine.requests == []


async def test_an_able_model_writes_the_title() -> None:
    engine = TalkingEngine()
    reply = await answered(service.chat_title, service.collect_json, ASKED, engine)
    assert reply.body == "something"
    reply = await answered(service.dashboard_title, service.collect_text, WIDGETS, engine)
    assert (reply.text, reply.content_type) == ("something", "text/plain")


async def test_a_model_that_fails_leaves_the_plain_title() -> None:
    engine = ScriptedEngine([EngineCrashed("gone")])
    reply = await answered(service.chat_title, service.collect_json, ASKED, engine)
    assert reply.body == "Compare two bonds, please"


def test_without_a_model_there_are_still_titles() -> None:
    assert service.chat_title(ASKED, NO_MODELS) == Reply("Compare two bonds, please")
    plain = service.dashboard_title(WIDGETS, NO_MODELS)
    assert plain == Reply(text="Price History and Company News", content_type="text/plain")
    better = service.enhance_prompt({**ASKED, **WIDGETS}, NO_MODELS)
    assert isinstance(better, Reply)
    assert better.text is not None
    assert "Price History" in better.text


async def test_an_able_model_rewrites_the_prompt() -> None:
    body = {"messages": ASKED["messages"], "widgets": {"primary": WIDGETS["widgets"]}}
    engine = TalkingEngine()
    reply = await answered(service.enhance_prompt, service.collect_text, body, engine)
    assert reply.text == "Here is what the data says."
    assert "Price History" in engine.requests[0].messages[1].content


def test_a_widget_is_described_from_its_data() -> None:
    rows = '[{"date": "2025-01-01", "close": 1.5, "volume": 3}]'
    asked = {"widget_generation_request": {"name": "Prices", "widget_data": rows}}
    assert service.widget_info(asked, FACTS).body == {
        "title": "Prices",
        "description": "1 rows with date, close, volume",
        "category": "Equity",
        "subcategory": "Table",
    }
    assert service.widget_info({}, FACTS).body["subcategory"] == "Note"


async def test_code_is_freed_of_its_fence() -> None:
    engine = ScriptedEngine(says("Sure:\n```python\nprint(1)\n```\nDone."))
    reply = await answered(service.code, service.collect_code, {"prompt": "p"}, engine)
    assert reply.body == {"success": True, "generated_code": "print(1)\n"}


async def test_code_that_cannot_be_written_says_why() -> None:
    reply = await answered(
        service.code, service.collect_code, {"prompt": "p"}, ScriptedEngine(says())
    )
    assert reply.body["success"] is False
    without = service.code({"prompt": "p"}, NO_MODELS)
    assert isinstance(without, Reply)
    assert without.body["error_message"] == "No model is installed."


@pytest.mark.parametrize("accept", [service.chat_title, service.widget_info, service.code])
def test_a_body_that_is_no_object_is_refused(accept: Callable[..., Any]) -> None:
    with pytest.raises(BadRequest):
        accept([], FACTS)


async def file_info(**fields: Any) -> Any:
    looked = service.widget_info_of_file(fields, NO_MODELS)
    reply = await looked.find(Agents(tuple, make_threads()))
    assert isinstance(reply, Reply)
    return reply.body


async def test_a_file_is_named_by_what_is_in_it() -> None:
    table = Upload("C:\\desk\\bond_yields.csv", b"maturity,coupon,yield\n2030,2,3\n2031,3,4\n")
    assert await file_info(file=table) == {
        "title": "Bond yields",
        "description": "2 rows with maturity, coupon, yield",
        "category": "Fixed Income",
        "subcategory": "Table",
    }
    text = Upload("note.txt", b"Inflation and unemployment by country")
    found = await file_info(file=text, name="My note")
    assert (found["title"], found["category"], found["subcategory"]) == (
        "My note", "Economy", "Note",
    )  # fmt: skip


async def test_a_file_that_cannot_be_read_still_has_a_name() -> None:
    found = await file_info(file=Upload("../../x/scan.zip", b"PK\x03\x04broken"))
    assert found["title"] == "Scan"
    assert "damaged" in found["description"]


def test_a_form_without_a_file_is_refused() -> None:
    with pytest.raises(BadRequest, match="file"):
        service.widget_info_of_file({"name": "x"}, NO_MODELS)
