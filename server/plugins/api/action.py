"""Calls an operation of an API: composes its request, shows it, and sends it."""

import asyncio
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from server.chat import Json
from server.egress import Egress, read_up_to
from server.errors import EgressRefused, FlowFailed
from server.flows.base import Output, Preview, Risk
from server.plugins.api.operations import FORM_BODY, JSON_BODY, Operation, Parameter
from server.plugins.manifest import Auth
from server.plugins.secrets import Sealed, SecretMissing
from server.plugins.sign_in import SignIn, SignInFailed
from server.schemas.fill import is_file
from server.sentences import Sentence
from server.system.logs import HIDDEN

Pairs = list[tuple[str, str]]


@dataclass(slots=True)
class Outgoing:
    method: str
    url: str
    query: Pairs = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    media: str = ""
    fields: Any = None
    """The body's values, before they are encoded."""
    files: tuple[str, ...] = ()
    """The fields that name a file, whose content is sent instead."""
    held: dict[str, bytes] = field(default_factory=dict)
    """The content of each file, by name, once it was read."""

    @property
    def address(self) -> str:
        return f"{self.url}?{_encode(self.query)}" if self.query else self.url

    def body(self) -> bytes | None:
        if not self.media:
            return None
        if self.media == JSON_BODY:
            return _bytes(json.dumps(self.fields, ensure_ascii=False))
        pairs = _form(self.fields if isinstance(self.fields, dict) else {"body": self.fields})
        if self.media == FORM_BODY:
            return _encode(pairs).encode()
        boundary = secrets.token_hex(16)
        self.headers["Content-Type"] = f"{self.media}; boundary={boundary}"
        return b"".join([*self._parts(pairs, boundary), f"--{boundary}--\r\n".encode()])

    def _parts(self, pairs: Pairs, boundary: str) -> list[bytes]:
        parts = []
        for name, value in pairs:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quote(name)}"'
            content = _bytes(value)
            if name in self.files:
                head += f'; filename="{_quote(value)}"\r\nContent-Type: application/octet-stream'
                content = self.held[value]
            parts.append(_bytes(f"{head}\r\n\r\n") + content + b"\r\n")
        return parts


def compose(server: str, operation: Operation, arguments: Json) -> Outgoing:
    path, used, parts = operation.path, set(), operation.parts
    outgoing = Outgoing(operation.method, "")
    for parameter in parts.parameters:
        used.add(parameter.slot)
        if parameter.slot not in arguments:
            continue
        value = arguments[parameter.slot]
        if parameter.place == "path":
            text = quote(_simple(value), safe="", errors="replace")
            if text in ("", ".", ".."):
                raise FlowFailed(
                    "slot_invalid", Sentence("'{0}' cannot be '{1}'.", parameter.name, text)
                )
            path = path.replace(f"{{{parameter.name}}}", text)
        elif parameter.place == "query":
            outgoing.query += _query(parameter, value)
        elif parameter.place == "header":
            outgoing.headers[parameter.name] = _one_line(_simple(value))
        else:
            # After a semicolon, the server would read another cookie.
            outgoing.cookies[parameter.name] = _one_line(_simple(value)).replace(";", "%3B")
    outgoing.url = server + path
    if parts.body is not None:
        outgoing.media = parts.body.media
        if parts.body.media in (JSON_BODY, FORM_BODY):
            outgoing.headers["Content-Type"] = parts.body.media
        rest = {name: value for name, value in arguments.items() if name not in used}
        outgoing.fields = rest if parts.body.is_object else rest.get("body")
        taken = parts.schema.get("properties", {})
        outgoing.files = tuple(name for name in rest if is_file(taken.get(name, {})))
    return outgoing


def _query(parameter: Parameter, value: Any) -> Pairs:
    name = parameter.name
    if isinstance(value, list):
        if parameter.explode and parameter.style == "form":
            return [(name, _text(item)) for item in value]
        joint = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(parameter.style, ",")
        return [(name, joint.join(_text(item) for item in value))]
    if isinstance(value, dict):
        if parameter.style == "deepObject":
            return [(f"{name}[{key}]", _text(item)) for key, item in value.items()]
        if parameter.explode:
            return [(key, _text(item)) for key, item in value.items()]
    return [(name, _simple(value))]


