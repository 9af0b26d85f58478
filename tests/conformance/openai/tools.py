"""Tool calls: forced, free, streamed, sent back with their results, refused."""

import json
import re
from functools import partial
from typing import Any

import openai
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from tests.conformance.openai.chat import text_of
from tests.conformance.openai.probe import CHAT, REFUSED, Choice, Json, Probe, check, fit, parse
from tests.conformance.openai.schemas import (
    DIGIT,
    ORDER,
    SCHEMAS,
    TOOLS,
    UNICODE,
    array,
    as_format,
    check_call,
    check_calls,
    closed,
    copy,
    tool,
)
from tests.conformance.verdicts import Cases, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
PARIS = "What is the weather in Paris?"
SUM = "Add 2 and 3."
MARKUP = re.compile(r"<\|?tool_call|\[TOOL_|<function=")
ADDING = {"type": "function", "function": {"name": "add_numbers"}}
MUST: Json = {"tool_choice": "required", "max_tokens": 300}
"""The model has to call one of its tools."""


class Toggle(BaseModel):
    on: bool


def finish_of(answer: ChatCompletion) -> str:
    return answer.choices[0].finish_reason


def check_no_markup(text: str) -> None:
    need(not MARKUP.search(text), f"raw marks of a tool call are in the content: {shorten(text)}")


@case("tools.required")
def call_when_required(probe: Probe) -> str:
    answer = probe.chat(PARIS, tools=TOOLS, **MUST)
    called = check_calls(answer.choices[0].message)[0].function
    need(finish_of(answer) == "tool_calls", f"finish_reason {finish_of(answer)}")
    return f"{called.name}{called.arguments}"


@case("tools.required_hot")
def call_when_required_and_hot(probe: Probe) -> None:
    for seed in range(3):
        answer = probe.chat(
            PARIS, tools=TOOLS, temperature=1.5, seed=seed, **{**MUST, "max_tokens": 400}
        )
        need(finish_of(answer) == "tool_calls", f"finish_reason {finish_of(answer)}")
        check_calls(answer.choices[0].message)


@case("tools.named")
def call_the_one_that_is_named(probe: Probe) -> None:
    answer = probe.chat(PARIS, tools=TOOLS, tool_choice=ADDING, max_tokens=300)
    names = {call.function.name for call in check_calls(answer.choices[0].message)}
    need(names == {"add_numbers"}, f"called {names}")
    need(finish_of(answer) in ("tool_calls", "stop"), f"finish_reason {finish_of(answer)}")


