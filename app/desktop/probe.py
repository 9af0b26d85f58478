"""Sends the first request of a client over loopback, as the client would, and says what came."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from app.look.sentences import told
from app.look.translate import tr
from server.chat import Json

NAME = "Moat window"
_PATIENCE = aiohttp.ClientTimeout(total=60, sock_connect=5)
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError)


def _nothing(_told: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Step:
    """One request. `read` says in a sentence what the client finds in the answer."""

    method: str
    path: str
    origin: str = ""
    body: Json | None = None
    read: Callable[[Any], str] = _nothing


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    text: str


class _Wrong(Exception):
    pass


async def first_request(address: str, key: str, steps: Sequence[Step]) -> Outcome:
    began = time.monotonic()
    said = ""
    try:
        async with aiohttp.ClientSession(address, timeout=_PATIENCE) as session:
            for step in steps:
                said = await _take(session, key, step)
    except _Wrong as wrong:
        return Outcome(ok=False, text=str(wrong))
    except (aiohttp.ClientError, TimeoutError):
        text = tr("Nothing answers at {address}. Is Moat running?").format(address=address)
        return Outcome(ok=False, text=text)
    last = steps[-1]
    head = tr("{method} {path} was answered in {ms} ms.").format(
        method=last.method, path=last.path, ms=round((time.monotonic() - began) * 1000)
    )
    return Outcome(ok=True, text=f"{head} {said}")


async def _take(session: aiohttp.ClientSession, key: str, step: Step) -> str:
    is_preflight = step.method == "OPTIONS"
    headers = {"User-Agent": NAME}
    if step.origin:
        headers["Origin"] = step.origin
    if is_preflight:
        headers["Access-Control-Request-Method"] = "GET"
    elif key:
        headers["Authorization"] = f"Bearer {key}"
    async with session.request(step.method, step.path, headers=headers, json=step.body) as response:
        await _check(response, step)
        if is_preflight:
            return ""
        try:
            return step.read(await response.json())
        except (*_UNREADABLE, aiohttp.ContentTypeError):
            text = tr("{path} returned something this client cannot read.")
            raise _Wrong(text.format(path=step.path)) from None


async def _check(response: aiohttp.ClientResponse, step: Step) -> None:
    if response.status == 403 and step.origin:
        text = tr("Pages at {origin} may not connect. Allow this origin below.")
        raise _Wrong(text.format(origin=step.origin))
    if response.status == 401:
        raise _Wrong(tr("The access key is missing or wrong."))
    if not response.ok:
        raise _Wrong(f"{step.method} {step.path}: {await _reason(response)}")
    allowed = response.headers.get("Access-Control-Allow-Origin")
    if step.origin and allowed != step.origin:
        raise _Wrong(tr("The answer does not let {origin} read it.").format(origin=step.origin))


async def _reason(response: aiohttp.ClientResponse) -> str:
    """What the server says, in whichever shape this protocol words its errors."""
    try:
        answer = await response.json()
        found = answer.get("error", answer.get("message", ""))
        sentence = found["message"] if isinstance(found, dict) else str(found)
    except (*_UNREADABLE, aiohttp.ContentTypeError):
        sentence = ""
    return told(sentence) or tr("the server answered with status {status}.").format(
        status=response.status
    )
