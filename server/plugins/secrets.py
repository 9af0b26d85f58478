"""Secrets of plugins: inserted where a call is sent, blacked out everywhere else."""

from collections.abc import Mapping
from typing import Any

from server.errors import AppError
from server.plugins.manifest import SECRET
from server.system.keychain import Keychain
from server.system.logs import HIDDEN, Redactor

DEEPEST = 100


class SecretMissing(AppError):
    code = "secret_missing"
    status = 401

    def __init__(self, plugin: str, name: str) -> None:
        super().__init__(f"Sign-in needed: {plugin} has no '{name}' yet. Enter it under Plugins.")
        self.name = name


class Sealed:
    """The secrets of one plugin, in the system's keyring under its name."""

    def __init__(self, plugin: str, keychain: Keychain, redactor: Redactor) -> None:
        self._plugin = plugin
        self._keychain = keychain
        self._redactor = redactor
        self._seen: set[str] = set()
        self._kept: set[str] = set()

    async def opened(self, text: str) -> str:
        """Inserts the secrets into the text, only for what is sent."""
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
        await self._keychain.set(self._name(name), value)
        self._kept.add(name)

    def hide(self, value: str) -> None:
        """Blacks out a secret that is a part of what is kept."""
        self._seen.add(value)
        self._redactor.hide(value)

    async def forget(self, name: str) -> None:
        await self._keychain.delete(self._name(name))
        self._kept.discard(name)

    async def get(self, name: str) -> str:
        """Returns an empty text if there is none."""
        value = await self._keychain.get(self._name(name)) or ""
        if value:
            self.hide(value)
        return value

    async def has(self, name: str) -> bool:
        found = bool(await self._keychain.get(self._name(name)))
        (self._kept.add if found else self._kept.discard)(name)
        return found

    def is_kept(self, name: str) -> bool:
        """Returns the state at the last check."""
        return name in self._kept

    def clean(self, text: str) -> str:
        """Cleans a text for logs, prompts and screens. Long secrets first: they may contain
        others."""
        for value in sorted(self._seen, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return text

    def clean_all(self, value: Any, depth: int = 0) -> Any:
        """Cleans every text in a JSON value, names too. Very deep values are dropped."""
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
