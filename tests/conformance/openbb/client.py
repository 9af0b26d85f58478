"""HTTP as the browser does it, and its answer read as a strict stream of events."""

import http.client
import json
import re
import ssl
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.conformance.verdicts import Failed, need, shorten

Json = dict[str, Any]
UNBROKEN = (("\u2028", "U+2028"), ("\u2029", "U+2029"))
FIELDS = ("event", "data", "id", "retry")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    first_s: float
    """Seconds until the first byte of the body."""

    def header(self, name: str) -> str:
        found = (value for key, value in self.headers if key.lower() == name.lower())
        return next(found, "")

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Options:
    """What the command line tells."""

    base: str
    origin: str
    headers: dict[str, str]
    timeout: float
    hops: int
    huge_mb: int
    allow_no_call: bool


class Client:
    def __init__(self, options: Options) -> None:
        self.base = options.base.rstrip("/")
        self.options = options

    def absolute(self, endpoint: str) -> str:
        """Joins as the web client does: it writes one text behind the other."""
        if endpoint.startswith("http"):
            return endpoint
        return re.sub(r"(?<!:)/{2,}", "/", f"{self.base}/{endpoint}")

    def send(
        self, method: str, endpoint: str, body: bytes | None = None, *,
        headers: Json | None = None, timeout: float | None = None, leave_early: bool = False,
    ) -> Reply:  # fmt: skip
        place = urlsplit(self.absolute(endpoint))
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        link = self._connect(place.scheme, place.netloc, timeout or self.options.timeout)
        sent = {"Origin": self.options.origin, "Accept": "*/*"}
        sent |= self.options.headers | (headers or {})
        began = time.monotonic()
        try:
            link.request(method, path, body=body, headers=sent)
            answer = link.getresponse()
            first, first_s = answer.read1(65536), time.monotonic() - began
            rest = b"" if leave_early else answer.read()
            return Reply(answer.status, answer.getheaders(), first + rest, first_s)
        finally:
            link.close()

    def post(self, endpoint: str, payload: object, **options: Any) -> Reply:
        trace = options.pop("trace", None) or str(uuid.uuid4())
        headers = {"Content-Type": "application/json", "X-Trace-Id": trace}
        headers |= options.pop("headers", None) or {}
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.send("POST", endpoint, body, headers=headers, **options)

    def _connect(self, scheme: str, place: str, timeout: float) -> http.client.HTTPConnection:
        if scheme != "https":
            return http.client.HTTPConnection(place, timeout=timeout)
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE  # a certificate of its own is usual on localhost
        return http.client.HTTPSConnection(place, timeout=timeout, context=trusting)


@dataclass(frozen=True)
class Event:
    name: str
    data: Json


def read_events(raw: bytes) -> list[Event]:
    """All events; fails on what a strict reader, or the web client's own, could stumble over."""
    need(raw, "the body is empty: not one event came")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Failed(f"the stream is not UTF-8: {error}") from None
    for character, name in UNBROKEN:
        need(character not in text, f"raw {name}: the web client ends the line there; escape it")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    need(text.endswith("\n\n"), "no blank line closes the last event: the web client drops it")
    events = [event for block in text.split("\n\n") for event in _read_block(block)]
    need(events, "there is no event in the stream")
    return events


def _read_block(block: str) -> Iterator[Event]:
    fields: dict[str, list[str]] = {name: [] for name in FIELDS}
    for line in block.split("\n"):
        if not line or line.startswith(":"):
            continue
        name, colon, value = line.partition(":")
        need(colon and name in FIELDS, f"this line is no field of an event: {shorten(line)}")
        fields[name].append(value.removeprefix(" "))
    names, data = fields["event"], fields["data"]
    if not names and not data:
        return
    need(data, f"an event has no data: {shorten(block)}")
    need(len(names) == 1, f"an event has {len(names)} names: {shorten(block)}")
    yield Event(names[0].strip(), _read_data(names[0], "\n".join(data)))


def _read_data(name: str, text: str) -> Json:
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Failed(f"the data of {name} is not JSON ({error}): {shorten(text)}") from None
    if not isinstance(data, dict):
        raise Failed(f"the data of {name} is no object: {shorten(text)}")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
