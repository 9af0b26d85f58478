"""The routes that llama-server adds: completion, infill, tokens, templates and properties."""

from dataclasses import replace
from functools import partial
from typing import Any

from server.chat import ChatRequest, Infill, Json
from server.events import Event, Events, Failed, Finished, PromptProgress, TextDelta, Usage
from server.protocols.base import KEEP_ALIVE, Ask, Endpoint, Facts, Frames, Reply
from server.protocols.constraints import constraint_of, refuse_what_is_not_done
from server.protocols.fields import (
    Fields,
    model_name,
    prompts_of,
    sampling,
    stop_texts,
    streams,
    template_options,
    token_limit,
)
from server.protocols.frames import error_object, failed, logprob, split_choice, sse
from server.protocols.messages import messages_of, tools_of

MOST_FILES = 256


def accept(body: Any, facts: Facts) -> ChatRequest:
    """Continues a prompt in llama-server's own format."""
    fields = Fields(body)
    request = _request(fields, facts)
    prompts = prompts_of(fields, "prompt")
    if len(prompts) != 1:
        raise fields.wrong("prompt", "must be one prompt; /v1/completions takes several")
    return replace(request, prompt=prompts[0])


def accept_infill(body: Any, facts: Facts) -> ChatRequest:
    """Fills the gap between `input_prefix` and `input_suffix`. The fill begins with `prompt`."""
    fields = Fields(body)
    if fields.value("input_prefix") is None and fields.value("input_suffix") is None:
        raise fields.wrong("input_prefix", "is missing, and 'input_suffix' too")
    gap = Infill(
        fields.text("input_prefix") or "", fields.text("input_suffix") or "", _files(fields)
    )
    return replace(_request(fields, facts), infill=gap, prompt=fields.text("prompt") or None)


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    whole = _Whole(body, facts)
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            yield sse({"error": error_object(inner.error)})
            return
        if isinstance(inner, PromptProgress):
            yield KEEP_ALIVE
        shown = whole.see(inner)
        if shown is not None:
            yield sse(shown)


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    whole = _Whole(body, facts)
    last: Json = {}
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        last = whole.see(inner) or last
    more: Json = {"completion_probabilities": whole.probabilities} if whole.probabilities else {}
    return Reply({**last, "content": "".join(whole.text), **more})


class _Whole:
    """The answer as it grows. `see` returns what a stream sends for an event; None: nothing."""

    def __init__(self, body: Any, facts: Facts) -> None:
        self._body = body
        self._model = body.get("model") or facts.default_model
        self.text: list[str] = []
        self.probabilities: list[Json] = []

    def see(self, event: Event) -> Json | None:
        match event:
            case TextDelta(text, logprobs):
                probabilities = list(map(logprob, logprobs))
                self.text.append(text)
                self.probabilities += probabilities
                shown: Json = {"completion_probabilities": probabilities} if probabilities else {}
                return {**self._piece(text), "stop": False, **shown}
            case Finished(reason, usage, stop_text):
                return self._end(reason, usage, stop_text)
        return None

    def _piece(self, text: str) -> Json:
        return {"index": 0, "content": text, "tokens": [], "id_slot": -1}

    def _end(self, reason: str, usage: Usage, stop_text: str | None) -> Json:
        prompt = self._body.get("prompt")
        kind = "limit" if reason == "length" else "word" if stop_text else "eos"
        return {
            **self._piece(""),
            "stop": True,
            "model": self._model,
            "prompt": prompt if isinstance(prompt, str) else "",
            "tokens_predicted": usage.completion_tokens,
            "tokens_evaluated": usage.prompt_tokens,
            "tokens_cached": usage.cached_tokens,
            "truncated": False,
            "has_new_line": "\n" in "".join(self.text),
            "stop_type": kind,
            "stopping_word": stop_text or "",
            "generation_settings": {
                name: value for name, value in self._body.items() if name != "prompt"
            },
            "timings": _timings(usage),
        }


def _request(fields: Fields, facts: Facts) -> ChatRequest:
    streams(fields.body)
    refuse_what_is_not_done(fields, return_tokens=(False,))
    probabilities = fields.integer("n_probs", 0, 20)
    return ChatRequest(
        model=model_name(fields, facts),
        sampling=sampling(fields),
        max_tokens=token_limit(fields, "n_predict", "max_tokens"),
        stop=stop_texts(fields),
        constraint=constraint_of(fields),
        top_logprobs=probabilities or None,
    )


