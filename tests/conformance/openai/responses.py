"""The Responses API. Its cases do not apply where the server has none."""

import json
from functools import wraps
from typing import Any

from openai.types.responses import Response

from tests.conformance.openai.chat import COUNT
from tests.conformance.openai.probe import Json, Probe, check, fit, parse
from tests.conformance.openai.schemas import ADD, SCHEMAS, TOOLS, check_call
from tests.conformance.openai.text import MISSING
from tests.conformance.verdicts import Case, Cases, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
PLACE = "/responses"
HELLO = "Say hello."
PARIS = "What is the weather in Paris?"
MUST_COME = (
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
)


def case(name: str) -> Any:
    """Adds a case that asks first, once for all, whether the server has this API."""

    def add(function: Case[Probe]) -> Case[Probe]:
        @wraps(function)
        def run(probe: Probe) -> str | None:
            if probe.responses_status is None:
                body = {"model": probe.model, "input": "Hi", "max_output_tokens": 16}
                probe.responses_status = probe.post(PLACE, body).status
            if probe.responses_status in MISSING:
                raise NotApplicable(f"{PLACE} answers {probe.responses_status}")
            return function(probe)

        return CASES.case(name)(run)

    return add


def tools() -> list[Json]:
    functions = [entry["function"] for entry in TOOLS]
    return [describe(function["name"], function["parameters"]) for function in functions]


def describe(name: str, parameters: Json) -> Json:
    told = {"type": "function", "name": name, "description": "d"}
    return {**told, "parameters": parameters, "strict": True}


def create(probe: Probe, given: Any, limit: int, **more: Any) -> Response:
    return probe.sdk.responses.create(
        model=probe.model, input=given, max_output_tokens=limit, **more
    )


@case("responses.plain")
def respond(probe: Probe) -> None:
    body = {"model": probe.model, "input": HELLO, "instructions": "Be brief."}
    reply = probe.post(PLACE, {**body, "max_output_tokens": 24, "temperature": 0})
    found = fit(Response, reply.succeeded())
    need(found.output_text, "there is no output_text")
    need(found.status in ("completed", "incomplete"), f"status {found.status}")
    usage = found.usage
    need(usage, "there is no usage")
    need(usage.total_tokens == usage.input_tokens + usage.output_tokens, f"usage {usage}")


@case("responses.incomplete")
def say_that_it_was_cut(probe: Probe) -> None:
    found = create(probe, COUNT, 16, temperature=0)
    if found.status == "completed" and found.usage and found.usage.output_tokens < 16:
        raise NotApplicable("the model ended by itself before the limit")
    need(found.status == "incomplete", f"status {found.status} after 16 tokens")
    details = found.incomplete_details
    is_limit = details and details.reason == "max_output_tokens"
    need(is_limit, f"incomplete_details {details}")


def read_events(probe: Probe, body: Json) -> list[Json]:
    events = []
    for name, data in probe.events(PLACE, {"model": probe.model, "temperature": 0, **body}):
        if data == "[DONE]":
            continue
        event = json.loads(data)
        need(name in ("", event["type"]), f"the event {name} has the type {event['type']}")
        events.append(event)
    return events


@case("responses.stream")
def stream_events(probe: Probe) -> None:
    events = read_events(probe, {"input": HELLO, "max_output_tokens": 24})
    types = [event["type"] for event in events]
    need(types[0] == "response.created", f"the first event is {types[0]}")
    is_end = types[-1] in ("response.completed", "response.incomplete")
    need(is_end, f"the last event is {types[-1]}")
    for wanted in MUST_COME:
        need(wanted in types, f"there is no {wanted}")
    numbers = [event.get("sequence_number", -1) for event in events]
    is_rising = -1 not in numbers and numbers == sorted(set(numbers))
    need(is_rising, "sequence_number is missing or does not rise")
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    need("".join(event["delta"] for event in deltas), "there is no text")


@case("responses.stream_sdk")
def stream_by_the_sdk(probe: Probe) -> str | None:
    text, last = "", ""
    with probe.sdk.responses.stream(
        model=probe.model, input=HELLO, max_output_tokens=64, temperature=0
    ) as stream:
        for event in stream:
            last = event.type
            if event.type == "response.output_text.delta":
                text += event.delta
        if last == "response.incomplete":
            return "cut by max_output_tokens; the helper has no final response then"
        final = stream.get_final_response()
    need(text and final.output_text == text, "output_text differs from the deltas")
    return None


@case("responses.json_schema")
def respond_by_schema(probe: Probe) -> None:
    schema = SCHEMAS["flat"]
    wanted = {"type": "json_schema", "name": "o", "schema": schema, "strict": True}
    found = create(probe, "Answer in JSON.", 200, temperature=0, text={"format": wanted})
    check(schema, parse(found.output_text))


@case("responses.tools")
def call_and_go_on(probe: Probe) -> None:
    found = create(probe, PARIS, 300, temperature=0, tools=tools(), tool_choice="required")
    calls = [item for item in found.output if item.type == "function_call"]
    need(calls, f"no item is a function_call: {shorten([item.type for item in found.output])}")
    call = calls[0]
    check_call(call.name, call.arguments)
    need(call.call_id, "there is no call_id")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": '{"temp":21}'}
    talk = [{"role": "user", "content": PARIS}, call.model_dump(exclude_none=True), result]
    final = create(probe, talk, 24, tools=tools(), tool_choice="none")
    need(final.output_text, "there is no answer after the tool's output")


@case("responses.tools_stream")
def stream_a_call(probe: Probe) -> None:
    asked = {"tools": [describe("add_numbers", ADD)], "tool_choice": "required"}
    events = read_events(probe, {"input": "Add 2 and 3.", "max_output_tokens": 200, **asked})
    start = "response.function_call_arguments"
    done = [event["arguments"] for event in events if event["type"] == f"{start}.done"]
    types = sorted({event["type"] for event in events})
    need(done, f"there is no {start}.done among {types}")
    deltas = [event["delta"] for event in events if event["type"] == f"{start}.delta"]
    need("".join(deltas) == done[-1], "the deltas do not add up to the done event")
    check_call("add_numbers", done[-1])


@case("responses.previous_response_id")
def go_on_from_a_response(probe: Probe) -> None:
    first = create(probe, "My word is kiwi. " * 12, 16)
    body = {"model": probe.model, "input": "What is my word?", "max_output_tokens": 16}
    reply = probe.post(PLACE, {**body, "previous_response_id": first.id})
    if reply.status in (400, 404, 501):
        error = reply.refused(400, 404, 501)
        raise NotApplicable(f"the server keeps no responses: {shorten(error['message'], 60)}")
    used = reply.succeeded()["usage"]["input_tokens"]
    need(used > 40, f"{used} input_tokens: the earlier turn is not in the prompt")


@case("responses.bad_input")
def refuse_without_input(probe: Probe) -> None:
    probe.post(PLACE, {"model": probe.model}).refused()
