"""The chat page's side of the public API: a client of our own server like any other."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import aiohttp

from server.chat import Json, Message
from server.errors import AppError, LinkLost
from server.events import Finished, ReasoningDelta, TextDelta, Usage

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5)
_LONGEST_LINE = 2**20
_NAME = "Moat window"

Heard = TextDelta | ReasoningDelta | Finished


async def ask(address: str, key: str, messages: Sequence[Message]) -> AsyncGenerator[Heard, None]:
    """Stream the answer of /v1/chat/completions; a failure is an AppError with its sentence."""
    headers = {"User-Agent": _NAME}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    body = {
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, read_bufsize=_LONGEST_LINE) as session,
            session.post(f"{address}/v1/chat/completions", json=body, headers=headers) as response,
        ):
            await _check(response)
            async for heard in _listen(response):
                yield heard
    except aiohttp.ClientError as error:
        raise LinkLost from error


async def _check(response: aiohttp.ClientResponse) -> None:
    if response.ok:
        return
    try:
        raise _failure(await response.json())
    except ValueError as error:
        raise AppError(f"The server answered with status {response.status}.") from error


async def _listen(response: aiohttp.ClientResponse) -> AsyncIterator[Heard]:
    reason = None
    usage = Usage()
    async for line in response.content:
        if not line.startswith(b"data:") or line[5:].strip() == b"[DONE]":
            continue
        chunk = json.loads(line[5:])
        if "error" in chunk:
            raise _failure(chunk)
        usage = _usage(chunk) or usage
        for choice in chunk["choices"]:
            delta = choice["delta"]
            reason = choice.get("finish_reason") or reason
            if thought := delta.get("reasoning_content"):
                yield ReasoningDelta(thought)
            if text := delta.get("content"):
                yield TextDelta(text)
    if reason is None:
        raise AppError("The answer broke off before its end.")
    yield Finished(reason, usage)


def _usage(chunk: Json) -> Usage | None:
    told = chunk.get("usage")
    if not told:
        return None
    return Usage(told["prompt_tokens"], completion_tokens=told["completion_tokens"])


def _failure(body: Any) -> AppError:
    """OpenAI's error object."""
    failure = AppError(body["error"]["message"])
    failure.code = body["error"].get("code") or failure.code
    return failure