def _files(fields: Fields) -> tuple[tuple[str, str], ...]:
    if len(fields.list("input_extra")) > MOST_FILES:
        raise fields.wrong("input_extra", f"may have at most {MOST_FILES} entries")
    files = fields.objects("input_extra")
    return tuple((file.text("filename") or "tmp", file.text("text") or "") for file in files)


def _timings(usage: Usage) -> Json:
    """Returns the timings under llama-server's names; cached tokens do not count as read."""
    read = usage.prompt_tokens - usage.cached_tokens
    return {
        "prompt_n": read,
        "prompt_ms": usage.prompt_s * 1000,
        "prompt_per_second": read / usage.prompt_s if usage.prompt_s else 0.0,
        "predicted_n": usage.completion_tokens,
        "predicted_ms": usage.decode_s * 1000,
        "predicted_per_second": usage.tokens_per_s,
    }


MOST_TOKENS = 1_000_000
REPORTED = ("chat_template", "bos_token", "eos_token")
"""Statistics of the engine that `/props` shows under the same name."""


def tokenize(body: Any, facts: Facts) -> Ask:
    """Converts a text to token numbers."""
    fields = Fields(body)
    text = fields.text("content")
    if text is None:
        raise fields.wrong("content", "is missing")
    special = fields.flag("parse_special") is not False
    asked = {"text": text, "special": special}
    return Ask("tokenize", model_name(fields, facts), asked, lambda found: Reply({"tokens": found}))


def detokenize(body: Any, facts: Facts) -> Ask:
    """Converts token numbers to a text."""
    fields = Fields(body)
    tokens = fields.list("tokens")
    if len(tokens) > MOST_TOKENS or not all(
        type(token) is int and 0 <= token < 2**31 for token in tokens
    ):
        raise fields.wrong("tokens", "must be an array of token numbers")
    asked = {"tokens": tokens}
    return Ask(
        "detokenize", model_name(fields, facts), asked, lambda text: Reply({"content": text})
    )


def apply_template(body: Any, facts: Facts) -> Ask:
    """Returns the prompt that the model would read for a conversation."""
    fields = Fields(body)
    request = ChatRequest(
        messages=messages_of(fields),
        model=model_name(fields, facts),
        tools=tools_of(fields),
        template_options=template_options(fields),
    )
    asked = {"request": request}
    return Ask("apply_template", request.model, asked, lambda text: Reply({"prompt": text}))


def properties(_body: Any, facts: Facts) -> Ask:
    """Describes the default model with llama-server's field names. Loads no model."""
    return Ask("stats", None, {}, partial(_properties, facts))


def _properties(facts: Facts, stats: Json) -> Reply:
    """Makes the reply from the engine's statistics. Leaves out what the engine does not report."""
    stats = dict(stats)
    properties_told = {name: stats.pop(name) for name in REPORTED if name in stats}
    if "slots" in stats:
        properties_told["total_slots"] = stats.pop("slots")
    if "context_tokens" in stats:
        properties_told["default_generation_settings"] = {"n_ctx": stats.pop("context_tokens")}
    default = next((card for card in facts.models if card.name == facts.default_model), None)
    return Reply(
        {
            "model_alias": facts.default_model,
            "model_path": default.path if default else "",
            "build_info": f"moat-{facts.version}",
            "is_sleeping": not (default and default.loaded),
            "modalities": {"vision": bool(default and default.has_eyes), "audio": False},
            **properties_told,
            "stats": stats,
        }
    )


ENDPOINTS = (
    Endpoint("POST", "/completion", accept, render, collect, streams, failed=failed),
    Endpoint("POST", "/infill", accept_infill, render, collect, streams, failed=failed),
    Endpoint("POST", "/tokenize", tokenize, failed=failed),
    Endpoint("POST", "/detokenize", detokenize, failed=failed),
    Endpoint("POST", "/apply-template", apply_template, failed=failed),
    Endpoint("GET", "/props", properties, failed=failed),
)
