"""The secrets of plugins: inserted into what is sent, hidden everywhere else."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from server.errors import AppError
from server.plugins.manifest import SECRET
from server.sentences import Sentence
from server.system.keychain import Keychain
from server.system.limits import try_json
from server.system.logs import HIDDEN, Redactor

DEEPEST = 100


class SecretMissing(AppError):
    code = "secret_missing"
    status = 401

    def __init__(self, plugin: str, name: str) -> None:
        super().__init__(
            Sentence("Sign-in needed: {0} has no '{1}' yet. Enter it under Plugins.", plugin, name)
        )
        self.name = name


class Sealed:
    """The secrets of one plugin, in the system's keyring.

    A keyring cannot be searched. So an entry lists the names, for the removal of a plugin that can
    no longer be read or that used other names before.
    """

    def __init__(self, plugin: str, keychain: Keychain, redactor: Redactor) -> None:
        self._plugin = plugin
        self._keychain = keychain
        self._redactor = redactor
        self._seen: set[str] = set()
        self._kept: set[str] = set()
        self._list_name = f"plugin names/{plugin}"  # A secret's name begins with "plugin.".
        self._listed: set[str] = set()
        self._listing = asyncio.Lock()

    async def opened(self, text: str) -> str:
        """Inserts the secrets into a text that is sent. Raises SecretMissing."""
        for name in SECRET.findall(text):
            value = await self.get(name)
            if not value:
                raise SecretMissing(self._plugin, name)
            text = text.replace(f"${{secret:{name}}}", value)
        return text

    async def opened_all(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {key: await self.opened(text) for key, text in texts.items()}

    async def keep(self, name: str, value: str) -> None:
        self._redactor.hide(value)
        await self._list(name)
        await self._keychain.set(self._name(name), value)
        self._kept.add(name)

    def hide(self, value: str) -> None:
        """Hides a value that is only part of what the keyring holds."""
        self._seen.add(value)
        self._redactor.hide(value)

    async def forget(self, name: str) -> None:
        await self._keychain.delete(self._name(name))
        self._kept.discard(name)

    async def forget_all(self, *names: str) -> None:
        """Forgets these secrets and all that were ever listed."""
        for name in {*names, *await self._read_list()}:
            await self.forget(name)
        await self._keychain.delete(self._list_name)
        self._listed.clear()

    async def _list(self, name: str) -> None:
        async with self._listing:
            if name not in self._listed:
                listed = {*await self._read_list(), name}
                await self._keychain.set(self._list_name, json.dumps(sorted(listed)))
                self._listed = listed

    async def _read_list(self) -> list[str]:
        found = try_json(await self._keychain.get(self._list_name) or "")
        return [str(name) for name in found] if isinstance(found, list) else []

    async def get(self, name: str) -> str:
        """Returns the secret; empty if there is none."""
        value = await self._keychain.get(self._name(name)) or ""
        if value:
            self.hide(value)
        return value

    async def has(self, name: str) -> bool:
        found = bool(await self._keychain.get(self._name(name)))
        (self._kept.add if found else self._kept.discard)(name)
        if found:
            await self._list(name)  # An earlier version kept no list.
        return found

    def is_kept(self, name: str) -> bool:
        """Whether the secret was there when the keyring was last asked."""
        return name in self._kept

    def clean(self, text: str) -> str:
        """Hides secrets in a text. Long secrets come first, because they may contain others."""
        for value in sorted(self._seen, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return text

    def clean_all(self, value: Any, depth: int = 0) -> Any:
        """Hides secrets in every text and name of a JSON value. Replaces values nested too deep."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict | list) and depth >= DEEPEST:
            return HIDDEN
        if isinstance(value, dict):
            return {
                self.clean(name): self.clean_all(part, depth + 1) for name, part in value.items()
            }
        if isinstance(value, list):
            return [self.clean_all(part, depth + 1) for part in value]
        return value

    def _name(self, name: str) -> str:
        return f"plugin.{self._plugin}.{name}"