@case("tools.allowed_tools")
def call_one_that_is_allowed(probe: Probe) -> None:
    allowed = {"mode": "required", "tools": [ADDING]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    reply = probe.ask("Weather?", tools=TOOLS, tool_choice=choice, max_tokens=300)
    if reply.status in REFUSED:
        raise NotApplicable("allowed_tools is refused")
    calls = reply.succeeded()["choices"][0]["message"].get("tool_calls") or []
    need(calls, "there is no call")
    names = {call["function"]["name"] for call in calls}
    need(names == {"add_numbers"}, f"called {names}")


@case("tools.auto")
def call_or_answer(probe: Probe) -> str:
    answer = probe.chat(f"{PARIS} Use a tool.", tools=TOOLS, tool_choice="auto", max_tokens=300)
    message = answer.choices[0].message
    if message.tool_calls:
        called = check_calls(message)[0]
        need(finish_of(answer) == "tool_calls", f"finish_reason {finish_of(answer)}")
        return f"called {called.function.name}"
    need(message.content, "there is neither content nor a call")
    check_no_markup(text_of(answer))
    return "answered in text"


@case("tools.auto_prompt_mentions_tools")
def put_tools_into_the_prompt(probe: Probe) -> None:
    without = probe.chat("Hi", max_tokens=1).usage.prompt_tokens
    with_tools = probe.chat("Hi", tools=TOOLS, max_tokens=1).usage.prompt_tokens
    need(with_tools > without, f"{with_tools} tokens with tools, {without} without: dropped")


@case("tools.none")
def do_not_call(probe: Probe) -> None:
    message = probe.chat(PARIS, tools=TOOLS, tool_choice="none").choices[0].message
    need(not message.tool_calls, "there is a call in spite of tool_choice none")
    need(message.content, "there is no content")


def check_streamed_calls(choice: Choice) -> None:
    for call in choice.calls:
        check_call(call.name, call.arguments)


@case("tools.stream_required")
def stream_a_call(probe: Probe) -> str:
    choice = probe.stream(PARIS, tools=TOOLS, **MUST).first
    need(choice.calls, f"no call was streamed; the text is {shorten(choice.text)}")
    check_streamed_calls(choice)
    need(choice.finish == "tool_calls", f"finish {choice.finish}")
    return f"{choice.argument_deltas} deltas of arguments"


@case("tools.stream_arguments_are_incremental")
def stream_arguments_as_they_come(probe: Probe) -> None:
    choice = probe.stream(PARIS, tools=TOOLS[:1], **MUST).first
    need(choice.calls, "no call was streamed")
    deltas = choice.argument_deltas
    need(deltas >= 3, f"the arguments came in {deltas} deltas: they were held back")


@case("tools.stream_auto")
def stream_a_call_or_an_answer(probe: Probe) -> None:
    choice = probe.stream(f"{PARIS} Use a tool.", tools=TOOLS, max_tokens=300).first
    check_streamed_calls(choice)
    need(choice.calls or choice.text, "nothing was streamed")
    check_no_markup(choice.text)
    wanted = ("tool_calls",) if choice.calls else ("stop", "length")
    need(choice.finish in wanted, f"finish {choice.finish}")


@case("tools.stream_equals_plain")
def stream_the_same_calls(probe: Probe) -> None:
    message = probe.chat(SUM, tools=TOOLS, **MUST).choices[0].message
    plain = [
        (call.function.name, parse(call.function.arguments)) for call in message.tool_calls or []
    ]
    calls = probe.stream(SUM, tools=TOOLS, **MUST).first.calls
    streamed = [(call.name, parse(call.arguments)) for call in calls]
    need(plain and plain == streamed, f"{shorten(plain)} != {shorten(streamed)}")


@case("tools.parallel")
def call_several(probe: Probe) -> str:
    asked = {**MUST, "max_tokens": 600, "parallel_tool_calls": True}
    answer = probe.chat("Weather in Paris and in Rome, and 2+3?", tools=TOOLS, **asked)
    message = answer.choices[0].message
    if finish_of(answer) == "length":
        count = len(message.tool_calls or [])
        raise NotApplicable(f"the model kept calling until max_tokens ({count} calls)")
    return f"{len(check_calls(message))} calls"


@case("tools.parallel_false")
def call_only_one(probe: Probe) -> None:
    answer = probe.chat(
        "Weather in Paris and in Rome?", tools=TOOLS, parallel_tool_calls=False, **MUST
    )
    need(len(check_calls(answer.choices[0].message)) == 1, "there is more than one call")


LEFT_OUT = object()


def talk(count: int = 1, content: object = None) -> list[Json]:
    """A talk in which the model called a tool this many times and got its results."""
    cities = ["Paris", "Rome"][:count]
    calls = [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {
                "name": "get_weather",
                "arguments": json.dumps({"city": city, "unit": "celsius"}),
            },
        }
        for place, city in enumerate(cities)
    ]
    said = {"role": "assistant", "tool_calls": calls}
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"temp": 20 + place})}
        for place, call in enumerate(calls)
    ]
    opened = said if content is LEFT_OUT else {**said, "content": content}
    return [{"role": "user", "content": "Weather?"}, opened, *results]


def go_on(probe: Probe, messages: list[Json], limit: int = 24) -> Any:
    body = {"model": probe.model, "messages": messages, "tools": TOOLS, "tool_choice": "none"}
    return probe.post(CHAT, {**body, "max_tokens": limit, "temperature": 0}).succeeded()


def answer_after_a_result(probe: Probe, content: object) -> None:
    found = go_on(probe, talk(1, content))
    need(found["choices"][0]["message"]["content"], "there is no content after the tool's result")


for _name, _content in (("null", None), ("empty", ""), ("omitted", LEFT_OUT)):
    case(f"tools.round_trip_{_name}_content")(partial(answer_after_a_result, content=_content))


@case("tools.round_trip_two_results")
def take_two_results(probe: Probe) -> None:
    go_on(probe, talk(2))


@case("tools.round_trip_result_reaches_the_prompt")
def put_the_result_into_the_prompt(probe: Probe) -> None:
    def count(result: str) -> int:
        messages = talk(1)
        messages[-1]["content"] = result
        return int(go_on(probe, messages, 1)["usage"]["prompt_tokens"])

    short, long = count("x"), count("x " * 60)
    need(long > short + 20, f"60 words more took the prompt from {short} to {long} tokens only")


@case("tools.round_trip_sdk")
def call_and_answer_by_the_sdk(probe: Probe) -> None:
    messages: list[Any] = [{"role": "user", "content": PARIS}]
    create = partial(
        probe.sdk.chat.completions.create, model=probe.model, messages=messages, tools=TOOLS
    )
    message = create(tool_choice="required", max_tokens=300, temperature=0).choices[0].message
    messages.append(message)
    messages.extend(
        {"role": "tool", "tool_call_id": call.id, "content": '{"temp": 21}'}
        for call in check_calls(message)
    )
    final = create(tool_choice="none", max_tokens=24)
    need(final.choices[0].message.content, "there is no final answer")


