"""The AI service of Workspace Lite: titles, better prompts, descriptions of widgets. Optional."""

import json

from tests.conformance.openbb.client import Reply
from tests.conformance.openbb.material import ROWS, human, price_widget, request
from tests.conformance.openbb.player import Player
from tests.conformance.verdicts import Cases, need, shorten

CASES: Cases[Player] = Cases()
case = CASES.case


def ask(player: Player, path: str, payload: object) -> Reply:
    reply = player.client.post(path, payload)
    need(reply.status == 200, f"HTTP {reply.status} {shorten(reply.text, 120)}")
    player.check_cors(reply)
    need(reply.text.strip(), "the body is empty")
    return reply


@case("service/chat-title")
def title_a_chat(player: Player) -> str:
    body = {"messages": [human("Compare two bonds.")]}
    title = json.loads(ask(player, "/v1/generate/chat/title", body).body)
    need(isinstance(title, str) and title.strip(), "the title must be a string in JSON")
    return shorten(title, 60)


@case("service/dashboard-title")
def title_a_dashboard(player: Player) -> str:
    widgets = [{"uuid": "1", "name": "Price History"}, {"uuid": "2", "name": "Company News"}]
    reply = ask(player, "/v1/generate/dashboard/title", {"widgets": widgets})
    return shorten(reply.text, 60)


@case("service/enhance-prompt")
def enhance_a_prompt(player: Player) -> str:
    body = request(human("price?"), primary=[price_widget()])
    return shorten(ask(player, "/v1/enhance_prompt", body).text, 60)


@case("service/widget-info")
def describe_a_widget(player: Player) -> str:
    asked = {"widget_data": json.dumps(ROWS), "name": "Prices"}
    body = {"widget_generation_request": asked}
    info = json.loads(ask(player, "/v1/generate/widget_info", body).body)
    for key in ("title", "description", "category", "subcategory"):
        need(isinstance(info.get(key), str), f"{key} must be a string")
    return shorten(info["title"], 60)
