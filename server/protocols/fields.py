"""Reads the fields of a request's body. An error names the field that is wrong."""

import base64
import json
from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from server.chat import Constraint, Json, Prompt, Sampling
from server.errors import BadRequest
from server.protocols.base import Facts
from server.system.limits import beyond_64_bits

BIGGEST = 2**31 - 1
BIGGEST_SEED = 2**63
NO_LIMIT = -1
"""The number of tokens with which clients ask for no limit."""
MOST_TOKENS = 1_000_000
"""The most entries of a prompt that is a list."""
PROMPTS = "must be a string, an array of token numbers, or an array of these"
LONGEST_WINDOW = 4096
"""The most tokens that the repeat penalty looks back at: more would cost more than it changes."""
SAMPLING_RANGES = {
    "temperature": (0, 2), "top_p": (0, 1), "min_p": (0, 1), "typical_p": (0, 1),
    "repeat_penalty": (0, 10), "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2),
    "dry_multiplier": (0, 10), "xtc_probability": (0, 1), "xtc_threshold": (0, 1),
    "mirostat_tau": (0, 100), "mirostat_eta": (0, 10),
}  # fmt: skip
THINKING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


class Fields:
    """A JSON object from outside.

    A missing field and null both count as None; the `some_` methods refuse None. A value of the
    wrong type raises BadRequest with the field's path.
    """

    def __init__(self, body: Any, where: str = "") -> None:
        if not isinstance(body, dict):
            what = f"'{where}'" if where else "The body"
            raise BadRequest(f"{what} must be a JSON object.", where or None)
        self.body: Json = body
        self._where = f"{where}." if where else ""

    def path(self, name: str) -> str:
        return self._where + name

    def wrong(self, name: str, what: str) -> BadRequest:
        return BadRequest(f"'{self.path(name)}' {what}.", self.path(name))

    def value(self, name: str) -> Any:
        return self.body.get(name)

    def text(self, name: str) -> str | None:
        found = self.body.get(name)
        if found is not None and not isinstance(found, str):
            raise self.wrong(name, "must be a string")
        return found

    def some_text(self, name: str) -> str:
        found = self.text(name)
        if not found:
            raise self.wrong(name, "must be a string that is not empty")
        return found

    def flag(self, name: str) -> bool | None:
        found = self.body.get(name)
        if found is not None and not isinstance(found, bool):
            raise self.wrong(name, "must be true or false")
        return found

    def number(self, name: str, least: float, most: float) -> float | None:
        found = self.body.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self.wrong(name, "must be a number")
        if not least <= found <= most:
            raise self.wrong(name, f"must be between {least:g} and {most:g}")
        return float(found)

    def integer(self, name: str, least: int, most: int) -> int | None:
        found = self.body.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int):
            raise self.wrong(name, "must be a whole number")
        if not least <= found <= most:
            raise self.wrong(name, f"must be between {least} and {most}")
        return found

    def digits(self, name: str, usual: int, most: int) -> int:
        """Returns a number from 1 to `most` that is written as text, as in a query."""
        digits = (self.text(name) or str(usual)).lstrip("0")
        # The length is checked first, because `int` refuses very long texts.
        is_short = digits.isascii() and digits.isdigit() and len(digits) <= len(str(most))
        if not is_short or not 1 <= int(digits) <= most:
            raise self.wrong(name, f"must be between 1 and {most}")
        return int(digits)

    def word(self, name: str, words: Sequence[str]) -> str | None:
        found = self.body.get(name)
        if found is not None and found not in words:
            raise self.wrong(name, "must be one of: " + ", ".join(words))
        return found

    def some_word(self, name: str, words: Sequence[str]) -> Any:
        found = self.word(name, words)
        if found is None:
            raise self.wrong(name, "is missing")
        return found

    def list(self, name: str) -> list[Any]:
        found = self.body.get(name)
        if found is not None and not isinstance(found, list):
            raise self.wrong(name, "must be an array")
        return found or []

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns the strings of a field that holds a string or an array of strings."""
        found = self.value(name)
        texts = [found] if isinstance(found, str) else [] if found is None else found
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise self.wrong(name, "must be a string or an array of strings")
        return tuple(texts)

    def object(self, name: str) -> "Fields | None":
        found = self.body.get(name)
        return None if found is None else Fields(found, self.path(name))

    def some_object(self, name: str) -> "Fields":
        found = self.object(name)
        if found is None:
            raise self.wrong(name, "is missing")
        return found

    def objects(self, name: str) -> "Sequence[Fields]":
        """Returns the objects of an array. The path of each has its index."""
        listed = enumerate(self.list(name))
        return [Fields(item, self.path(f"{name}[{at}]")) for at, item in listed]

    def decode(self, text: str, name: str, problem: str = "is not valid base64") -> bytes:
        """Decodes base64. Raises BadRequest about the field `name` if the text is not valid."""
        try:
            return base64.b64decode(text, validate=True)
        except (ValueError, TypeError):
            raise self.wrong(name, problem) from None


def streams(body: Any) -> bool:
    """Whether the client wants a stream, for APIs that do not stream by default."""
    return Fields(body).flag("stream") is True


def wants_usage(fields: Fields) -> bool:
    """Whether the stream should end with the usage (OpenAI's `stream_options.include_usage`)."""
    options = fields.object("stream_options")
    return bool(options and options.flag("include_usage"))


def model_name(fields: Fields, facts: Facts) -> str | None:
    """Returns the requested model; None for the default. Raises an error if it is not available."""
    name = fields.text("model")
    if not name:
        return None
    is_known = any(card.name == name for card in facts.models)
    if name in facts.forbidden or (facts.models and not is_known):
        raise facts.miss(name)
    return name


def sampling(fields: Fields) -> Sampling:
    given: dict[str, Any] = {
        name: fields.number(name, *bounds) for name, bounds in SAMPLING_RANGES.items()
    }
    if given["repeat_penalty"] is None:
        given["repeat_penalty"] = fields.number("repetition_penalty", 0, 10)  # vLLM's name
    given["top_k"] = fields.integer("top_k", -1, BIGGEST)
    given["repeat_last_n"] = _window(fields)
    given["mirostat"] = fields.integer("mirostat", 0, 2)
    seed = fields.integer("seed", -(2**63), 2**64 - 1)
    # Each further choice adds one to the seed, and it must still fit into 64 bits for the worker.
    given["seed"] = None if seed is None else seed % BIGGEST_SEED
    given["ignore_eos"] = fields.flag("ignore_eos")
    known = {name: value for name, value in given.items() if value is not None}
    return Sampling(**known, logit_bias=_logit_bias(fields), given=tuple(known))


def _window(fields: Fields) -> int | None:
    window = fields.integer("repeat_last_n", -1, BIGGEST)
    return (
        window if window is None else LONGEST_WINDOW if window < 0 else min(window, LONGEST_WINDOW)
    )


def token_limit(fields: Fields, *names: str, usual: int | None = None) -> int | None:
    """Returns the first limit that is given, else `usual`. -1 is returned as None: no limit."""
    for name in names:
        limit = None if fields.value(name) == NO_LIMIT else fields.integer(name, 1, BIGGEST)
        if fields.value(name) is not None:
            return limit
    return usual


def prompts_of(fields: Fields, name: str) -> list[Prompt]:
    """Reads one or several raw prompts: strings, token numbers, or arrays of both."""
    found = fields.value(name)
    if isinstance(found, str):
        return [found]
    if not isinstance(found, list):
        raise fields.wrong(name, PROMPTS)
    if found and all(_is_token(part) for part in found):
        return [tuple(found)]
    if any(_is_token(part) for part in found):
        return [_prompt(fields, name, found)]
    return [part if isinstance(part, str) else _prompt(fields, name, part) for part in found]


def _prompt(fields: Fields, name: str, parts: Any) -> Prompt:
    if not isinstance(parts, list) or not parts or len(parts) > MOST_TOKENS:
        raise fields.wrong(name, PROMPTS)
    if not all(isinstance(part, str) or _is_token(part) for part in parts):
        raise fields.wrong(name, PROMPTS)
    return tuple(parts)


def _is_token(value: Any) -> bool:
    return type(value) is int and 0 <= value <= BIGGEST


def stop_texts(fields: Fields, name: str = "stop") -> tuple[str, ...]:
    texts = fields.texts(name)
    if len(texts) > 16:
        raise fields.wrong(name, "may have at most 16 entries")
    return tuple(text for text in texts if text)


def json_constraint(format_: Fields | None) -> Constraint | None:
    """Reads OpenAI's `response_format` (chat completions) or `text.format` (responses)."""
    if format_ is None:
        return None
    kind = format_.word("type", ("text", "json_object", "json_schema"))
    if kind is None:
        raise format_.wrong("type", "is missing")
    if kind == "text":
        return None
    if kind == "json_object":
        given = format_.value("schema")
        schema = Fields({"schema": {"type": "object"}}) if given is None else format_
        return schema_constraint(schema, strict=True)
    holder = format_.object("json_schema") or format_
    # Not strict is OpenAI's default. The grammar is the same, but ignores what it cannot express.
    return schema_constraint(holder, strict=holder.flag("strict") is True)


def schema_constraint(holder: Fields, name: str = "schema", *, strict: bool) -> Constraint:
    given = holder.value(name)
    schema = parse_json(given) if isinstance(given, str) else given
    if not isinstance(schema, dict):
        raise holder.wrong(name, "must be a JSON schema object")
    return Constraint("json_schema", json.dumps(sendable(schema)), strict, holder.path(name))


def template_options(fields: Fields) -> tuple[tuple[str, Any], ...]:
    given = fields.object("chat_template_kwargs")
    options: Json = sendable(given.body) if given else {}
    effort = fields.word("reasoning_effort", THINKING_EFFORTS)
    if effort:
        options.setdefault("reasoning_effort", effort)
        options.setdefault("enable_thinking", effort != "none")
    return tuple(options.items())


def sendable(value: Any) -> Any:
    """Copies a JSON value. Integers beyond 64 bits become floats, as frames cannot hold them."""
    whole = [value]
    # Not recursive: a deeply nested value would exceed the stack.
    holders: list[Any] = [whole]
    while holders:
        holder = holders.pop()
        for key, part in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(part, dict | list):
                holder[key] = part.copy()
                holders.append(holder[key])
            elif isinstance(part, int) and not -(2**63) <= part < 2**64:
                holder[key] = beyond_64_bits(part)
    return whole[0]


def parse_json(text: str, otherwise: Any = None) -> Any:
    """Parses JSON that is a string within a body.

    Returns `otherwise` if it is not valid JSON, has a lone surrogate, or is nested too deeply.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):
        return otherwise


def _logit_bias(fields: Fields) -> tuple[tuple[int, float], ...]:
    given = fields.object("logit_bias")
    if given is None:
        return ()
    biases = []
    for token in given.body:
        if not token.isascii() or not token.isdigit() or len(token) > 9:
            raise fields.wrong("logit_bias", "must have token numbers as keys")
        biases.append((int(token), given.number(token, -100, 100) or 0.0))
    return tuple(biases)
