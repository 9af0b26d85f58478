"""Secrets in the system's keyring, or in a private file if there is no keyring."""

import asyncio
import hashlib
import logging
import os
import re
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic_core import to_json

from server.errors import AppError
from server.sentences import Sentence
from server.system.files import JsonFile, write_atomically
from server.system.lazy import Late
from server.system.processes import GIVEN_SECRET

SERVICE = "moat"
PROBE = "probe"
PATIENCE_S = 5.0
PART = 600
"""Characters per entry: Windows takes 2,560 bytes, and a character may need four."""
NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9_]")
IN_PARTS = "moat-in-parts:"
"""Prefix of an entry that stands for a longer secret; then the parts' mark and their number."""

T = TypeVar("T")
log = logging.getLogger(__name__)
keyring = Late("keyring")


class KeyringFailed(AppError):
    """The keyring was locked, busy, or waits for the person. Trying again may help."""

    code = "keyring_failed"
    status = 503

    def __init__(self, error: Exception) -> None:
        super().__init__(
            Sentence("The system's keyring does not work just now. Unlock it and try again.")
        )
        # Without the message: a keyring may quote what it was given.
        self.known_details = f"{self.code}\n{type(error).__name__}"


def variable_of(name: str) -> str:
    """Returns the variable that may hold the secret. Similar names have the same one."""
    return GIVEN_SECRET + NOT_IN_A_VARIABLE.sub("_", name.upper())


def given_secret(name: str) -> str:
    # Files with variables may end their lines as Windows does, and no header may hold that.
    return os.environ.get(variable_of(name), "").strip()


class Keychain:
    """The secrets of this Moat. `notice` explains if they are stored unencrypted."""

    def __init__(self, fallback: Path) -> None:
        self._fallback = fallback
        self._entries = Entries(_service())
        self._usable: bool | None = None
        self.notice = ""

    async def get(self, name: str) -> str | None:
        """Returns the secret. A variable MOAT_SECRET_<NAME> wins over the stored one."""
        if given := given_secret(name):
            return given
        if await self._works():
            return await _in_thread(lambda: self._entries.get(name))
        return self._read().get(name)

    async def set(self, name: str, secret: str) -> None:
        if await self._works():
            await _in_thread(lambda: self._entries.set(name, secret))
        else:
            self._write({**self._read(), name: secret})

    async def delete(self, name: str) -> None:
        if await self._works():
            await _in_thread(lambda: self._entries.delete(name))
        else:
            self._write({key: value for key, value in self._read().items() if key != name})

    async def plain_file(self) -> str:
        """Returns the file with the unencrypted secrets; empty if the keyring holds them."""
        return "" if await self._works() else str(self._fallback)

    async def access_key(self) -> str:
        """Returns the key that clients must send. Creates it on first use."""
        key = await self.get("access-key")
        if key is None:
            key = "moat-" + secrets.token_urlsafe(32)
            await self.set("access-key", key)
        return key

    async def _works(self) -> bool:
        if self._usable is None:
            try:
                self._usable = await _in_thread(self._entries.probe)
            except KeyringFailed as error:
                why = type(error.__cause__).__name__
                log.info("The system keyring cannot be used: %s", why)
                self._usable = False
            if not self._usable:
                self.notice = Sentence(
                    "This system has no usable keyring: secrets are stored unencrypted in {0}.",
                    self._fallback.name,
                )
        return self._usable

    def _read(self) -> dict[str, str]:
        found = JsonFile(self._fallback, "Stored secrets", is_precious=True).read()
        return {name: secret for name, secret in found.items() if isinstance(secret, str)}

    def _write(self, found: dict[str, str]) -> None:
        write_atomically(self._fallback, to_json(found, indent=1).decode())


class Entries:
    """Entries in the system's keyring. A secret that is too long for one is split into several."""

    def __init__(self, service: str) -> None:
        self._service = service

    def get(self, name: str) -> str | None:
        held = self._held(name)
        while held is not None and held.startswith(IN_PARTS):
            parts = [self._held(part) for part in _parts(name, held)]
            if None not in parts:
                return "".join(part for part in parts if part)
            # Perhaps another secret replaced it while the parts were read.
            before, held = held, self._held(name)
            if held == before:
                return None
        return held

    def set(self, name: str, secret: str) -> None:
        """Stores a secret. The old one stays until the new one is complete."""
        before, held = self._held(name), secret
        if len(secret) > PART or secret.startswith(IN_PARTS):
            pieces = [secret[at : at + PART] for at in range(0, len(secret), PART)]
            held = f"{IN_PARTS}{secrets.token_hex(4)}:{len(pieces)}"
            for part, piece in zip(_parts(name, held), pieces, strict=True):
                keyring.set_password(self._service, part, piece)
        keyring.set_password(self._service, name, held)
        self._drop(_parts(name, before))

    def delete(self, name: str) -> None:
        held = self._held(name)
        self._drop([*_parts(name, held), name])

    def probe(self) -> bool:
        value = secrets.token_hex(8)
        self.set(PROBE, value)
        same = self.get(PROBE) == value
        self.delete(PROBE)
        return same

    def _held(self, name: str) -> str | None:
        held: str | None = keyring.get_password(self._service, name)
        return held

    def _drop(self, names: list[str]) -> None:
        for name in names:
            if self._held(name) is not None:
                keyring.delete_password(self._service, name)


def _parts(name: str, held: str | None) -> list[str]:
    """Returns the entries that hold the parts of a secret; empty if it is in one entry."""
    mark, _, count = (held or "").removeprefix(IN_PARTS).partition(":")
    if not (held or "").startswith(IN_PARTS) or not count.isdecimal():
        return []
    return [f"{name}#{mark}.{number}" for number in range(1, int(count) + 1)]


def _service() -> str:
    """Returns the service's name. A Moat with its own home has its own secrets."""
    home = os.environ.get("MOAT_HOME")
    if not home:
        return SERVICE
    place = str(Path(home).expanduser().resolve())
    return f"{SERVICE}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"


async def _in_thread(work: Callable[[], T]) -> T:
    """Runs keyring work in a daemon thread: it may block on a prompt, but never delays quitting.

    All errors become KeyringFailed, because every system's keyring raises its own.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            outcome: tuple[T | None, BaseException | None] = (work(), None)
        except Exception as error:  # noqa: BLE001 - handed to the awaiting coroutine
            outcome = (None, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, name="keyring", daemon=True).start()
    try:
        return await asyncio.wait_for(done, PATIENCE_S)
    except Exception as error:
        raise KeyringFailed(error) from error
