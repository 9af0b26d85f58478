"""Replays requests recorded from real clients. The answers must have the recorded shape."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from tests.contract.copilotkit import house, recordings
from tests.contract.copilotkit.recordings import Exchange

RECORDED = Path(__file__).resolve().parents[1] / "data" / "copilotkit"
NOT_REPLAYED = {
    r"18-": "Moat always has a model to answer with.",
    r"19-": "The client left in the middle: the kit does that.",
    r"24-get-no-query\.1": "A page for people, with scripts from elsewhere.",
    r"3\d-": "Actions and agents elsewhere: the real ones are in test_copilotkit_remote.py.",
    r".*-07-stop": "Two requests at once: the kit does that.",
}
DIFFERENT = {
    r"06-": "Moat always has an agent; that runtime listed only remote ones.",
    r"browser-gql-1-load\.2": "Moat always has an agent.",
    r"browser-gql-agent-1-load\.4": "Moat always has an agent.",
    r"17-": "Topics are checked here: no cloud's key is asked for.",
    r"23-": "One form for both generations, without the parser's own words.",
    r"40-": "The recorded service allowed anything; here the question must name a topic.",
    r"41-": "Checked before the model: there is no message to break off.",
    r"42-": "There is no service that could fail.",
    r"90-": "Says AGENT_NOT_FOUND where that runtime said UNKNOWN.",
    r"91-": "Answers, where that runtime stayed broken.",
    r"browser-new-multi-1-load\.5": "No thread has been kept yet.",
    r"browser-new-multi-4-error\.1": "The recorded agent did not fail on these words.",
    r"browser-new-v1-1-load\.2": "REST and the single route are served together.",
    r"(single|v1)-.*\.1": "REST and the single route are served together.",
    r"browser-new-v1-4-error|v1-04.*\.3": "A failure is told; that runtime's stream just ended.",
    r"v1-03.*\.3": "That runtime's built-in agent tells no state.",
    r"multi-05.*\.2|(single|v1)-05.*\.3": "This model breaks off in its text, that one before.",
    r"multi-06.*\.2|(single|v1)-06.*\.3": "A kept thread holds what was said, not the tools.",
    r"raw-0[12]": "The echoed input keeps the version that the client sent.",
    r"raw-04": "Says it in a sentence too.",
    r"raw-0[56]|raw-12.*\.4": "Moat words these alike on every route.",
    r"raw-12.*\.3": "One form for both generations.",
    r"raw-1[36]": "Both routes and both generations are served.",
}


def why(name: str, reasons: dict[str, str]) -> str:
    return next((reason for pattern, reason in reasons.items() if re.match(pattern, name)), "")


async def ask(client: TestClient[Any, Any], exchange: Exchange) -> Any:
    async with client.request(
        exchange.method,
        exchange.path,
        data=exchange.body or None,
        headers=exchange.headers,
        skip_auto_headers={"Content-Type"},
    ) as reply:
        kind = reply.headers.get("content-type", "")
        return recordings.shape(reply.status, kind, await reply.read())


def to_demo(exchange: Exchange) -> Exchange:
    """Sends the exchange to the demo agent. In the recording, the default agent sent its state."""
    path, body = (
        exchange.path.replace("default", "demo"),
        exchange.body.replace(b"default", b"demo"),
    )
    return replace(exchange, path=path, body=body)


@pytest.mark.parametrize("folder", ["gql-1.10.6", "agui-1.75.0"])
async def test_recorded_requests_get_answers_of_the_recorded_shape(folder: str):
    base = RECORDED / folder
    same, wrong = 0, []
    async with house.visit(house.agents()) as client:
        for name in recordings.names(base):
            exchange = recordings.read(base, name)
            if exchange.method == "OPTIONS" or why(name, NOT_REPLAYED):
                continue
            asked = to_demo(exchange) if "state-step" in name else exchange
            is_same = await ask(client, asked) == exchange.shape
            same += is_same
            if is_same == bool(why(name, DIFFERENT)):
                wrong.append(name)
    assert wrong == []
    assert same >= {"gql-1.10.6": 30, "agui-1.75.0": 75}[folder]
