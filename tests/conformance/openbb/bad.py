"""Requests that must be refused with a sentence, and the server that must live on."""

import json
from functools import partial

from tests.conformance.openbb.client import Json
from tests.conformance.openbb.current import HELLO
from tests.conformance.openbb.discovery import QUICK_S
from tests.conformance.openbb.material import fetched, human, item, items, price_widget, request
from tests.conformance.openbb.player import Player
from tests.conformance.verdicts import Cases, need, shorten

CASES: Cases[Player] = Cases()
case = CASES.case
REFUSE_S = 60
MB = 1_000_000
BAD: dict[str, object] = {
    "invalid-json": b'{"messages": [',
    "empty-body": b"",
    "not-an-object": [1, 2],
    "no-messages-key": {"widgets": {}},
    "empty-messages": {"messages": []},
    "messages-not-a-list": {"messages": "hello"},
    "unknown-role": {"messages": [{"role": "wizard", "content": "hi"}]},
    "content-missing": {"messages": [{"role": "human"}]},
    "content-wrong-type": {"messages": [{"role": "human", "content": 7}]},
    "not-utf8": b'{"messages":[{"role":"human","content":"\xff\xfe"}]}',
}
SAID = {"empty-messages": "messages list cannot be empty"}
"""What clients look for in the text of an error."""


def refuse(player: Player, name: str) -> str:
    reply = player.client.post(player.current_endpoint, BAD[name], timeout=REFUSE_S)
    told, wanted = shorten(reply.text), SAID.get(name, "")
    need(400 <= reply.status < 500, f"wanted a status of 400 to 499, got {reply.status} {told}")
    player.check_cors(reply)
    if "json" not in reply.header("Content-Type"):
        player.warn("the body of the error is not JSON")
    is_trace = "Traceback (most recent call last)" in reply.text
    need(not is_trace, "the body of the error shows a traceback of Python")
    need(wanted in reply.text, f"the error does not say {wanted!r}: {told}")
    return f"HTTP {reply.status}"


for _name in BAD:
    case(f"bad/{_name}")(partial(refuse, name=_name))


@case("bad/deep-nesting")
def refuse_deep_nesting(player: Player) -> str:
    body = b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    reply = player.client.post(player.current_endpoint, body, timeout=REFUSE_S)
    need(400 <= reply.status < 500, f"wanted a status of 400 to 499, got {reply.status}")
    return f"HTTP {reply.status}"


@case("bad/method")
def refuse_another_method(player: Player) -> str:
    reply = player.client.send("GET", player.current_endpoint, timeout=QUICK_S)
    need(reply.status in (404, 405), f"GET on the query's address gives HTTP {reply.status}")
    return f"HTTP {reply.status}"


@case("bad/content-type")
def survive_another_content_type(player: Player) -> str:
    body = json.dumps(request(HELLO)).encode()
    plain = {"Content-Type": "text/plain"}
    reply = player.client.post(player.current_endpoint, body, headers=plain)
    need(reply.status < 500, f"HTTP {reply.status}")
    return f"HTTP {reply.status}"


@case("bad/huge-body")
def survive_a_huge_body(player: Player) -> str:
    box, size = price_widget(), player.options.huge_mb
    data = [items(item("x" * (size * MB)))]
    body = request(human("Summarise."), *fetched(data, box), primary=[box])
    try:
        outcome = take_or_refuse(player, body, box)
    except (BrokenPipeError, ConnectionResetError):
        outcome = "cut off while it was sent"
    alive = player.client.send("GET", "/agents.json", timeout=QUICK_S)
    need(alive.status == 200, "the server does not answer afterwards")
    return f"{size} MB {outcome}, and the server lives"


def take_or_refuse(player: Player, body: Json, box: Json) -> str:
    reply = player.client.post(player.current_endpoint, body)
    if reply.status == 200:
        player.read(reply, offered=[box])
        return "accepted"
    need(400 <= reply.status < 500, f"HTTP {reply.status}")
    return f"refused with HTTP {reply.status}"


@case("bad/still-works-afterwards")
def answer_after_all_of_that(player: Player) -> str:
    return player.expect_text(request(HELLO))
