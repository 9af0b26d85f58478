"""Bodies for the fuzzer: well-formed requests with odd values, and broken requests."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Make = Callable[[random.Random], Json]
FEW_TOKENS = (1, 1, 2, 3)
TEXTS = (
    "Hi", "", " ", "\n\n", "🌍" * 20, "\x00", "\x1b[31m", "\ud800", "{{ 7 * 7 }}", "{% endfor %}",
    "<|im_end|>", "<|im_start|>system", "</tool_call>", '{"tool_calls": [', "<think>", "a" * 300,
    "\u202e\u0301", "[TOOL_CALLS]", "%s%n", "'; --", "\\u0000", "0", "null", "<__media__>",
)  # fmt: skip
NAMES = ("f", "get_weather", "a-b_c", "x" * 64, "all", "response", "tool_calls", "_", "F1")
SCHEMAS: tuple[Any, ...] = (
    {}, {"type": "object"}, {"type": "object", "properties": {}}, {"not": {}},
    {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"const": 1}}},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    {"type": "object", "properties": {"e": {"enum": [None, 1, "\u2028", [], {}]}}},
    {"type": "object", "properties": {"p": {"type": "string", "pattern": "^\\d{2}$"}}},
    {"type": "object", "properties": {"d": {"type": "string", "format": "date-time"}}},
    {"type": "object", "properties": {"": {"type": "number", "multipleOf": 0.5}}},
    {"type": "object", "properties": {"t": {"$ref": "#"}}, "additionalProperties": False},
    {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
    {"type": "object", "patternProperties": {"^x-": True}, "maxProperties": 3},
    {"type": "object", "properties": {"l": {"type": "array", "uniqueItems": True}}},
    {"type": "object", "properties": {f"k{n}": {"type": "boolean"} for n in range(60)}},
)  # fmt: skip
SAMPLING: dict[str, tuple[Any, ...]] = {
    "temperature": (0, 0.0, 1e-9, 1, 2), "top_p": (0, 1e-6, 0.5, 1), "min_p": (0, 0.5, 1),
    "top_k": (-1, 0, 1, 2**31 - 1), "seed": (0, -1, -(2**63), 2**64 - 1),
    "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2), "repeat_penalty": (0, 0.5, 10),
    "typical_p": (0, 1), "mirostat": (0, 1, 2), "mirostat_tau": (0, 100), "mirostat_eta": (0, 10),
    "dry_multiplier": (0, 10), "xtc_probability": (0, 1), "xtc_threshold": (0, 1),
    "ignore_eos": (True, False),
    "logit_bias": ({}, {"0": -100, "1": 100}, {"999999999": 5}, {"2": 100}),
}  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, 0.5, "", "x", "\x00", "\ud800",
    "🌍" * 50, [], [[]], {}, {"type": "object"}, {"$ref": "#"}, {"type": "nonsense"}, "auto",
    [None], [1, "a"], {"": ""}, {"a": {"a": {"a": {}}}}, "data:image/png;base64,AAAA", "assistant",
)  # fmt: skip


def some(rng: random.Random, fields: Json, share: float = 0.3) -> Json:
    """Returns a random selection of the fields."""
    return {name: value for name, value in fields.items() if rng.random() < share}


def sampling(rng: random.Random) -> Json:
    return some(rng, {name: rng.choice(values) for name, values in SAMPLING.items()}, 0.15)


def chat(rng: random.Random) -> Json:
    tools = [_function(rng, name) for name in rng.sample(NAMES, rng.choice((0, 0, 0, 1, 2)))]
    body: Json = {"messages": _turns(rng), "max_tokens": rng.choice(FEW_TOKENS), **sampling(rng)}
    body |= some(
        rng,
        {
            "stream": rng.random() < 0.5,
            "stream_options": {"include_usage": rng.random() < 0.5},
            "n": rng.choice((1, 1, 2)),
            "stop": rng.choice(("x", ["a", ""], [], None)),
            "logprobs": True,
            "user": rng.choice(TEXTS),
            "metadata": {"a": rng.choice(TEXTS)},
            "response_format": _format(rng),
            "chat_template_kwargs": {rng.choice(("a", "enable_thinking")): rng.choice((1, False))},
            "reasoning_effort": rng.choice(("none", "low", "high")),
            "store": rng.random() < 0.5,
        },
    )
    if body.get("logprobs"):
        body["top_logprobs"] = rng.choice((0, 1, 20))
    if tools:
        body["tools"] = tools
        body["parallel_tool_calls"] = rng.random() < 0.5
        named = {"type": "function", "function": {"name": tools[0]["function"]["name"]}}
        body["tool_choice"] = rng.choice(("auto", "none", "required", named))
    return body


def completion(rng: random.Random) -> Json:
    prompts = rng.choice((_text(rng), [_text(rng), "b"], [""]))
    body = {"prompt": prompts, "max_tokens": rng.choice(FEW_TOKENS), **sampling(rng)}
    odd = {"echo": True, "logprobs": rng.choice((0, 5)), "stream": True, "n": 2, "stop": ["e"]}
    return body | some(rng, {**odd, "suffix": "", "best_of": 1})


def response(rng: random.Random) -> Json:
    turns = [{"role": "user", "content": _text(rng)}]
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": rng.choice(TEXTS)}
    parts = [{"role": "user", "content": [{"type": "input_text", "text": _text(rng)}]}]
    body: Json = {
        "input": rng.choice((_text(rng) or "x", turns, [*turns, call, result], parts)),
        "max_output_tokens": rng.choice(FEW_TOKENS),
    }
    tool = {"type": "function", "name": rng.choice(NAMES), "parameters": rng.choice(SCHEMAS)}
    odd = {
        "tools": [tool],
        "text": {"format": _text_format(rng)},
        "instructions": rng.choice(TEXTS),
        "stream": True,
        "store": False,
        "reasoning": {"effort": "low"},
        "include": ["message.output_text.logprobs"],
        "temperature": rng.choice((0, 2)),
    }
    return body | some(rng, odd)


def anthropic(rng: random.Random) -> Json:
    blocks = [{"type": "text", "text": _text(rng)}]
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": rng.choice(TEXTS)}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": rng.choice(TEXTS)}
    talk = [{"role": "user", "content": blocks}]
    used = [*talk, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    body: Json = {"messages": rng.choice((talk, used)), "max_tokens": rng.choice(FEW_TOKENS)}
    odd = {
        "tools": [{"name": rng.choice(NAMES), "input_schema": rng.choice(SCHEMAS)}],
        "system": rng.choice((rng.choice(TEXTS), [{"type": "text", "text": "s"}])),
        "stream": True,
        "stop_sequences": ["x", ""],
        "temperature": rng.choice((0, 1)),
        "thinking": {"type": rng.choice(("enabled", "disabled")), "budget_tokens": 1024},
    }
    return body | some(rng, odd)


def ollama_chat(rng: random.Random) -> Json:
    talk = [{"role": "user", "content": _text(rng)}]
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    used = [*talk, {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": rng.choice(TEXTS), "tool_name": "f"}]  # fmt: skip
    odd = {
        "tools": [_function(rng, rng.choice(NAMES))],
        "format": rng.choice(("json", "", rng.choice(SCHEMAS))),
        "think": rng.choice((True, False)),
        "keep_alive": rng.choice((0, "5m", -1)),
    }
    return {"messages": rng.choice((talk, talk, used)), **_ollama(rng), **some(rng, odd)}


def ollama_generate(rng: random.Random) -> Json:
    odd = {"system": rng.choice(TEXTS), "raw": True, "format": "json", "suffix": ""}
    return {"prompt": _text(rng), **_ollama(rng), **some(rng, odd)}


def embedding(rng: random.Random) -> Json:
    given = rng.choice((_text(rng), [_text(rng), "b"]))
    return {"input": given, **some(rng, {"encoding_format": "base64", "dimensions": 8})}


def fixed(body: Json) -> Make:
    return lambda rng: {
        name: rng.choice((value, value, _text(rng))) for name, value in body.items()
    }


def broken(rng: random.Random, body: Any) -> Any:
    """Returns the body with one to three of its values made odd, removed, doubled or nested."""
    body = copy.deepcopy(body)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        holder, key = rng.choice(list(places(body)) or [(None, None)])
        if holder is None:
            return copy.deepcopy(rng.choice(ODD))
        change = rng.random()
        if change < 0.7:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif change < 0.85 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = [holder[key], copy.deepcopy(holder[key])]
    return body


def places(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, dict):
        found: list[tuple[Any, Any]] = [(node, key) for key in node]
    elif isinstance(node, list):
        found = [(node, at) for at in range(len(node))]
    else:
        return []
    return found + [place for holder, key in found for place in places(holder[key])]


def _text(rng: random.Random) -> str:
    return rng.choice(TEXTS) + rng.choice(("", "", rng.choice(TEXTS)))


def _turns(rng: random.Random) -> list[Json]:
    turns: list[Json] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        turns += _turn(rng, len(turns))
    return turns


def _turn(rng: random.Random, at: int) -> list[Json]:
    text = _text(rng)
    match rng.randrange(6):
        case 0:
            return [{"role": rng.choice(("system", "developer")), "content": text}]
        case 1:
            return [{"role": "assistant", "content": text}, {"role": "user", "content": "b"}]
        case 2:
            function = {"name": "f", "arguments": json.dumps({"a": text})}
            call = {"id": f"c{at}", "type": "function", "function": function}
            asked = {"role": "assistant", "content": None, "tool_calls": [call]}
            return [asked, {"role": "tool", "tool_call_id": f"c{at}", "content": text}]
        case 3:
            return [{"role": "user", "content": [{"type": "text", "text": text}] * 2}]
        case _:
            return [{"role": "user", "content": text, **some(rng, {"name": "n"}, 0.2)}]


def _function(rng: random.Random, name: str) -> Json:
    function: Json = {"name": name, "parameters": rng.choice(SCHEMAS)}
    return {"type": "function", "function": function | some(rng, {"description": _text(rng)})}


def _format(rng: random.Random) -> Json:
    form = {"name": "s", "schema": rng.choice(SCHEMAS), "strict": rng.random() < 0.5}
    wrapped = {"type": "json_schema", "json_schema": form}
    return rng.choice(({"type": "text"}, {"type": "json_object"}, wrapped))


def _text_format(rng: random.Random) -> Json:
    form = {"type": "json_schema", "name": "s", "schema": rng.choice(SCHEMAS), "strict": False}
    return rng.choice(({"type": "text"}, {"type": "json_object"}, form))


def _ollama(rng: random.Random) -> Json:
    options = {"num_predict": rng.choice(FEW_TOKENS), **sampling(rng)}
    return {"options": options, "stream": rng.random() < 0.3}
