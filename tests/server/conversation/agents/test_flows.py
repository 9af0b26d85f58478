from typing import Any

from server.chat import Json
from server.conversation.agents.base import AgentRequest
from server.conversation.agents.plugins import FlowAgent, Progress
from server.events import (
    Artifact,
    Event,
    Events,
    Finished,
    Interrupted,
    StateChanged,
    StatusNote,
    StepChanged,
    TextDelta,
)
from server.flows.base import Flow, Step

FLOW = Flow("books", "add", "Adds a book", (Step("start", "api"),))


def told(*events: Event) -> list[Event]:
    progress = Progress(FLOW)
    return [one for event in events for one in progress.with_state(event)]


def last_state(*events: Event) -> Json:
    return [one.state for one in told(*events) if isinstance(one, StateChanged)][-1]


def test_each_step_is_told_with_the_state_it_leads_to():
    begun, ended = StepChanged("start", active=True), StepChanged("start", active=False)
    running = StateChanged({"flow": "books/add", "steps": [{"name": "start", "status": "running"}]})
    done = StateChanged({"flow": "books/add", "steps": [{"name": "start", "status": "done"}]})
    assert told(begun, TextDelta("x"), ended) == [begun, running, TextDelta("x"), done, ended]


def test_a_step_that_failed_or_waits_is_not_done():
    begun, ended = StepChanged("start", active=True), StepChanged("start", active=False)
    failed = last_state(begun, StatusNote("no", "error"), ended)
    waiting = last_state(begun, Interrupted("i", {}), ended)
    assert [failed["steps"][0]["status"], waiting["steps"][0]["status"]] == ["failed", "waiting"]


def test_what_a_flow_has_made_is_part_of_its_state():
    chart = Artifact("chart", "Weights", "", {"rows": []})
    assert last_state(chart)["artifacts"] == [
        {"kind": "chart", "name": "Weights", "description": "", "content": {"rows": []}}
    ]


async def test_a_flow_that_waits_for_one_page_is_not_gone_on_with_by_another():
    threads: list[str] = []

    class House:
        """Notes in which thread a flow is run."""

        @property
        def talk(self) -> "House":
            return self

        async def run(self, _engine: Any, _flow: Flow, _said: Any, **options: Any) -> Events:
            threads.append(options["thread"])
            yield Finished("stop")

    async def engine(_name: str | None) -> Any:
        return None

    agent = FlowAgent(FLOW, House(), engine)  # type: ignore[arg-type]
    for origin in ("https://one.example", "https://other.example", ""):
        asked = AgentRequest("books.add", "t", "r", (), origin=origin)
        assert [event async for event in agent.run(asked)] == [Finished("stop")]
    assert len(set(threads)) == 3
