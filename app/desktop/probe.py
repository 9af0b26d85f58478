"""Tests a client's first requests as the client would send them, and shows when one connects."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import aiohttp
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.look.controls import Label, breakable, reveal, row, shortened
from app.look.icons import Picture
from app.look.translate import told, tr
from server.chat import Json
from server.face.core import AnsweredRequest, Face, Knock, RunningRequest
from server.settings import OPENBB_ORIGINS

NAME = "Moat window"
"""The User-Agent of the window's own requests."""
_PATIENCE = aiohttp.ClientTimeout(total=60, sock_connect=5)
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError)


@dataclass(frozen=True, slots=True)
class Step:
    """A request. `read` returns a sentence about what the client finds in the answer."""

    method: str
    path: str
    origin: str = ""
    body: Json | None = None
    read: Callable[[Any], str] = lambda _answer: ""


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    text: str


class _Wrong(Exception):
    pass


Recall = Callable[[str], Awaitable[str]]


async def _keep(text: str) -> str:
    return text


async def first_request(
    address: str, key: str, steps: Sequence[Step], recall: Recall = _keep
) -> Outcome:
    """Makes the requests. `recall` returns the sentence for a server's plain text."""
    began = time.monotonic()
    said = ""
    try:
        async with aiohttp.ClientSession(address, timeout=_PATIENCE) as session:
            for step in steps:
                said = await _take(session, key, step, recall)
    except _Wrong as wrong:
        return Outcome(ok=False, text=str(wrong))
    except (aiohttp.ClientError, TimeoutError):
        text = tr("No response from {address}. Is Moat running?").format(address=address)
        return Outcome(ok=False, text=text)
    last = steps[-1]
    head = tr("{method} {path} was answered in {ms} ms.").format(
        method=last.method, path=last.path, ms=round((time.monotonic() - began) * 1000)
    )
    return Outcome(ok=True, text=f"{head} {said}")


async def _take(session: aiohttp.ClientSession, key: str, step: Step, recall: Recall) -> str:
    is_preflight = step.method == "OPTIONS"
    headers = {"User-Agent": NAME}
    if step.origin:
        headers["Origin"] = step.origin
    if is_preflight:
        headers["Access-Control-Request-Method"] = "GET"
    elif key:
        headers["Authorization"] = f"Bearer {key}"
    async with session.request(step.method, step.path, headers=headers, json=step.body) as response:
        await _check(response, step, recall)
        if is_preflight:
            return ""
        try:
            return step.read(await response.json())
        except (*_UNREADABLE, aiohttp.ContentTypeError):
            text = tr("{path} returned something this client cannot read.")
            raise _Wrong(text.format(path=step.path)) from None


async def _check(response: aiohttp.ClientResponse, step: Step, recall: Recall) -> None:
    if response.status == 403 and step.origin:
        text = tr("Pages at {origin} may not connect. Allow this origin below.")
        raise _Wrong(text.format(origin=step.origin))
    if response.status == 401:
        raise _Wrong(tr("The access key is missing or wrong."))
    if not response.ok:
        raise _Wrong(f"{step.method} {step.path}: {await _reason(response, recall)}")
    allowed = response.headers.get("Access-Control-Allow-Origin")
    if step.origin and allowed != step.origin:
        raise _Wrong(tr("The answer does not let {origin} read it.").format(origin=step.origin))


async def _reason(response: aiohttp.ClientResponse, recall: Recall) -> str:
    """Returns the server's error message, in whichever form the protocol has."""
    try:
        answer = await response.json()
        found = answer.get("error", answer.get("message", ""))
        sentence = found["message"] if isinstance(found, dict) else str(found)
    except (*_UNREADABLE, aiohttp.ContentTypeError):
        sentence = ""
    return told(await recall(sentence)) or tr("the server answered with status {status}.").format(
        status=response.status
    )


