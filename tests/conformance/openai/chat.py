"""Models, and chat completions without tools."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from tests.conformance.openai.probe import CHAT, Json, Probe, fit
from tests.conformance.verdicts import Cases, Failed, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
COUNT = "Count from one to one hundred in words."
SEA = "Write two sentences about the sea."
STORY = "Tell a tiny story."
HI = [{"role": "user", "content": "Hi"}]


def text_of(answer: ChatCompletion) -> str:
    return answer.choices[0].message.content or ""


def say(role: str, content: Any) -> Json:
    return {"role": role, "content": content}


@case("models.list")
def list_models(probe: Probe) -> str:
    found = probe.sdk.models.list()
    need(found.object == "list", f"object is {found.object!r}")
    need(found.data, "there is no model")
    for model in found.data:
        need(model.object == "model", f"this is no model: {model}")
        need(isinstance(model.id, str) and model.id, f"a model has no id: {model}")
        need(isinstance(model.created, int), f"created is {model.created!r}")
        need(isinstance(model.owned_by, str), "owned_by is missing")
    return ", ".join(model.id for model in found.data[:3])


@case("models.retrieve")
def retrieve_a_model(probe: Probe) -> None:
    model = probe.sdk.models.retrieve(probe.model)
    need(model.id == probe.model and model.object == "model", f"got {model}")


@case("models.retrieve_unknown")
def retrieve_an_unknown_model(probe: Probe) -> None:
    probe.send("GET", "/models/no-such-model-xyz").refused(404)


@case("chat.plain")
def chat_plainly(probe: Probe) -> str:
    answer = probe.chat()
    message, finish = answer.choices[0].message, answer.choices[0].finish_reason
    need(message.role == "assistant" and message.content, "there is no content")
    need(finish in ("stop", "length"), f"finish_reason {finish}")
    is_now = abs(time.time() - answer.created) < 86400
    need(is_now, f"created={answer.created} is no time of today")
    check_usage(answer)
    need(not message.tool_calls, "there are tool_calls without tools")
    return shorten(message.content, 60)


def check_usage(answer: ChatCompletion) -> None:
    usage = answer.usage
    if usage is None:
        raise Failed("there is no usage")
    total = usage.prompt_tokens + usage.completion_tokens
    need(usage.prompt_tokens > 0 and usage.completion_tokens > 0, f"usage {usage}")
    need(usage.total_tokens == total, f"usage {usage}")


@case("chat.sdk")
def chat_by_the_sdk(probe: Probe) -> None:
    answer = probe.sdk.chat.completions.create(model=probe.model, messages=HI, max_tokens=8)
    need(isinstance(answer.choices[0].message.content, str), "the SDK got no content")


@case("chat.roles")
def take_both_roles_of_instructions(probe: Probe) -> None:
    talk = [say("user", "Hi"), say("assistant", "Hello."), say("user", "Again")]
    for role in ("system", "developer"):
        messages = [say(role, "Be brief."), *talk]
        probe.post(CHAT, {"model": probe.model, "max_tokens": 4, "messages": messages}).succeeded(
            f"role {role}: "
        )


@case("chat.system_in_the_middle")
def take_instructions_in_the_middle(probe: Probe) -> None:
    messages = [
        say("user", "Hi"),
        say("assistant", "Hello."),
        say("system", "Be brief."),
        say("user", "A"),
        say("user", "B"),
    ]
    probe.post(CHAT, {"model": probe.model, "max_tokens": 4, "messages": messages}).succeeded()


@case("chat.content_parts")
def take_content_in_parts(probe: Probe) -> None:
    parts = [{"type": "text", "text": "Say "}, {"type": "text", "text": "hello."}]
    answer = probe.chat(messages=[say("user", parts)], max_tokens=6)
    need(isinstance(answer.choices[0].message.content, str), "there is no content")


@case("chat.stream")
def stream_a_chat(probe: Probe) -> str:
    streamed = probe.stream()
    first, chunks = streamed.first, streamed.chunks
    need(first.text, "no content was streamed")
    role = chunks[0]["choices"][0]["delta"].get("role")
    need(first.roles and role == "assistant", "the first delta carries no role")
    need(first.finish in ("stop", "length"), f"finish {first.finish}")
    need(len({chunk["id"] for chunk in chunks}) == 1, "the ids of the chunks differ")
    is_chunk = all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
    need(is_chunk, "a chunk names another object")
    need(not any(chunk.get("usage") for chunk in chunks), "usage was sent and not asked for")
    return f"{len(chunks)} chunks"


@case("chat.stream_equals_plain")
def stream_the_same_as_plain(probe: Probe) -> None:
    plain, streamed = text_of(probe.chat()), probe.stream().first.text
    need(streamed == plain, f"{shorten(streamed)} != {shorten(plain)}")


@case("chat.stream_usage")
def stream_the_usage(probe: Probe) -> None:
    chunks = probe.stream(stream_options={"include_usage": True}).chunks
    usage = chunks[-1].get("usage")
    need(usage and chunks[-1]["choices"] == [], f"the last chunk has no usage: {chunks[-1]}")
    need(all(chunk.get("usage") is None for chunk in chunks[:-1]), "usage is in an earlier chunk")
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    need(usage["total_tokens"] == total and usage["completion_tokens"] > 0, f"usage {usage}")


@case("chat.stream_sdk_helper")
def stream_by_the_helper_of_the_sdk(probe: Probe) -> str | None:
    text, final = "", None
    try:
        with probe.sdk.chat.completions.stream(
            model=probe.model, messages=HI, max_tokens=64
        ) as stream:
            for event in stream:
                if event.type == "content.delta":
                    text += event.delta
            final = stream.get_final_completion()
    except openai.LengthFinishReasonError:
        return "cut by max_tokens; the helper raises then" if text else None
    need(text and text_of(final) == text, "the SDK's message differs from its deltas")
    return None


@case("chat.max_tokens")
def keep_to_max_tokens(probe: Probe) -> None:
    check_cut(probe.chat(COUNT, max_tokens=5))


@case("chat.max_completion_tokens")
def keep_to_max_completion_tokens(probe: Probe) -> None:
    check_cut(probe.chat(COUNT, max_tokens=None, max_completion_tokens=5))


def check_cut(answer: ChatCompletion) -> None:
    finish, used = answer.choices[0].finish_reason, answer.usage.completion_tokens
    need(finish == "length", f"finish_reason {finish}")
    need(used <= 5, f"{used} tokens")


def find_stop(probe: Probe) -> tuple[str, str]:
    """A word out of the middle of an answer, and what stands before it."""
    full = text_of(probe.chat(SEA, max_tokens=40))
    if len(full) < 24:
        raise NotApplicable("the model answered too little to pick a stop string")
    half = len(full) // 2
    word = full[half : half + 4]
    return word, full[: full.index(word)]


@case("chat.stop")
def stop_at_a_word(probe: Probe) -> None:
    word, before = find_stop(probe)
    answer = probe.chat(SEA, max_tokens=40, stop=word)
    got, finish = text_of(answer), answer.choices[0].finish_reason
    need(got == before, f"stop={word!r}: got {shorten(got)}, wanted {shorten(before)}")
    need(finish == "stop", f"finish_reason {finish}")


@case("chat.stop_stream_list")
def stop_a_stream_at_one_of_several(probe: Probe) -> None:
    word, before = find_stop(probe)
    got = probe.stream(SEA, max_tokens=40, stop=["\u0001never", word]).first
    need(got.text == before, f"stop={word!r}: got {shorten(got.text)}, wanted {shorten(before)}")
    need(got.finish == "stop", f"finish {got.finish}")


def tell(probe: Probe, **more: Any) -> str:
    return text_of(probe.chat(STORY, max_tokens=24, **more))


@case("chat.seed_repeats")
def repeat_with_a_seed(probe: Probe) -> None:
    first, second = (tell(probe, temperature=1, seed=1234) for _ in range(2))
    need(first == second, "one seed gave two texts")


@case("chat.seed_varies")
def vary_with_the_seed(probe: Probe) -> None:
    found = {tell(probe, temperature=1, seed=seed) for seed in (1, 2, 3)}
    need(len(found) > 1, "three seeds at temperature 1 gave one text")


@case("chat.temperature_zero")
def repeat_at_temperature_zero(probe: Probe) -> None:
    need(tell(probe) == tell(probe), "temperature 0 is not repeatable")


@case("chat.n")
def give_two_choices(probe: Probe) -> None:
    answer = probe.chat(STORY, temperature=1, n=2, max_tokens=12)
    indexes = sorted(choice.index for choice in answer.choices)
    need(indexes == [0, 1], f"the choices are {indexes}")
    need(all(choice.message.content for choice in answer.choices), "a choice is empty")
    used = answer.usage.completion_tokens
    need(used > 12, f"usage counts one choice only ({used})")


@case("chat.n_stream")
def stream_two_choices(probe: Probe) -> None:
    choices = probe.stream(STORY, temperature=1, n=2, max_tokens=12).choices
    need(set(choices) == {0, 1}, f"the choices are {sorted(choices)}")
    need(all(choice.text and choice.finish for choice in choices.values()), "a choice is empty")


def check_logprobs(tokens: list[Json], text: str, count: int) -> None:
    need(tokens, "logprobs.content is missing")
    spelled = b"".join(
        token["token"].encode() if token.get("bytes") is None else bytes(token["bytes"])
        for token in tokens
    ).decode("utf-8", "replace")
    is_same = spelled.strip() == text.strip()
    need(is_same, f"the tokens do not spell the content: {shorten(spelled)} / {shorten(text)}")
    for token in tokens:
        need(token["logprob"] <= 1e-6, f"logprob {token['logprob']} > 0")
        top = [other["logprob"] for other in token["top_logprobs"]]
        need(len(top) == count, f"{len(top)} top_logprobs, wanted {count}")
        need(top == sorted(top, reverse=True), "top_logprobs are not sorted")


@case("chat.logprobs")
def tell_logprobs(probe: Probe) -> None:
    found = probe.ask(logprobs=True, top_logprobs=3, max_tokens=8).succeeded()
    answer = fit(ChatCompletion, found)
    told = found["choices"][0]["logprobs"] or {}
    check_logprobs(told.get("content") or [], text_of(answer), 3)


@case("chat.logprobs_stream")
def stream_logprobs(probe: Probe) -> None:
    streamed = probe.stream(logprobs=True, top_logprobs=2, max_tokens=8)
    told = [
        (choice.get("logprobs") or {}).get("content") or []
        for chunk in streamed.chunks
        for choice in chunk["choices"]
    ]
    check_logprobs([token for tokens in told for token in tokens], streamed.first.text, 2)


@case("chat.top_logprobs_needs_logprobs")
def refuse_top_logprobs_alone(probe: Probe) -> None:
    probe.ask(top_logprobs=2, max_tokens=2).refused()


@case("chat.penalties_and_bias_accepted")
def take_penalties_and_bias(probe: Probe) -> None:
    probe.chat(
        frequency_penalty=0.5, presence_penalty=0.5, top_p=0.9, logit_bias={"5": -100},
        user="u", max_tokens=4,
    )  # fmt: skip


@case("chat.prompt_cache_usage")
def tell_what_was_cached(probe: Probe) -> str:
    long = "The quick brown fox jumps over the lazy dog. " * 20
    probe.chat(long, max_tokens=2)
    usage = probe.ask(long, max_tokens=2).succeeded().get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    if "cached_tokens" not in details:
        raise NotApplicable("usage.prompt_tokens_details.cached_tokens is not reported")
    need(details["cached_tokens"] > 0, "the second identical prompt has no cached tokens")
    return f"{details['cached_tokens']} of {usage['prompt_tokens']} cached"


@case("chat.concurrent")
def answer_four_at_once(probe: Probe) -> None:
    def ask(seed: int) -> ChatCompletion:
        return probe.chat(STORY, temperature=1, seed=seed, max_tokens=16)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, range(4)))
    need(all(text_of(answer) for answer in answers), "an answer is empty")
    need(len({answer.id for answer in answers}) == 4, "the ids are not unique")
