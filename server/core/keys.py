"""Named keys and their limits: models, requests at once, tokens per day.

A key is shown once, when it is made. Only its hash is kept: 256 random bits need no salt.
"""

import asyncio
import hashlib
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from server.errors import (
    BadRequest,
    DiskFailed,
    KeyBusy,
    KeyForbids,
    KeyRefused,
    KeyRevoked,
    KeySpent,
)
from server.face.core import KeyCard, KeyLimits
from server.observe import Value
from server.sentences import Sentence
from server.system.files import JsonFile, write_atomically
from server.system.limits import one_line
from server.tasks import spawn, stop
from server.web.guard import ACCESS_KEY

log = logging.getLogger(__name__)

PREFIX = "moat-"
LONGEST_NAME = 60
MOST_REVOKED = 1000
SAVE_S = 5.0
"""Seconds of counting that may be lost when the server is killed."""
_CARDS = TypeAdapter(dict[str, KeyCard])
_HASHES = TypeAdapter(list[str])


class Keys:
    """The named keys. Their hashes and limits are in one file, today's counts in another."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.cards: Value[tuple[KeyCard, ...]] = Value(())
        self._path = folder / "keys.json"
        self._spent_file = JsonFile(folder / "keys_spent.json", "The tokens that keys have used")
        self._clock = clock
        self._by_hash: dict[str, KeyCard] = {}
        self._by_name: dict[str, KeyCard] = {}
        self._revoked: list[str] = []
        self._running: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()
        self._day = ""
        self._saving: asyncio.Task[None] | None = None
        self._read()

    def add(self, name: str, limits: KeyLimits) -> str:
        """Makes a key and returns it. It is not stored, so it cannot be shown again."""
        name = one_line(name)
        is_name = name.isprintable() and 0 < len(name) <= LONGEST_NAME
        if not is_name or name == ACCESS_KEY:
            text = Sentence("A key needs a name of 1 to {0} visible characters.", LONGEST_NAME)
            raise BadRequest(text, "name")
        if name in self._by_name:
            raise BadRequest(
                Sentence("There is a key '{0}' already. Revoke it first.", name), "name"
            )
        if min(limits.at_once, limits.tokens_per_day) < 0:
            raise BadRequest(Sentence("A limit is 0 (none) or more."), "limits")
        key = PREFIX + secrets.token_urlsafe(32)
        card = KeyCard(name, limits, self._clock())
        self._spent.pop(name, None)
        self._keep({**self._by_hash, hash_of(key): card}, self._revoked)
        log.info("The key '%s' was made", name)
        return key

    def revoke(self, name: str) -> None:
        """Revokes a key at once. The caller ends the requests that run with it."""
        if name not in self._by_name:
            raise BadRequest(Sentence("There is no key '{0}'.", name), "name")
        gone = [digest for digest, card in self._by_hash.items() if card.name == name]
        left = {digest: card for digest, card in self._by_hash.items() if digest not in gone}
        self._keep(left, [*self._revoked, *gone][-MOST_REVOKED:])
        log.info("The key '%s' was revoked", name)

    def name_of(self, sent: str) -> str | None:
        """Returns the name of the key, or None if it is unknown. Raises KeyRevoked.

        Timing reveals nothing about a key, because only hashes are compared.
        """
        digest = hash_of(sent)
        card = self._by_hash.get(digest)
        if card is not None:
            return card.name
        if digest in self._revoked:
            raise KeyRevoked
        return None

    def limits_of(self, name: str) -> KeyLimits | None:
        """Returns a named key's limits; None for the access key and for requests without a key."""
        card = self._by_name.get(name)
        return card.limits if card else None

    def may_use(self, name: str, model: str) -> bool:
        limits = self.limits_of(name)
        return limits is None or not limits.models or model in limits.models

    def find_refusal(self, name: str, models: tuple[str, ...]) -> KeyRefused | None:
        """Returns why a request with this key is refused. `models` are all names of its model."""
        limits = self.limits_of(name)
        if limits is None:
            return None
        if not any(self.may_use(name, model) for model in models):
            return KeyForbids(name, models[0], limits.models)
        if limits.at_once and self._running[name] >= limits.at_once:
            return KeyBusy(name, limits.at_once)
        if limits.tokens_per_day and self.spent(name) >= limits.tokens_per_day:
            return KeySpent(name, limits.tokens_per_day, self._seconds_left())
        return None

    @contextmanager
    def count(self, name: str) -> Iterator[Callable[[int], None]]:
        """Counts a request while it runs. Call the yielded function with the tokens used."""
        if name not in self._by_name:
            yield lambda _tokens: None
            return
        self._running[name] += 1
        try:
            yield lambda tokens: self._spend(name, tokens)
        finally:
            self._running[name] -= 1

    def spent(self, name: str) -> int:
        """Returns the tokens used today, in UTC."""
        self._turn_day()
        return self._spent[name]

    def show(self) -> None:
        """Updates the counts in the cards."""
        cards = sorted(self._by_name.items())
        self.cards.set(tuple(replace(card, tokens_today=self.spent(name)) for name, card in cards))

    async def close(self) -> None:
        await stop(self._saving)
        self._save_spent()

    def _spend(self, name: str, tokens: int) -> None:
        self._turn_day()
        self._spent[name] += tokens
        if self._saving is None or self._saving.done():
            self._saving = spawn(self._save_soon(), "save what keys have used")

    async def _save_soon(self) -> None:
        await asyncio.sleep(SAVE_S)
        self.show()
        await asyncio.to_thread(self._save_spent)

    def _save_spent(self) -> None:
        if self._spent:
            self._spent_file.write({"day": self._day, "tokens": dict(self._spent)})

    def _turn_day(self) -> None:
        today = datetime.fromtimestamp(self._clock(), UTC).date().isoformat()
        if today != self._day:
            self._day = today
            self._spent.clear()

    def _seconds_left(self) -> int:
        now = datetime.fromtimestamp(self._clock(), UTC)
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        return int((midnight - now).total_seconds()) + 1

    def _keep(self, by_hash: dict[str, KeyCard], revoked: list[str]) -> None:
        """Applies the keys and saves them. Raises DiskFailed if they would be lost at a restart."""
        self._hold(by_hash, revoked)
        keys = {digest: asdict(replace(card, tokens_today=0)) for digest, card in by_hash.items()}
        try:
            write_atomically(self._path, json.dumps({"keys": keys, "revoked": revoked}, indent=1))
        except OSError as error:
            text = Sentence(
                "The keys could not be saved: {0}. They hold until Moat ends.", error.strerror
            )
            raise DiskFailed(text) from error

    def _hold(self, by_hash: dict[str, KeyCard], revoked: list[str]) -> None:
        self._by_hash, self._revoked = by_hash, revoked
        self._by_name = {card.name: card for card in by_hash.values()}
        self.show()

    def _read(self) -> None:
        """Reads the keys. A damaged file lets nobody in and is set aside, not overwritten."""
        found = JsonFile(self._path, "The keys", is_precious=True).read()
        try:
            cards = _CARDS.validate_python(found.get("keys", {}))
            revoked = _HASHES.validate_python(found.get("revoked", []))
        except ValidationError:
            log.warning("The keys cannot be understood: nobody comes in with one")
            cards, revoked = {}, []
        spent = self._spent_file.read()
        counts = spent.get("tokens")
        self._day = str(spent.get("day", ""))
        if isinstance(counts, dict):
            good = {name: count for name, count in counts.items() if isinstance(count, int)}
            self._spent = Counter(good)
        self._hold(cards, revoked)


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
