"""What the server tells of itself: its copilots, its agents, who may call it."""

import copy
import json
import re
import uuid
from typing import Any
from urllib.parse import urlsplit

from openbb_ai import models

from tests.conformance.openbb.client import Json, Reply
from tests.conformance.openbb.player import Player
from tests.conformance.verdicts import Cases, Failed, need

CASES: Cases[Player] = Cases()
case = CASES.case
QUICK_S = 30
SWITCHES = {
    "streaming", "file-upload", "widget-dashboard-select", "widget-dashboard-search",
    "widget-global-search", "generative-ui", "mcp-tools", "agent-orchestration", "feedback",
}  # fmt: skip
"""Features of which the web client knows that they are on or off."""


def read_catalogue(player: Player, path: str) -> Json:
    reply = player.client.send("GET", path, timeout=QUICK_S)
    need(reply.status == 200, f"HTTP {reply.status}")
    need("json" in reply.header("Content-Type"), "Content-Type is not JSON")
    player.check_cors(reply)
    try:
        found = json.loads(reply.body)
    except ValueError as error:
        raise Failed(f"this is not JSON: {error}") from None
    need(isinstance(found, dict) and found, "this must be an object with the agents by their ids")
    for key, entry in found.items():
        check_entry(player, key, entry)
    names = [entry["name"].lower() for entry in found.values()]
    need(len(set(names)) == len(names), "two agents have one name: the client refuses that")
    return dict(found)


def check_entry(player: Player, key: str, entry: Any) -> None:
    need(isinstance(entry, dict), f"{key}: the entry is no object")
    for name in ("name", "description"):
        value = entry.get(name)
        need(isinstance(value, str) and value, f"{key}: {name} must be a text")
    endpoints = entry.get("endpoints")
    if not isinstance(endpoints, dict):
        raise Failed(f"{key}: endpoints must be an object")
    query, image = endpoints.get("query"), entry.get("image", "/")
    need(isinstance(query, str) and query, f"{key}: endpoints.query must be a text")
    need(isinstance(image, str) and image, f"{key}: the client refuses an image that is empty")
    for address in [*endpoints.values(), image]:
        place = urlsplit(player.client.absolute(address))
        is_address = place.scheme in ("http", "https") and place.netloc
        need(is_address or address.startswith("data:"), f"{key}: {address!r} becomes no URL")
    if not re.fullmatch(r"[a-z0-9-]+", key):
        player.warn(f"{key}: the documented form of an id is [a-z0-9-]+")


@case("discovery/copilots.json")
def list_copilots(player: Player) -> str:
    found = read_catalogue(player, "/copilots.json")
    for key, entry in found.items():
        need(entry.get("hasStreaming") is True, f"{key}: hasStreaming must be true")
        is_told = isinstance(entry.get("hasFunctionCalling"), bool)
        need(is_told, f"{key}: hasFunctionCalling must be true or false")
        if not entry["endpoints"]["query"].startswith("http"):
            player.warn(f"{key}: a client of 2024 may need an absolute address")
    player.legacy_endpoint = next(iter(found.values()))["endpoints"]["query"]
    return f"{len(found)} copilots, query {player.legacy_endpoint}"


@case("discovery/agents.json")
def list_agents(player: Player) -> str:
    found = read_catalogue(player, "/agents.json")
    for key, entry in found.items():
        check_agent(player, key, entry)
    player.agent_id, first = next(iter(found.items()))
    player.current_endpoint = first["endpoints"]["query"]
    if first["features"].get("feedback"):
        player.feedback_endpoint = first["endpoints"]["feedback"]
    return f"{len(found)} agents, query {player.current_endpoint}"


def check_agent(player: Player, key: str, entry: Json) -> None:
    features = entry.get("features")
    if not isinstance(features, dict):
        raise Failed(f"{key}: features must be an object")
    models.WorkspaceAgent(
        id=key, name=entry["name"], description=entry["description"],
        features=copy.deepcopy(features),
    )  # fmt: skip
    need(features.get("streaming", True) is True, f"{key}: streaming must be true")
    for name, value in features.items():
        check_feature(player, f"{key}: feature {name}", name, value)
    if features.get("widget-dashboard-search") and not features.get("widget-dashboard-select"):
        player.warn(f"{key}: without widget-dashboard-select no widget is sent at all")
    if features.get("feedback"):
        place = entry["endpoints"].get("feedback")
        need(isinstance(place, str), f"{key}: feedback is on, but endpoints.feedback is missing")
    for flag in ("hasStreaming", "hasFunctionCalling", "hasDocuments"):
        if flag in entry:
            player.warn(f"{key}: {flag} in agents.json makes the client show a warning")
    for model in entry.get("models") or []:
        is_named = isinstance(model.get("id"), str) and isinstance(model.get("name"), str)
        need(is_named, f"{key}: a model needs a text for id and for name")


