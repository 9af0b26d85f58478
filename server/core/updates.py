"""Checks for a newer Moat, only if the user wants it. Only signed announcements count.

Nothing is downloaded and nothing is run. A notice informs the user, who decides.
"""

import asyncio
import base64
import binascii
import contextlib
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from server import VERSION
from server.egress import Egress, is_address, read_up_to
from server.errors import AppError, EgressRefused
from server.face.core import Update
from server.observe import Value
from server.sentences import Sentence
from server.settings import UpdateSettings
from server.system.files import JsonFile
from server.system.lazy import Late

log = logging.getLogger(__name__)
T = TypeVar("T", bound=BaseModel)
NAME = "last_look.json"


class LastLook(BaseModel):
    """The last check for updates, as it is kept on disk."""

    due_at: float = 0.0
    """When the next check is due, in seconds since the epoch."""
    address: str = ""
    key: str = ""
    """The settings at that time. If they change, look again at once."""
    answered_at: float = 0.0
    answer: str = ""
    """The signed answer. Its signature is verified again when it is read."""


def _read_last(file: JsonFile) -> LastLook:
    try:
        return LastLook.model_validate(file.read())
    except ValidationError:
        return LastLook()


exceptions = Late("cryptography.exceptions")
ed25519 = Late("cryptography.hazmat.primitives.asymmetric.ed25519")


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the holder of the private key signed exactly this message (Ed25519)."""
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (exceptions.InvalidSignature, ValueError):
        return False
    return True


REASON = Sentence("check for updates")
PREFIX = b"moat-announcement-1\n"
"""Part of every signed message, so that a signature for another purpose is not valid here."""
SOURCE = Path(__file__).resolve().parents[2] / "resources" / "updates.json"
"""Written into a package by its makers: the address of announcements and their public key."""
LARGEST_BYTES = 256 * 1024
EVERY_S = 24 * 3600.0
AGAIN_S = 3600.0
"""Seconds after a check without an answer. A machine that just woke may have no network yet."""
AFTER_START_S = 60.0
"""Seconds from the start to the first check."""
TICK_S = 60.0
PATIENCE_S = 30.0


class UpdateFailed(AppError):
    code = "update_check_failed"


class Unreached(UpdateFailed):
    """No answer came, perhaps because a machine that just woke has no network yet."""


class UpdateSource(BaseModel):
    address: str = ""
    key: str = ""


class Announcement(BaseModel):
    """The announcement of Moat's newest version by its makers."""

    model_config = ConfigDict(extra="ignore")

    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    page: str = Field(default="", pattern=r"^(https://\S+)?$", max_length=500)
    notes: str = Field(default="", max_length=20_000)
    files: dict[str, str] = Field(default_factory=dict)
    """The SHA-256 of each file, for people who want to compare."""


class SignedDocument(BaseModel):
    announcement: str
    signature: str


