"""Secrets in the system's keyring; where there is none, in a file of the user's own, announced."""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic_core import from_json, to_json

from server.files import write_atomically
from server.late import Late

SERVICE = "moat"
PROBE = "probe"
PATIENCE_S = 5.0
UNENCRYPTED = "This system has no usable keyring: secrets are stored unencrypted in {path}."

T = TypeVar("T")
log = logging.getLogger(__name__)
keyring = Late("keyring")
failures = Late("keyring.errors")


class Keychain:
    def __init__(self, fallback: Path) -> None:
        self._fallback = fallback
        self._usable: bool | None = None
        self.notice = ""

    async def get(self, name: str) -> str | None:
        """The secret; a variable MOAT_SECRET_NAME stands before what is stored."""
        given = os.environ.get("MOAT_SECRET_" + name.upper().replace("-", "_"))
        if given:
            return given
        if await self._works():
            stored: str | None = await _in_thread(lambda: keyring.get_password(SERVICE, name))
            return stored
        return self._read().get(name)

    async def set(self, name: str, secret: str) -> None:
        if await self._works():
            await _in_thread(lambda: keyring.set_password(SERVICE, name, secret))
        else:
            self._write({**self._read(), name: secret})

    async def delete(self, name: str) -> None:
        if await self._works():
            await _in_thread(lambda: _delete(name))
        else:
            self._write({key: value for key, value in self._read().items() if key != name})

    async def access_key(self) -> str:
        """The key clients must send; made on first use."""
        key = await self.get("access-key")
        if key is None:
            key = "moat-" + secrets.token_urlsafe(32)
            await self.set("access-key", key)
        return key

    async def _works(self) -> bool:
        if self._usable is None:
            try:
                self._usable = await _in_thread(_probe)
            except (failures.KeyringError, OSError, RuntimeError, TimeoutError) as error:
                log.info("The system keyring cannot be used: %s", type(error).__name__)
                self._usable = False
            if not self._usable:
                self.notice = UNENCRYPTED.format(path=self._fallback.name)
        return self._usable

    def _read(self) -> dict[str, str]:
        try:
            found = from_json(self._fallback.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            log.warning("The file of secrets cannot be read; starting a new one")
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, found: dict[str, str]) -> None:
        write_atomically(self._fallback, to_json(found, indent=1).decode())


def _probe() -> bool:
    value = secrets.token_hex(8)
    keyring.set_password(SERVICE, PROBE, value)
    same: bool = keyring.get_password(SERVICE, PROBE) == value
    _delete(PROBE)
    return same


def _delete(name: str) -> None:
    if keyring.get_password(SERVICE, name) is not None:
        keyring.delete_password(SERVICE, name)


async def _in_thread(work: Callable[[], T]) -> T:
    """A keyring may block on a prompt: a daemon thread, so that it never delays quitting."""
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
    return await asyncio.wait_for(done, PATIENCE_S)
