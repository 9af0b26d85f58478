"""What the answers of several APIs share: frames, usage, log-probabilities, OpenAI's errors."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic_core import to_json

from server.chat import Json
from server.errors import AppError
from server.events import Event, Events, Failed, OfChoice, TokenLogprob, Usage
from server.protocols.base import Facts, Reply

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
PARAMS = {"context_length_exceeded": "messages", "invalid_schema": "response_format"}
UNCODED = ("invalid_request", "internal_error")
"""Our general error codes. OpenAI has none for them, so `code` is null."""


def head(name: str, kind: str, body: Json, facts: Facts) -> Json:
    """Returns the fields that every completion of OpenAI's begins with."""
    return {
        "id": f"{name}-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": body.get("model") or facts.default_model,
        "system_fingerprint": f"moat-{facts.version}",
    }


def utc_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def failed(error: Exception) -> Reply:
    status = error.status if isinstance(error, AppError) else 500
    return Reply({"error": error_object(error)}, status)


def error_object(error: Exception) -> dict[str, Any]:
    if not isinstance(error, AppError):
        error = AppError("Something went wrong inside Moat.")
    usual = "invalid_request_error" if error.status < 500 else "server_error"
    return {
        "message": str(error),
        "type": TYPES.get(error.status, usual),
        "param": error.param or PARAMS.get(error.code),
        "code": None if error.code in UNCODED else error.code,
    }


DONE = b"data: [DONE]\n\n"


def dump(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        # Python reads 1e400 in a body as infinity, which JSON cannot express.
        return to_json(value, inf_nan_mode="null").decode()


def sse(data: Any, event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    # A model can write a lone surrogate, which cannot be encoded.
    return f"{name}data: {dump(data)}\n\n".encode("utf-8", "replace")


class Mould:
    """Makes frames that differ in one text only. The rest is encoded once, not for every token."""

    def __init__(self, frame: Callable[[str], bytes]) -> None:
        mark = uuid4().hex
        self._before, self._after = frame(mark).split(f'"{mark}"'.encode())

    def frame(self, text: str) -> bytes:
        return self._before + dump(text).encode("utf-8", "replace") + self._after


def warnings_field(warnings: Sequence[str]) -> Json:
    """Returns the field `warnings`, or no field if there are no warnings."""
    return {"warnings": list(warnings)} if warnings else {}


def step(message: str) -> bytes:
    """Returns an SSE comment that reports a step of a flow. Clients may ignore it."""
    return f": step {' '.join(message.split())}\n\n".encode("utf-8", "replace")


def sum_usage(usages: Sequence[Usage], *, prompts: int = 1) -> Usage:
    """Adds up the usage of several answers.

    Each of the `prompts` counts once, although it has several answers.
    """
    if not usages:
        return Usage()
    share = len(usages) // prompts or 1
    first = usages[::share]
    return Usage(
        sum(usage.prompt_tokens for usage in first),
        sum(usage.cached_tokens for usage in first),
        sum(usage.completion_tokens for usage in usages),
        sum(usage.reasoning_tokens for usage in usages),
    )


def chat_usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def split_choice(event: Event | OfChoice) -> tuple[int, Event]:
    """Returns the index of the choice that an event belongs to, and the event itself."""
    return (event.index, event.event) if isinstance(event, OfChoice) else (0, event)


async def see_all(events: Events, see: Callable[[Event], Iterable[Json]]) -> Failed | None:
    """Passes every event to `see`, up to a failure. Returns the failure, if there is one."""
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            return inner
        for _ in see(inner):
            continue
    return None


def logprob(token: TokenLogprob) -> Json:
    return {**_token(token), "top_logprobs": [_token(other) for other in token.top]}


def _token(token: TokenLogprob) -> Json:
    return {"token": token.text, "logprob": token.logprob, "bytes": list(token.bytes)}