State = Literal["nothing", "blocked", "no key", "reached", "asking", "failed", "answered"]
OURS = frozenset({NAME, "moat chat"})
"""The clients that are part of Moat: the window's chat and tests, and the terminal's chat."""
GOOD = frozenset({"stop", "length", "tool_calls"})
"""The outcomes of a request that was answered."""
_PICTURES: dict[State, tuple[str, str]] = {
    "nothing": ("info", "muted"),
    "blocked": ("warning", "warn"),
    "no key": ("warning", "warn"),
    "reached": ("info", "accent"),
    "asking": ("info", "accent"),
    "failed": ("warning", "warn"),
    "answered": ("check", "good"),
}


@dataclass(frozen=True, slots=True)
class Talk:
    """The progress of a program that connects, and its name."""

    state: State = "nothing"
    who: str = ""
    path: str = ""
    """The path of its last request, if it is known."""


def find_talk(
    knocks: Iterable[Knock],
    requests: Iterable[RunningRequest],
    answered: Iterable[AnsweredRequest],
) -> Talk:
    """Returns the furthest that any program has come: an answer, a question, or a connection."""
    # A request that was answered at once, such as /health, was not a question.
    ended = [one for one in answered if one.client not in OURS and one.took_s]
    if good := next((one for one in ended if one.outcome in GOOD), None):
        return Talk("answered", name_of(good.client), good.route)
    if asking := next((one for one in requests if one.client not in OURS), None):
        return Talk("asking", name_of(asking.client), asking.route)
    if ended:
        return Talk("failed", name_of(ended[-1].client), ended[-1].route)
    came = sorted((one for one in knocks if one.client != NAME), key=lambda knock: knock.at)
    if not came:
        return Talk()
    last = came[-1]
    states: dict[str, State] = {"origin": "blocked", "key": "no key", "let in": "reached"}
    return Talk(states[last.outcome], name_of(last.origin or last.client), last.path)


def name_of(client: str) -> str:
    """Returns the name that people know the client by."""
    if client in OPENBB_ORIGINS:
        return "OpenBB Workspace"
    return breakable(shortened(client)) or tr("A program")


def words_of(talk: Talk) -> str:
    words = {
        "nothing": tr("Waiting for a program… No request so far."),
        "blocked": tr("{who} tried to connect and was blocked. Allow it on the Connect page."),
        "no key": tr("{who} tried to connect without the access key. Copy it on the Connect page."),
        "reached": tr("{who} found Moat (it asked for {path}). Now ask it a question there."),
        "asking": tr("{who} asked a question. The model is answering…"),
        "failed": tr("{who} asked a question, but it failed. The Activity page says why."),
        "answered": tr("It works: {who} asked a question and has its answer."),
    }[talk.state]
    return words.format(who=talk.who, path=talk.path or "/")


class FirstClient(QWidget):
    """Shows how far the first program has come. `came` is emitted at its first answer.

    Once a program has been answered, the state does not change.
    """

    came = Signal()

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core
        self.talk = Talk()
        self.picture = Picture("info", theme.ICON, "muted")
        self.words = Label("", "small", wrap=True)
        self.setLayout(row(self.picture, self.words, grows=self.words))
        ends = [
            core.knocks.connect(self._look),
            core.requests.connect(self._look),
            core.answered.connect(self._look),
            core.server.connect(self._look),
        ]
        self.destroyed.connect(lambda: [end() for end in ends])

    def _look(self, _: object) -> None:
        core = self._core
        if self.talk.state != "answered":
            self.talk = find_talk(core.knocks.get(), core.requests.get(), core.answered.get())
            if self.talk.state == "answered":
                self.came.emit()
        icon, colour = _PICTURES[self.talk.state]
        self.picture.show_picture(icon, colour)
        self.words.setText(words_of(self.talk))
        self.words.set_role("good" if self.talk.state == "answered" else "small")
        # Nobody can come while there is no address.
        reveal(self, shown=self.talk.state != "nothing" or bool(core.server.get().address))
