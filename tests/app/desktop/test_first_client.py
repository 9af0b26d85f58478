from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget

from app.desktop.probe import NAME, FirstClient, find_talk, words_of
from server.face.core import AnsweredRequest, Knock, RunningRequest, ServerStatus
from tests.kit.fake_core import FakeCore

Shown = Callable[[Any], Any]
WORKSPACE = "https://pro.openbb.co"
READ = Knock(1.0, WORKSPACE, "GET", "Mozilla", "let in", "/agents.json")
ASKS = RunningRequest(1, WORKSPACE, "/v1/agent/query", "m", 2.0, "writing")

HEALTH = AnsweredRequest(1, "curl", "/health", "", 2.0, 0.0, "stop")


def ended(client: str, outcome: str = "stop") -> AnsweredRequest:
    return AnsweredRequest(1, client, "/v1/agent/query", "m", 2.0, 1.0, outcome)


@pytest.mark.parametrize(
    ("knocks", "requests", "answered", "state", "who"),
    [
        ((), (), (), "nothing", ""),
        ((READ,), (), (), "reached", "OpenBB Workspace"),
        ((READ,), (ASKS,), (), "asking", "OpenBB Workspace"),
        ((READ,), (), (ended(WORKSPACE, "engine_crashed"),), "failed", "OpenBB Workspace"),
        ((READ,), (ASKS,), (ended("zed", "length"),), "answered", "zed"),
        ((Knock(1.0, "https://a.b", "GET", "x", "origin", "/"),), (), (), "blocked", "https"),
        ((Knock(1.0, "", "GET", "continue", "key", "/"),), (), (), "no key", "continue"),
        ((Knock(1.0, WORKSPACE, "GET", NAME, "let in"),), (), (ended(NAME),), "nothing", ""),
        ((), (), (ended("moat chat"),), "nothing", ""),
        ((), (), (HEALTH,), "nothing", ""),
        ((READ,), (), (HEALTH,), "reached", "OpenBB Workspace"),
    ],
)
def test_how_far_a_program_has_come(
    knocks: Any, requests: Any, answered: Any, state: str, who: str
) -> None:
    talk = find_talk(knocks, requests, answered)
    assert (talk.state, talk.who.startswith(who)) == (state, True)
    assert "{" not in words_of(talk)


async def test_it_follows_a_program_to_its_first_answer_and_stays_there(
    core: FakeCore, shown: Shown
) -> None:
    waiting = FirstClient(core)
    around = QWidget()
    waiting.setParent(around)
    shown(around)
    core.server.set(ServerStatus("stopped"))
    assert waiting.isHidden(), "nobody can come while Moat is stopped"
    core.server.set(ServerStatus("ready", "http://127.0.0.1:7777"))
    assert waiting.isVisible()
    came: list[str] = []
    waiting.came.connect(lambda: came.append("came"))
    assert "No request so far" in waiting.words.text()
    core.knocks.set((READ,))
    assert "OpenBB Workspace found Moat (it asked for /agents.json)" in waiting.words.text()
    core.requests.set((ASKS,))
    assert "asked a question" in waiting.words.text()
    assert came == []
    core.answered.set((ended(WORKSPACE),))
    core.answered.set(())
    assert waiting.words.text().startswith("It works: OpenBB Workspace")
    assert came == ["came"]