def _form(fields: Json) -> Pairs:
    pairs: Pairs = []
    for name, value in fields.items():
        many = value if isinstance(value, list) else [value]
        pairs += [(name, _text(item)) for item in many]
    return pairs


def _quote(text: str) -> str:
    return _one_line(text).replace('"', "%22")


def _simple(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(item) for item in value)
    if isinstance(value, dict):
        return ",".join(f"{key},{_text(item)}" for key, item in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    if "\r" in text or "\n" in text or "\0" in text:
        raise FlowFailed("slot_invalid", Sentence("A header or cookie cannot have line breaks."))
    return _bytes(text).decode()


def _bytes(text: str) -> bytes:
    """Encodes a text. A model can write lone surrogates, which become question marks."""
    return text.encode("utf-8", "replace")


def _encode(pairs: Pairs) -> str:
    return urlencode(pairs, errors="replace")


MAX_ANSWER = 1024 * 1024
EXCERPT = 2048
TRIES = (0.5, 2.0)
"""Seconds to wait before the second and the third try. Only GET is repeated."""
TRY_AGAIN = frozenset({429, 502, 503, 504})
LONGEST_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Reaching:
    """The way out for a plugin's calls: the egress, the reason, the API's address, the sign-in."""

    door: Egress
    reason: str
    server: str
    sealed: Sealed
    auth: Auth | None = None
    sign_in: SignIn | None = None


@dataclass(frozen=True, slots=True)
class ApiAction:
    operation: Operation
    reaching: Reaching

    @property
    def key(self) -> str:
        return self.operation.key

    @property
    def description(self) -> str:
        return self.operation.description

    @property
    def schema(self) -> Json:
        return self.operation.parts.schema

    @property
    def risk(self) -> Risk:
        return self.operation.risk

    @property
    def fingerprint(self) -> str:
        parts = [self.reaching.server, self.key, self.schema, self.risk]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def preview(self, arguments: Json) -> Preview:
        outgoing = compose(self.reaching.server, self.operation, arguments)
        headers = dict(outgoing.headers)
        auth = self.reaching.auth
        if auth is not None:
            # Hide it even if it is no `${secret:…}`: a literal value may be secret too.
            headers |= {f"{name} ({auth.place})": HIDDEN for name in auth.args}
        title = f"{outgoing.method} {outgoing.address}"
        return Preview(title, self.reaching.server, headers, outgoing.fields)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:
        if not self.reaching.server:
            raise FlowFailed("http_connect", Sentence("The plugin does not say where its API is."))
        outgoing = compose(self.reaching.server, self.operation, arguments)
        outgoing.held = await asyncio.to_thread(
            _read_files, outgoing, surroundings.get("paths", {})
        )
        try:
            await self._sign(outgoing)
        except (SecretMissing, SignInFailed, EgressRefused) as error:
            raise FlowFailed("denied", str(error)) from None
        pauses = TRIES if self.operation.method == "GET" else ()
        for pause in (*pauses, None):
            try:
                return await self._send(outgoing, timeout_s)
            except _Again as again:
                if pause is None:
                    raise again.error from None
                await asyncio.sleep(max(pause, again.wait_s))
        raise AssertionError("the last round returns or raises")

    async def _sign(self, outgoing: Outgoing) -> None:
        auth = self.reaching.auth
        if auth is None:
            return
        if self.reaching.sign_in is not None:
            await self.reaching.sign_in.renew()
        args = await self.reaching.sealed.opened_all(auth.args)
        if auth.place == "query":
            outgoing.query += list(args.items())
        elif auth.place == "header":
            outgoing.headers |= args
        else:
            outgoing.cookies |= args

    async def _send(self, outgoing: Outgoing, timeout_s: float) -> Output:
        body = outgoing.body()
        headers = dict(outgoing.headers)
        if outgoing.cookies:
            headers["Cookie"] = "; ".join(
                f"{key}={value}" for key, value in outgoing.cookies.items()
            )
        door = self.reaching.door
        try:
            async with door.request(
                outgoing.method, outgoing.address, self.reaching.reason,
                headers=headers, data=body, stall_s=timeout_s,
            ) as response:  # fmt: skip
                raw = await _read_limited(response)
                kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
                return self._read(response.status, kind, raw, response.headers)
        except EgressRefused as error:
            raise FlowFailed("http_connect", str(error)) from None
        except TimeoutError:
            raise FlowFailed("timeout", Sentence("{0}: no answer in time.", self.key)) from None
        except door.failures as error:
            detail = self.reaching.sealed.clean(str(error)) or type(error).__name__
            failed = FlowFailed(
                "http_connect", Sentence("{0} could not be reached: {1}.", self.key, detail)
            )
            raise _Again(failed) from None

    def _read(self, status: int, kind: str, raw: bytes, headers: Any) -> Output:
        text = self.reaching.sealed.clean(raw.decode("utf-8", "replace"))
        if not 200 <= status < 300:
            detail = {"status": status, "body": text[:EXCERPT]}
            message = Sentence("{0} answered with status {1}.", self.key, status)
            if status in (401, 403) and self.reaching.auth is not None:
                message = Sentence(
                    "{0} answered with status {1}. Check the secrets of this plugin under Plugins.",
                    self.key,
                    status,
                )
            error = FlowFailed("http_status", message, detail)
            if status in TRY_AGAIN and self.operation.method == "GET":
                raise _Again(error, _wait(headers.get("Retry-After")))
            raise error
        if not text.strip():
            return Output("", f"HTTP {status}, empty")
        if kind == "application/json" or kind.endswith("+json"):
            return self._parse(status, text)
        if kind.startswith("text/") or not kind:
            return Output(text, f"HTTP {status}, {len(raw)} bytes")
        raise FlowFailed(
            "http_status", Sentence("{0} answered with '{1}', which is not read.", self.key, kind)
        )

    def _parse(self, status: int, text: str) -> Output:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise FlowFailed(
                "http_status", Sentence("The answer says it is JSON, but it is not.")
            ) from None
        count = f"{len(data)} items" if isinstance(data, list) else f"{len(text)} characters"
        # Clean the values again: JSON may have escaped characters of a secret.
        return Output(self.reaching.sealed.clean_all(data), f"HTTP {status}, {count}")


class _Again(Exception):
    def __init__(self, error: FlowFailed, wait_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait_s = wait_s


async def _read_limited(response: Any) -> bytes:
    raw = await read_up_to(response, MAX_ANSWER + 1)
    if len(raw) > MAX_ANSWER:
        raise FlowFailed(
            "too_large", Sentence("The answer is larger than {0} KB.", MAX_ANSWER // 1024)
        )
    return raw


def _read_files(outgoing: Outgoing, paths: dict[str, str]) -> dict[str, bytes]:
    """Reads the files to send. Only files that the person picked for this run are allowed."""
    fields = outgoing.fields if isinstance(outgoing.fields, dict) else {"body": outgoing.fields}
    given = [fields[slot] for slot in outgoing.files]
    # A field may hold several files.
    names = [
        str(name) for value in given for name in (value if isinstance(value, list) else [value])
    ]
    found = {}
    for name in names:
        if name not in paths:
            raise FlowFailed("slot_missing", Sentence("No file was chosen for '{0}'.", name))
        try:
            found[name] = Path(paths[name]).read_bytes()
        except OSError as error:
            message = Sentence("{0} could not be read: {1}.", name, error.strerror)
            raise FlowFailed("slot_invalid", message) from None
    return found


def _wait(given: str | None) -> float:
    try:
        return min(max(float(given or 0), 0.0), LONGEST_PAUSE_S)
    except ValueError:
        return 0.0
