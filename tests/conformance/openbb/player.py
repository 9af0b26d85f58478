"""Plays the part of the web client: asks, checks every answer, hands back what is asked for."""

import copy
import json
import uuid
from collections.abc import Callable
from typing import Any

from openbb_ai import models
from openbb_ai.testing import CopilotResponse

from tests.conformance.openbb.client import Client, Event, Json, Options, Reply, read_events
from tests.conformance.openbb.material import ai
from tests.conformance.openbb.rules import Rules
from tests.conformance.verdicts import Failed, need, shorten

LOST = ("timezone", "urls", "selected_skills", "workspace_state")
"""The web client does not send these again in a follow-up."""


class Player:
    """What a case needs: the server, what it told of itself, and a place for remarks."""

    def __init__(self, options: Options) -> None:
        self.client = Client(options)
        self.options = options
        self.legacy_endpoint = "/v1/query"
        self.current_endpoint = "/v1/query"
        self.feedback_endpoint = ""
        self.agent_id = "agent"
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)

    def check_cors(self, reply: Reply) -> None:
        allowed, origin = reply.header("Access-Control-Allow-Origin"), self.options.origin
        is_allowed = allowed in ("*", origin)
        need(is_allowed, f"Access-Control-Allow-Origin is {allowed!r} for the origin {origin}")
        if allowed != "*" and "origin" not in reply.header("Vary").lower():
            self.warn("one origin is named, but 'Vary: Origin' is missing")

    def read(self, reply: Reply, **rules: Any) -> list[Event]:
        """The events of an answer that keeps all rules."""
        need(reply.status == 200, f"HTTP {reply.status} {shorten(reply.text, 200)}")
        kind = reply.header("Content-Type").lower()
        need(kind.startswith("text/event-stream"), f"Content-Type is {kind!r}")
        self.check_cors(reply)
        self._remark_headers(reply)
        events = read_events(reply.body)
        Rules(self.warn, **rules).check(events)
        self._compare_with_sdk(reply.body, events)
        return events

    def ask(
        self, payload: Json, *, legacy: bool = False, is_sdk_valid: bool = True,
        trace: str | None = None, timeout: float | None = None, **rules: Any,
    ) -> tuple[Reply, list[Event]]:  # fmt: skip
        if is_sdk_valid and not legacy:
            models.QueryRequest.model_validate(copy.deepcopy(payload))
        endpoint = self.legacy_endpoint if legacy else self.current_endpoint
        reply = self.client.post(endpoint, payload, trace=trace, timeout=timeout)
        return reply, self.read(reply, legacy=legacy, **rules)

    def expect_text(self, payload: Json, **options: Any) -> str:
        """The answer must be text: there is nothing that could be fetched."""
        reply, events = self.ask(payload, **options)
        for event in events:
            is_call = event.name == "copilotFunctionCall"
            need(not is_call, f"a call came where nothing can be fetched: {shorten(event.data)}")
        text = text_of(events)
        need(text.strip(), "there is no text in the events copilotMessageChunk")
        return f"{len(events)} events, {len(text)} characters, first byte {reply.first_s:.2f}s"

    def drive(
        self, payload: Json, provide: Callable[[Json], Any], *, legacy: bool = False,
        hops: int = 0, may_repeat: bool = False, **options: Any,
    ) -> tuple[list[Json], list[Event]]:  # fmt: skip
        """Hands back what is asked for until a text comes: all calls, and the last events."""
        follow = follow_legacy if legacy else follow_current
        trace, names = str(uuid.uuid4()), set[str]()
        calls: list[Json] = []
        for _ in range(hops or self.options.hops):
            _, events = self.ask(
                payload, legacy=legacy, trace=trace, artifact_names=names, **options
            )
            found = [event.data for event in events if event.name == "copilotFunctionCall"]
            if not found:
                need(text_of(events).strip(), "there is neither text nor a call")
                return calls, events
            call = found[0]
            asked = [earlier["input_arguments"] for earlier in calls]
            is_new = may_repeat or call["input_arguments"] not in asked
            need(is_new, "it asks again for exactly what it was given")
            calls.append(call)
            payload = follow(payload, call, provide(call), text_of(events), self.agent_id)
        raise Failed(f"there is no answer after {len(calls)} calls")

    def _remark_headers(self, reply: Reply) -> None:
        if reply.header("Content-Encoding"):
            self.warn("the stream is compressed: tokens may arrive late")
        cached = reply.header("Cache-Control")
        if "no-cache" not in cached and "no-store" not in cached:
            self.warn("Cache-Control does not say no-cache or no-store")
        exposed = reply.header("Access-Control-Expose-Headers").lower()
        if reply.header("X-Trace-Id") and "x-trace-id" not in exposed:
            self.warn("X-Trace-Id is sent, but the page cannot see it")

    def _compare_with_sdk(self, raw: bytes, events: list[Event]) -> None:
        """openbb-ai's reader for tests has weak spots: that it differs is only a remark."""
        try:
            theirs = CopilotResponse(raw.decode()).text
        except Exception as error:  # noqa: BLE001 - it evaluates what it reads, and raises anything
            self.warn(f"openbb_ai.testing cannot read this stream: {shorten(repr(error), 80)}")
            return
        if theirs != text_of(events):
            self.warn("openbb_ai.testing reads another text than the stream holds")


def text_of(events: list[Event]) -> str:
    return "".join(event.data["delta"] for event in events if event.name == "copilotMessageChunk")


def follow_current(payload: Json, call: Json, result: Any, spoken: str, agent_id: str) -> Json:
    """The next request as the web client of today makes it."""
    follow = copy.deepcopy(payload)
    for key in LOST:
        follow.pop(key, None)
    if spoken.strip():
        follow["messages"].append(ai(spoken, agent_id=agent_id))
    asked = {"function": call["function"], "input_arguments": call["input_arguments"]}
    follow["messages"].append(ai(json.dumps(asked)))
    tool = {"role": "tool", **asked, "data": result}
    if call.get("extra_state") is not None:
        tool["extra_state"] = call["extra_state"]
    follow["messages"].append(tool)
    return follow


def follow_legacy(payload: Json, call: Json, result: Any, spoken: str, _agent_id: str) -> Json:
    follow = copy.deepcopy(payload)
    if spoken.strip():
        follow["messages"].append(ai(spoken))
    follow["messages"].append(ai(json.dumps(call)))
    asked = {"function": call["function"], "input_arguments": call["input_arguments"]}
    follow["messages"].append({"role": "tool", **asked, **result})
    return follow
