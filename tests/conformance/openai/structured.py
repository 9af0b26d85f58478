"""Answers in JSON and by a schema."""

from functools import partial
from typing import Literal

from pydantic import BaseModel

from tests.conformance.openai.chat import text_of
from tests.conformance.openai.probe import REFUSED, Json, Probe, check, parse
from tests.conformance.openai.schemas import DIGIT, ODD, SCHEMAS, UNICODE, array, as_format, closed
from tests.conformance.verdicts import Cases, Failed, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
ASK = "Answer in JSON."


class Step(BaseModel):
    kind: Literal["add", "sub"]
    done: bool


@case("json.object_mode")
def answer_with_an_object(probe: Probe) -> None:
    wanted = {"type": "json_object"}
    answer = probe.chat("Reply with a small JSON object.", response_format=wanted, max_tokens=200)
    if answer.choices[0].finish_reason == "length":
        raise NotApplicable("the model did not end its object in 200 tokens")
    need(isinstance(parse(text_of(answer)), dict), "this is not an object")


def answer_by_schema(probe: Probe, name: str) -> str:
    wanted = as_format(SCHEMAS[name], name)
    answer = probe.chat(ASK, response_format=wanted, temperature=0.8, seed=5, max_tokens=300)
    finish = answer.choices[0].finish_reason
    if name == "recursive" and finish == "length":
        raise NotApplicable("the model kept nesting until max_tokens")
    need(finish == "stop", f"finish_reason {finish}: {shorten(text_of(answer))}")
    value = parse(text_of(answer))
    check(SCHEMAS[name], value)
    return shorten(value, 70)


for _name in SCHEMAS:
    case(f"json.schema.{_name}")(partial(answer_by_schema, name=_name))


@case("json.schema_hot")
def keep_the_schema_when_hot(probe: Probe) -> None:
    schema = SCHEMAS["union_ref"]
    for seed in range(3):
        answer = probe.chat(
            ASK, response_format=as_format(schema), temperature=1.6, seed=seed, max_tokens=200
        )
        check(schema, parse(text_of(answer)))


@case("json.schema_unicode_const_stream")
def stream_characters_whole(probe: Probe) -> None:
    wanted = as_format(closed({"k": {"const": UNICODE}}))
    text = probe.stream(ASK, response_format=wanted, max_tokens=120).first.text
    need("\ufffd" not in text, "U+FFFD is in the stream: a character of several bytes was cut")
    need(parse(text) == {"k": UNICODE}, f"got {shorten(text)}")


@case("json.schema_stream")
def stream_by_schema(probe: Probe) -> None:
    wanted = as_format(SCHEMAS["flat"])
    streamed = probe.stream(ASK, response_format=wanted, max_tokens=200)
    check(SCHEMAS["flat"], parse(streamed.first.text))
    choices = [chunk["choices"][0] for chunk in streamed.chunks if chunk["choices"]]
    deltas = [choice for choice in choices if choice["delta"].get("content")]
    need(len(deltas) > 1, "the whole object came in one delta: it was not streamed")


@case("json.schema_sdk_parse")
def parse_by_the_sdk(probe: Probe) -> None:
    answer = probe.sdk.chat.completions.parse(
        model=probe.model, messages=[{"role": "user", "content": ASK}],
        response_format=Step, max_tokens=80, temperature=0,
    )  # fmt: skip
    parsed = answer.choices[0].message.parsed
    need(isinstance(parsed, Step), f"parsed is {parsed!r}")


@case("json.schema_bad")
def refuse_a_bad_schema(probe: Probe) -> None:
    probe.ask(response_format=as_format({"type": "nonsense"}), max_tokens=8).refused()


@case("json.response_format_bad")
def refuse_a_bad_format(probe: Probe) -> None:
    probe.ask(response_format={"type": "yaml"}, max_tokens=8).refused()


@case("json.unsupported_keywords_are_honest")
def keep_or_refuse_odd_keywords(probe: Probe) -> str:
    found = {keyword: try_keyword(probe, schema) for keyword, schema in ODD.items()}
    ignored = "; ".join(
        f"{keyword}: {problem}"
        for keyword, problem in found.items()
        if problem not in ("", "refused")
    )
    need(not ignored, f"a keyword was ignored without a word: {shorten(ignored, 300)}")
    refused = [keyword for keyword, problem in found.items() if problem == "refused"]
    return "refused: " + (", ".join(refused) or "none")


def try_keyword(probe: Probe, schema: Json) -> str:
    """What is wrong with three answers by this schema; empty when nothing is."""
    for seed in (1, 2, 3):
        reply = probe.ask(
            ASK, response_format=as_format(schema), temperature=1, seed=seed, max_tokens=120
        )
        if reply.status in REFUSED:
            reply.refused()
            return "refused"
        if reply.status != 200:
            return f"HTTP {reply.status}"
        try:
            check(schema, parse(reply.json["choices"][0]["message"]["content"]))
        except Failed as problem:
            return str(problem)
    return ""


@case("json.truncation_is_reported")
def report_a_cut_document(probe: Probe) -> None:
    wanted = as_format(array(DIGIT, 50, 50))
    finish = probe.chat(ASK, response_format=wanted, max_tokens=10).choices[0].finish_reason
    need(finish == "length", f"finish_reason {finish} after 10 tokens of a 100-token document")