def check_feature(player: Player, place: str, name: str, value: Any) -> None:
    need(isinstance(value, bool | dict), f"{place} is neither a switch nor an object")
    if isinstance(value, bool):
        if name not in SWITCHES:
            player.warn(f"{place} is a switch the client does not know")
        return
    kind, options = value.get("type", "toggle"), value.get("options")
    need(isinstance(value.get("label"), str), f"{place} has no label")
    need(kind in ("toggle", "text", "select"), f"{place} has the type {kind!r}")
    if kind != "select":
        return
    need(isinstance(options, list) and options, f"{place} has no options")
    for option in options:
        is_whole = isinstance(option.get("label"), str) and isinstance(option.get("value"), str)
        need(is_whole, f"{place} has an option without label or value")


@case("discovery/preflight")
def answer_preflights(player: Player) -> str:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-api-key,x-trace-id",
    }
    reply = ask_before(player, player.current_endpoint, asked)
    check_allowed(player, reply)
    network = {**asked, "Access-Control-Request-Private-Network": "true"}
    private = ask_before(player, player.current_endpoint, network)
    is_open = private.header("Access-Control-Allow-Private-Network") == "true"
    if private.status >= 300 or not is_open:
        player.warn(f"old Chromium asks for the private network and gets HTTP {private.status}")
    catalogue = ask_before(
        player, "/agents.json",
        {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key"},
    )  # fmt: skip
    if not catalogue.succeeded:
        player.warn(f"a preflight of /agents.json, sent with a key, gets HTTP {catalogue.status}")
    return f"HTTP {reply.status}"


def ask_before(player: Player, endpoint: str, headers: Json) -> Reply:
    return player.client.send("OPTIONS", endpoint, timeout=QUICK_S, headers=headers)


def check_allowed(player: Player, reply: Reply) -> None:
    need(reply.succeeded, f"HTTP {reply.status}")
    player.check_cors(reply)
    methods = reply.header("Access-Control-Allow-Methods").upper()
    need("POST" in methods or "*" in methods, f"Allow-Methods is {methods!r}")
    allowed = reply.header("Access-Control-Allow-Headers").lower()
    listed = {name.strip() for name in allowed.split(",")}
    for name in ("content-type", "x-trace-id"):
        need(listed & {"*", name}, f"the header {name} is not allowed: {allowed!r}")
    if not listed & {"*", "x-api-key"}:
        player.warn("X-API-KEY is not allowed: users cannot add that header")


@case("discovery/foreign-origin")
def look_as_a_stranger(player: Player) -> str:
    stranger = "https://evil.example"
    reply = player.client.send("GET", "/agents.json", timeout=QUICK_S, headers={"Origin": stranger})
    if reply.header("Access-Control-Allow-Origin") in ("*", stranger):
        player.warn("any page may read this server (Access-Control-Allow-Origin)")
    port = urlsplit(player.client.base).port or 80
    host = {"Host": f"evil.example:{port}"}
    reply = player.client.send("GET", "/agents.json", timeout=QUICK_S, headers=host)
    if reply.status == 200:
        player.warn("a foreign Host is served (DNS rebinding)")
    return "only remarks"


@case("discovery/feedback")
def take_feedback(player: Player) -> str:
    if not player.feedback_endpoint:
        return "not offered"
    vote = {
        "vote": "thumbs_down",
        "tags": ["Other"],
        "user_comment": "lab",
        "ai_response": "a",
        "user_prompt": "q",
        "trace_id": str(uuid.uuid4()),
    }
    reply = player.client.post(player.feedback_endpoint, vote, timeout=QUICK_S)
    need(reply.succeeded, f"HTTP {reply.status}")
    player.check_cors(reply)
    return f"HTTP {reply.status}"
