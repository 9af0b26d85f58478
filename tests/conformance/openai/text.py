"""Plain completions, and embeddings."""

from math import sqrt
from typing import Any

from openai.types import Completion

from tests.conformance.openai.probe import Probe, fit
from tests.conformance.verdicts import Cases, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
ONCE = "Once upon a time"
MISSING = (404, 405, 501)


def complete(probe: Probe, **more: Any) -> Completion:
    body = {"model": probe.model, "prompt": ONCE, "max_tokens": 16, "temperature": 0, **more}
    reply = probe.post("/completions", body)
    if reply.status in MISSING:
        raise NotApplicable(f"/completions answers {reply.status}")
    return fit(Completion, reply.succeeded())


@case("completions.plain")
def complete_a_prompt(probe: Probe) -> None:
    answer = complete(probe)
    choice, usage = answer.choices[0], answer.usage
    need(answer.object == "text_completion" and choice.text, shorten(answer.model_dump()))
    need(choice.finish_reason in ("stop", "length"), f"finish_reason {choice.finish_reason}")
    total = usage.prompt_tokens + usage.completion_tokens
    need(usage.total_tokens == total, "the usage does not add up")


@case("completions.stream")
def stream_a_completion(probe: Probe) -> None:
    whole = complete(probe).choices[0].text
    chunks = probe.sdk.completions.create(
        model=probe.model, prompt=ONCE, max_tokens=16, temperature=0, stream=True
    )
    text = "".join(chunk.choices[0].text for chunk in chunks if chunk.choices)
    need(text == whole, f"{shorten(text)} != {shorten(whole)}")


@case("completions.prompt_list")
def complete_two_prompts(probe: Probe) -> None:
    found = sorted(
        choice.index for choice in complete(probe, prompt=["One two", "Red green"]).choices
    )
    need(found == [0, 1], f"the choices for two prompts are {found}")


@case("completions.n")
def complete_twice(probe: Probe) -> None:
    count = len(complete(probe, n=2, temperature=1).choices)
    need(count == 2, f"{count} choices")


@case("completions.echo")
def repeat_the_prompt(probe: Probe) -> None:
    need(complete(probe, echo=True).choices[0].text.startswith(ONCE), "there is no echo")


@case("completions.stop")
def stop_a_completion(probe: Probe) -> None:
    full = complete(probe).choices[0].text
    word = full[len(full) // 2 :][:3]
    text = complete(probe, stop=[word]).choices[0].text
    need(word and text == full[: full.index(word)], f"stop {word!r}: {shorten(text)}")


@case("completions.logprobs")
def tell_logprobs_of_a_completion(probe: Probe) -> None:
    choice = complete(probe, logprobs=2, max_tokens=4).choices[0]
    told = choice.logprobs
    need(told and told.tokens and told.token_logprobs, f"logprobs {told}")
    need(len(told.tokens) == len(told.token_logprobs), f"logprobs {told}")
    need("".join(told.tokens) == choice.text, "the tokens do not spell the text")


@case("completions.seed")
def repeat_a_completion(probe: Probe) -> None:
    first, second = (complete(probe, temperature=1, seed=3).choices[0].text for _ in range(2))
    need(first == second, "one seed gave two texts")


def embed(probe: Probe) -> Any:
    """The answer for one word; raises where the server has no embeddings."""
    reply = probe.post("/embeddings", {"model": probe.model, "input": "hello"})
    if reply.status in (400, 500, *MISSING):
        raise NotApplicable(f"there are no embeddings ({reply.status}: {shorten(reply.text, 90)})")
    return reply.succeeded()


def multiply(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


@case("embeddings.single")
def embed_a_word(probe: Probe) -> None:
    found = embed(probe)
    entry, usage = found["data"][0], found["usage"]
    need(entry["object"] == "embedding" and entry["index"] == 0, shorten(entry))
    need(len(entry["embedding"]) > 8, shorten(entry))
    need(usage["prompt_tokens"] > 0, f"usage {usage}")
    need(usage["total_tokens"] == usage["prompt_tokens"], f"usage {usage}")
    length = sqrt(multiply(entry["embedding"], entry["embedding"]))
    need(abs(length - 1) < 1e-2, f"the length is {length:.3f}, OpenAI's are unit vectors")


@case("embeddings.list")
def embed_a_list(probe: Probe) -> None:
    alone = embed(probe)["data"][0]["embedding"]
    body = {"model": probe.model, "input": ["hello", "world", "hello"]}
    entries = probe.post("/embeddings", body).succeeded()["data"]
    need([entry["index"] for entry in entries] == [0, 1, 2], "the indexes are wrong")
    first, _, third = (entry["embedding"] for entry in entries)
    same = multiply(first, third)
    need(same > 0.999, f"one text has two vectors, cosine {same:.4f}")
    need(multiply(alone, first) > 0.999, "a text in a list differs from the text alone")


@case("embeddings.base64_sdk")
def embed_by_the_sdk(probe: Probe) -> None:
    """The SDK asks for base64 by itself."""
    embed(probe)
    vector = probe.sdk.embeddings.create(model=probe.model, input="hello").data[0].embedding
    need(len(vector) > 8 and isinstance(vector[0], float), "the SDK could not decode it")


@case("embeddings.empty_input")
def refuse_to_embed_nothing(probe: Probe) -> None:
    embed(probe)
    probe.post("/embeddings", {"model": probe.model, "input": ""}).refused()