class Updates:
    """The daily check for updates. `found` holds the last announcement."""

    def __init__(
        self,
        door: Egress,
        settings: Callable[[], UpdateSettings],
        folder: Path,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._door = door
        self._settings = settings
        self._file = JsonFile(folder / NAME, "The looks for updates")
        self._last = _read_last(self._file)
        self._now = now
        self.found: Value[Update] = Value(Update())

    async def watch(self) -> None:
        """Checks once a day while the user wants it, by the wall clock, which goes on in sleep."""
        await asyncio.sleep(AFTER_START_S)
        self.recall()
        while True:
            await self.look_if_due()
            await asyncio.sleep(TICK_S)

    def recall(self) -> None:
        """Shows again what was announced before this start."""
        if self._settings().look and self._last.answer and not self.found.get().checked_at:
            with contextlib.suppress(AppError):
                body = self._last.answer.encode()
                source = find_source(self._settings())
                self._tell(read(body, source.key), self._last.answered_at)

    async def look_if_due(self) -> None:
        if self._settings().look and self._is_due():
            try:
                await self.check()
            except AppError as failure:
                log.warning("%s", failure)

    async def check(self) -> None:
        chosen = self._settings()
        if not chosen.look:
            raise UpdateFailed(
                Sentence("Checking for updates is turned off. Turn it on in Settings → Updates.")
            )
        now = self._now()
        self._keep(due_at=now + EVERY_S, address=chosen.address, key=chosen.key)
        source = find_source(chosen)
        try:
            body = await fetch(self._door, source.address, REASON)
        except (EgressRefused, Unreached):
            self._keep(due_at=self._now() + AGAIN_S)
            raise
        announced = read(body, source.key)
        self._keep(answered_at=now, answer=body.decode())
        self._tell(announced, now)

    def _is_due(self) -> bool:
        chosen, last = self._settings(), self._last
        if (chosen.address, chosen.key) != (last.address, last.key):
            return True
        # If it is more than a day away, the clock was set back.
        return not 0 < last.due_at - self._now() <= EVERY_S

    def _keep(self, **facts: float | str) -> None:
        self._last = self._last.model_copy(update=facts)
        self._file.write(self._last.model_dump())

    def _tell(self, announced: Announcement, looked_at: float) -> None:
        newer = _numbers(announced.version) > _numbers(VERSION)
        version = announced.version if newer else ""
        self.found.set(Update(looked_at, version, announced.page, announced.notes))


def find_source(chosen: UpdateSettings) -> UpdateSource:
    """Returns the address and the key of the settings, or else those of this package."""
    shipped = (
        UpdateSource.model_validate_json(SOURCE.read_bytes())
        if SOURCE.is_file()
        else UpdateSource()
    )
    source = UpdateSource(address=chosen.address or shipped.address, key=chosen.key or shipped.key)
    if not (source.address.startswith("https://") and source.key):
        raise UpdateFailed(
            Sentence(
                "No update feed is set. Enter an https address and a key in Settings → Updates."
            )
        )
    return source


async def fetch(door: Egress, address: str, reason: str) -> bytes:
    """Fetches a small document. The host is allowed only for the duration of the request."""
    if not is_address(address):
        raise UpdateFailed(Sentence("The update information could not be loaded: {0}.", address))
    door.forget(reason)
    try:
        door.allow(address, reason)
        async with door.request("GET", address, reason, stall_s=PATIENCE_S) as reply:
            if reply.status != 200:
                raise UpdateFailed(
                    Sentence("The update information could not be loaded: {0}.", reply.status)
                )
            body = await read_up_to(reply, LARGEST_BYTES + 1)
    except door.failures as error:
        host = urlsplit(address).hostname
        raise Unreached(
            Sentence("Cannot reach {0}. Check the connection and try again.", host)
        ) from error
    finally:
        door.forget(reason)
    if len(body) > LARGEST_BYTES:
        raise UpdateFailed(Sentence("The update information is too large."))
    return body


def read(body: bytes, key: str) -> Announcement:
    """Returns the announcement if the key's owner signed it. Raises UpdateFailed."""
    return read_signed(body, key, PREFIX, Announcement)


def read_signed(body: bytes, key: str, prefix: bytes, kind: type[T]) -> T:
    """Returns the document if the key's owner signed it for the purpose in `prefix`."""
    try:
        signed = SignedDocument.model_validate(from_json(body))
        text = signed.announcement.encode()
        owner = base64.b64decode(key, validate=True)
        mark = base64.b64decode(signed.signature, validate=True)
    except (ValueError, ValidationError, binascii.Error) as error:
        raise UpdateFailed(Sentence("The address does not return update information.")) from error
    if not is_signed(owner, mark, prefix + text):
        raise UpdateFailed(Sentence("The update information has no valid signature."))
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise UpdateFailed(
            Sentence("The update information is signed but cannot be read.")
        ) from error


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