@case("tools.deep_schema")
def call_by_a_deep_schema(probe: Probe) -> None:
    asked = {**MUST, "max_tokens": 500, "temperature": 1}
    for seed in (1, 2):
        answer = probe.chat("Order two things.", tools=[tool("order", ORDER)], seed=seed, **asked)
        need(finish_of(answer) == "tool_calls", f"finish_reason {finish_of(answer)}")
        check_calls(answer.choices[0].message)


@case("tools.no_parameters")
def call_without_parameters(probe: Probe) -> str:
    message = probe.chat("Ping.", tools=[tool("ping", None)], **MUST).choices[0].message
    arguments: str = check_calls(message, {"ping": {"type": "object"}})[0].function.arguments
    return arguments


@case("tools.odd_names_and_unicode")
def call_by_an_odd_name(probe: Probe) -> None:
    schema = closed({"v": {"const": UNICODE}})
    tools = [tool("do-it_Now2", schema, 'quotes " and 🌍')]
    check_calls(probe.chat("Go.", tools=tools, **MUST).choices[0].message, {"do-it_Now2": schema})


@case("tools.strict_flag")
def take_the_strict_flag(probe: Probe) -> None:
    tools = copy(TOOLS)
    for each in tools:
        each["function"]["strict"] = True
    check_calls(probe.chat(SUM, tools=tools, **MUST).choices[0].message)


@case("tools.sdk_parse_pydantic")
def parse_arguments_by_the_sdk(probe: Probe) -> None:
    answer = probe.sdk.chat.completions.parse(
        model=probe.model, messages=[{"role": "user", "content": "Switch it on."}],
        tools=[openai.pydantic_function_tool(Toggle)], tool_choice="required",
        max_tokens=200, temperature=0,
    )  # fmt: skip
    parsed = answer.choices[0].message.tool_calls[0].function.parsed_arguments
    need(isinstance(parsed, Toggle), f"parsed_arguments is {parsed!r}")


@case("tools.with_response_format")
def call_or_answer_by_schema(probe: Probe) -> str:
    schema = SCHEMAS["flat"]
    reply = probe.ask("Go.", tools=TOOLS, response_format=as_format(schema), max_tokens=300)
    if reply.status in REFUSED:
        raise NotApplicable(f"refused: {shorten(reply.text, 80)}")
    message = fit(ChatCompletion, reply.succeeded()).choices[0].message
    if message.tool_calls:
        check_calls(message)
        return "called"
    check(schema, parse(message.content))
    return "answered by the schema"


@case("tools.many_tools")
def choose_among_many(probe: Probe) -> None:
    schemas = {f"tool_{number}": closed({"x": DIGIT}) for number in range(24)}
    tools = [tool(name, schema) for name, schema in schemas.items()]
    answer = probe.chat("Call tool_17.", tools=tools, **{**MUST, "max_tokens": 200})
    check_calls(answer.choices[0].message, schemas)


@case("tools.truncated_call_is_length")
def report_a_cut_call(probe: Probe) -> None:
    tools = [tool("big", closed({"a": array(DIGIT, 80, 80)}))]
    answer = probe.chat("Go.", tools=tools, **{**MUST, "max_tokens": 40})
    message = answer.choices[0].message
    need(finish_of(answer) == "length", f"finish_reason {finish_of(answer)} of a cut call")
    is_kept = message.tool_calls or not message.content
    need(is_kept, f"the cut call came back as content: {shorten(text_of(answer))}")


@case("tools.legacy_functions")
def call_a_function_of_old(probe: Probe) -> None:
    asked = {"functions": [TOOLS[1]["function"]], "function_call": {"name": "add_numbers"}}
    reply = probe.ask(SUM, max_tokens=300, **asked)
    if reply.status in REFUSED:
        raise NotApplicable("functions, which are deprecated, are refused")
    call = reply.json["choices"][0]["message"].get("function_call")
    if not call:
        raise NotApplicable("functions, which are deprecated, are ignored")
    check_call(call["name"], call["arguments"])


BAD: dict[str, Json] = {
    "choice_of_unknown_function": {
        "tools": TOOLS,
        "tool_choice": {"type": "function", "function": {"name": "nope"}},
    },
    "choice_without_tools": {"tool_choice": "required"},
    "bad_choice_word": {"tools": TOOLS, "tool_choice": "sometimes"},
    "bad_tool_definition": {
        "tools": [{"type": "function", "function": {"description": "nameless"}}]
    },
}


def refuse_bad_tools(probe: Probe, asked: Json) -> None:
    probe.ask(max_tokens=8, **asked).refused()


for _name, _asked in BAD.items():
    case(f"tools.{_name}")(partial(refuse_bad_tools, asked=_asked))
