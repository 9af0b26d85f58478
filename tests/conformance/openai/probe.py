"""The client side of the kit: raw HTTP, the SDK, streams put together, and checks of what came."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import jsonschema
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel, ValidationError

from tests.conformance.verdicts import Failed, need, shorten

Json = dict[str, Any]
M = TypeVar("M", bound=BaseModel)
CHAT = "/chat/completions"
REFUSED = (400, 422)
FORMATS = jsonschema.FormatChecker()


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """None when the body is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def succeeded(self, what: str = "") -> Any:
        need(self.status == 200, f"{what}HTTP {self.status}: {shorten(self.text)}")
        return self.json

    def refused(self, *statuses: int) -> Json:
        """The error in the form of OpenAI's; fails on another status or another form."""
        wanted = statuses or REFUSED
        told = shorten(self.text)
        need(self.status in wanted, f"status {self.status}, wanted one of {wanted}: {told}")
        found = self.json
        error = found.get("error") if isinstance(found, dict) else None
        if not isinstance(error, dict):
            raise Failed(f"the body has no object named error: {told}")
        for key in ("message", "type"):
            need(isinstance(error.get(key), str) and error[key], f"error.{key} is missing")
        return error


@dataclass
class Call:
    id: str
    name: str
    arguments: str


@dataclass
class Choice:
    """One answer of a stream, put together from its deltas as the SDKs do it."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    roles: int = 0
    argument_deltas: int = 0

    def add(self, choice: Json) -> None:
        delta = choice["delta"]
        self.roles += bool(delta.get("role"))
        if delta.get("content"):
            need(self.finish is None, "content came after finish_reason")
            self.text += delta["content"]
        for call in delta.get("tool_calls") or []:
            self._add_call(call)
        if choice.get("finish_reason"):
            need(self.finish is None, "one choice has two finish_reasons")
            self.finish = choice["finish_reason"]

    def _add_call(self, call: Json) -> None:
        function = call.get("function") or {}
        arguments = function.get("arguments") or ""
        self.argument_deltas += bool(arguments)
        if call["index"] < len(self.calls):
            need(not function.get("name"), "a later delta repeats the name; clients join the names")
            self.calls[call["index"]].arguments += arguments
            return
        need(call["index"] == len(self.calls), f"call {call['index']} opened out of order")
        need(call.get("id"), "the first delta of a tool call has no id")
        need(function.get("name"), "the first delta of a tool call has no name")
        self.calls.append(Call(call["id"], function["name"], arguments))


@dataclass
class Streamed:
    choices: dict[int, Choice]
    chunks: list[Json]

    @property
    def first(self) -> Choice:
        return self.choices[0]


class Probe:
    """Everything a case needs: the SDK, raw HTTP, the model's name, and facts found on the way."""

    def __init__(self, base: str, key: str | None, model: str | None, timeout: float) -> None:
        self.key = key
        self.timeout = timeout
        self.sdk = openai.OpenAI(
            base_url=base.rstrip("/"), api_key=key or "none", max_retries=0, timeout=timeout
        )
        self.model = model or self.sdk.models.list().data[0].id
        self.long_words = 60_000
        self.responses_status: int | None = None
        place = urlsplit(base.rstrip("/"))
        self._is_secure = place.scheme == "https"
        self._host, self._port, self._path = place.hostname or "", place.port, place.path

    def open(
        self, method: str, path: str, body: object = None, *, headers: Json | None = None,
        with_key: bool = True, timeout: float | None = None,
    ) -> http.client.HTTPConnection:  # fmt: skip
        """A connection on which the request has been sent."""
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        link = kind(self._host, self._port, timeout=timeout or self.timeout)
        sent = {"Content-Type": "application/json", **(headers or {})}
        if with_key and self.key:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            link.request(method, self._path + path, body=data, headers=sent)
        except OSError:
            link.close()
            raise
        return link

    def send(self, method: str, path: str, body: object = None, **options: Any) -> Reply:
        link = self.open(method, path, body, **options)
        try:
            reply = link.getresponse()
            headers = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, headers, reply.read())
        finally:
            link.close()

    def post(self, path: str, body: object) -> Reply:
        return self.send("POST", path, body)

    def events(self, path: str, body: Json) -> Iterator[tuple[str, str]]:
        """Name and data of each event of a stream, except the closing [DONE]."""
        link = self.open("POST", path, {**body, "stream": True})
        try:
            reply = link.getresponse()
            if reply.status != 200:
                told = shorten(reply.read().decode("utf-8", "replace"))
                raise Failed(f"the stream was answered with {reply.status}: {told}")
            kind = reply.getheader("content-type", "")
            need(kind.startswith("text/event-stream"), f"the content-type of a stream is {kind!r}")
            yield from _events(iter(reply.readline, b""))
        finally:
            link.close()

    def body(self, text: str = "Say hello.", **more: Any) -> Json:
        body: Json = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 48,
            **more,
        }
        return {key: value for key, value in body.items() if value is not None}

    def ask(self, text: str = "Say hello.", **more: Any) -> Reply:
        """One chat completion, whatever is answered."""
        return self.post(CHAT, self.body(text, **more))

    def chat(self, text: str = "Say hello.", **more: Any) -> ChatCompletion:
        """One chat completion that must succeed and fit the SDK's own model."""
        return fit(ChatCompletion, self.ask(text, **more).succeeded())

    def stream(self, text: str = "Say hello.", **more: Any) -> Streamed:
        choices: dict[int, Choice] = {0: Choice()}
        chunks: list[Json] = []
        is_done = False
        for _, data in self.events(CHAT, self.body(text, **more)):
            need(not is_done, "data came after [DONE]")
            if data == "[DONE]":
                is_done = True
                continue
            chunk = json.loads(data)
            need(not chunk.get("error"), f"there is an error in the stream: {shorten(chunk)}")
            fit(ChatCompletionChunk, chunk)
            chunks.append(chunk)
            for choice in chunk["choices"]:
                choices.setdefault(choice["index"], Choice()).add(choice)
        need(is_done, "the stream ended without [DONE]")
        return Streamed(choices, chunks)


def _events(lines: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    name, data = "", list[str]()
    for raw in lines:
        line = raw.rstrip(b"\r\n").decode("utf-8")  # strict: a cut character must be noticed
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
        elif line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").lstrip(" "))


def fit(model: type[M], value: object) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problem = shorten(str(error), 300)
        raise Failed(f"this does not fit the SDK's {model.__name__}: {problem}") from None


def parse(text: str | None, what: str = "the content") -> Any:
    try:
        return json.loads(text or "")
    except ValueError:
        raise Failed(f"{what} is not JSON: {shorten(text)}") from None


def check(schema: Json, value: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    problem = next(validator.iter_errors(value), None)
    if problem is not None:
        place = "/".join(map(str, problem.absolute_path)) or "the root"
        raise Failed(f"not valid at {place}: {shorten(problem.message)} in {shorten(value)}")
