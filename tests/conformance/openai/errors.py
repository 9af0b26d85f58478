"""Requests that must be refused, in the form of OpenAI's errors."""

from functools import partial

import openai

from tests.conformance.openai.probe import CHAT, Json, Probe
from tests.conformance.verdicts import Cases, Failed, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
BAD_FIELDS: dict[str, Json] = {
    "messages_missing": {"messages": None},
    "messages_string": {"messages": "hi"},
    "messages_empty": {"messages": []},
    "message_not_object": {"messages": ["hi"]},
    "role_unknown": {"messages": [{"role": "wizard", "content": "x"}]},
    "role_missing": {"messages": [{"content": "x"}]},
    "content_number": {"messages": [{"role": "user", "content": 5}]},
    "content_part_unknown": {
        "messages": [{"role": "user", "content": [{"type": "smell", "smell": "x"}]}]
    },
    "temperature_string": {"temperature": "hot"},
    "temperature_negative": {"temperature": -1},
    "max_tokens_string": {"max_tokens": "many"},
    "max_tokens_negative": {"max_tokens": -5},
    "n_zero": {"n": 0},
    "stop_number": {"stop": 5},
    "stream_string": {"stream": "yes"},
    "tools_object": {"tools": {"a": 1}},
    "top_p_big": {"top_p": 7},
    "logit_bias_list": {"logit_bias": [1]},
    "response_format_string": {"response_format": "json"},
    "seed_string": {"seed": "abc"},
}


@case("errors.unknown_model")
def refuse_an_unknown_model(probe: Probe) -> None:
    error = probe.ask(model="no-such-model-xyz", max_tokens=2).refused(404, 400)
    code = error.get("code")
    need(code == "model_not_found", f"code {code!r}, OpenAI's is 'model_not_found'")


@case("errors.invalid_json")
def refuse_broken_json(probe: Probe) -> None:
    probe.post(CHAT, b'{"model": "x", "messages": [').refused(400)


@case("errors.object_has_all_four_keys")
def name_param_and_code(probe: Probe) -> None:
    error = probe.post(CHAT, {"model": probe.model, "messages": "hi"}).refused()
    for key in ("param", "code"):
        need(key in error, f"error.{key} is missing; OpenAI always sends it")
        is_text = error[key] is None or isinstance(error[key], str)
        need(is_text, f"error.{key} is {error[key]!r}, OpenAI's is a string or null")


@case("errors.not_an_object")
def refuse_what_is_no_object(probe: Probe) -> None:
    probe.post(CHAT, b"[1,2]").refused()


@case("errors.empty_body")
def refuse_an_empty_body(probe: Probe) -> None:
    probe.post(CHAT, b"").refused()


def refuse_bad_fields(probe: Probe, fields: Json) -> None:
    probe.ask(**{"max_tokens": 4, **fields}).refused()


for _name, _fields in BAD_FIELDS.items():
    case(f"errors.bad_{_name}")(partial(refuse_bad_fields, fields=_fields))


@case("errors.tool_result_without_call")
def refuse_a_result_without_its_call(probe: Probe) -> None:
    result = {"role": "tool", "tool_call_id": "zzz", "content": "1"}
    messages = [{"role": "user", "content": "x"}, result]
    body = {"model": probe.model, "max_tokens": 4, "messages": messages}
    reply = probe.post(CHAT, body)
    if reply.status == 200:
        raise NotApplicable("it is accepted; OpenAI refuses it with 400")
    reply.refused()


@case("errors.context_too_long")
def refuse_a_prompt_that_is_too_long(probe: Probe) -> None:
    error = probe.ask("word " * probe.long_words, max_tokens=4).refused(400, 413)
    code = error.get("code")
    is_known = code == "context_length_exceeded"
    need(is_known, f"code {code!r}, OpenAI's is 'context_length_exceeded'")


@case("errors.context_too_long_stream")
def refuse_it_before_the_stream(probe: Probe) -> None:
    probe.ask("word " * probe.long_words, max_tokens=4, stream=True).refused(400, 413)


@case("errors.unknown_endpoint")
def refuse_an_unknown_place(probe: Probe) -> None:
    probe.post("/no/such/endpoint", {"a": 1}).refused(404)


@case("errors.wrong_method")
def refuse_another_method(probe: Probe) -> None:
    probe.send("GET", CHAT).refused(405, 404)


@case("errors.auth")
def refuse_without_the_key(probe: Probe) -> None:
    if not probe.key:
        raise NotApplicable("no --api-key was given")
    for headers in ({}, {"Authorization": "Bearer wrong-key"}):
        body = probe.body(max_tokens=2)
        probe.send("POST", CHAT, body, headers=headers, with_key=False).refused(401)


@case("errors.sdk_maps_exceptions")
def raise_the_right_exception_in_the_sdk(probe: Probe) -> None:
    try:
        probe.sdk.chat.completions.create(model=probe.model, messages="hi", max_tokens=2)
    except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
        told = error.body
        need(isinstance(told, dict) and told.get("message"), f"the body is {shorten(told)}")
    else:
        raise Failed("the SDK raised nothing")


@case("errors.server_survives")
def answer_after_all_of_that(probe: Probe) -> None:
    probe.chat(max_tokens=4)
