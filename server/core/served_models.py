"""The models of this machine for programs that connect: their names, what they are, new ones."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from server.chat import ChatRequest, Json
from server.engine.base import Engine
from server.engine.pool import Pool
from server.errors import BadRequest, HubFailed
from server.face.models import Download, ModelCard
from server.models.aliases import Alias, Aliases, NameTaken, complete
from server.models.gguf.header import Header
from server.models.service import ModelShelf
from server.settings import OwnSettings

AT_WORK = ("waiting", "running", "verifying")


class Keeper:
    """Everything in `server.protocols.base.ModelKeeper`."""

    def __init__(
        self,
        held: tuple[ModelShelf, Pool],
        aliases: Aliases,
        default: Callable[[], str],
        own: Callable[[str], OwnSettings],
    ) -> None:
        """`own`: the settings of a model alone."""
        self._shelf, self._pool = held
        self._aliases = aliases
        self._default = default
        self.own = own
        self._followers: Counter[str] = Counter()

    def cards(self) -> tuple[ModelCard, ...]:
        """Each model, and once more under every other name it has."""
        return self._aliases.cards(self._shelf.cards.get())

    def base_name(self, name: str | None) -> str | None:
        """The model's own name, where this is another one."""
        if not name or self._aliases.find(name) is None:
            return name
        return next((card.base or name for card in self.cards() if card.name == name), name)

    def resolve(self, request: ChatRequest) -> ChatRequest:
        """Adds what the name that is asked for and the model's own settings add."""
        alias, base = self._aliases.find(request.model), self.base_name(request.model)
        if alias is not None and base is not None:
            request = alias.apply(request, base)
        return complete(request, self.own(base or ""))

    def peek(self) -> Engine | None:
        """The default model's engine, if it is loaded."""
        return self._pool.peek(self._default())

    def keep_named(self, name: str | None, seconds: float) -> None:
        self._pool.keep(self.base_name(name) or self._default(), seconds)

    def keep(self, card: ModelCard, seconds: float) -> None:
        self._pool.keep(card.base or card.name, seconds)

    async def header(self, card: ModelCard) -> Header:
        if card.hosts:
            known: Json = {"general.name": card.title, "general.architecture": "elsewhere"}
            known |= {"elsewhere.context_length": card.trained_context_tokens}
            return Header(3, known, (), 0, 0)
        return await asyncio.to_thread(self._shelf.headers.check, Path(card.path))

    def alias(self, card: ModelCard) -> Alias | None:
        return self._aliases.find(card.name) if card.base else None

    def name_model(self, name: str, alias: Alias) -> None:
        self._aliases.set(name, alias, self._shelf.cards.get())

    async def delete(self, card: ModelCard) -> None:
        alias = self.alias(card)
        if alias is not None and not alias.is_pulled:
            self._aliases.remove(card.name)
            return
        others = ", ".join(f"'{name}'" for name in self._aliases.made_from(card.path))
        if others:
            raise NameTaken(
                f"Deleting '{card.name}' would also delete {others}: delete that model first."
            )
        await self._shelf.delete(card.base or card.name)

    def forget(self, path: str) -> None:
        """The model's file was deleted."""
        self._aliases.forget(path)

    async def pull(self, name: str) -> AsyncGenerator[Download, None]:
        """The download goes on after us only if somebody else began it, or watches it too."""
        busy = {
            download.id for download in self._shelf.downloads.get() if download.phase in AT_WORK
        }
        path, number = await self._shelf.pull(name)
        if all(card.name != name for card in self._shelf.cards.get()):
            self.name_model(name, Alias(path=str(path), is_pulled=True))
        is_ours = number not in busy or bool(self._followers[number])
        return self._follow(number, is_ours=is_ours)

    async def _follow(self, number: str, *, is_ours: bool) -> AsyncGenerator[Download, None]:
        if not number:
            return
        news = asyncio.Event()
        disconnect = self._shelf.downloads.connect(lambda _all: news.set())
        self._followers[number] += 1
        try:
            while True:
                news.clear()
                yield (now := self._now(number))
                if now.phase == "done":
                    return
                await news.wait()
        finally:
            disconnect()
            self._followers[number] -= 1
            if is_ours and not self._followers[number]:
                await self._pause(number)

    def _now(self, number: str) -> Download:
        found = next(
            (download for download in self._shelf.downloads.get() if download.id == number), None
        )
        if found is None:
            raise BadRequest("The download was cancelled.", "model")
        if found.phase == "failed":
            raise HubFailed(found.reason)
        return found

    async def _pause(self, number: str) -> None:
        """What came so far stays; the next pull goes on there."""
        if any(each.id == number and each.phase in AT_WORK for each in self._shelf.downloads.get()):
            await self._shelf.pause_download(number)
