"""The part of the core's face that changes settings; what is secret in them goes to the keyring."""

from typing import Any

from yarl import URL

from server.errors import BadRequest
from server.keychain import Keychain
from server.logs import Logs
from server.observe import Value
from server.settings import Settings
from server.settings_store import SettingsStore

PROXY = "network.proxy"
PROXY_PASSWORD = "proxy-password"


class Configured:
    settings: Value[Settings]
    keychain: Keychain
    _store: SettingsStore
    _logs: Logs

    async def change_setting(self, field: str, value: Any) -> None:
        await self.change_settings({field: value})

    async def change_settings(self, changes: dict[str, Any]) -> None:
        before = after = self.settings.get()
        if PROXY in changes:
            changes = {**changes, PROXY: await self._without_password(changes[PROXY])}
        for field, value in changes.items():
            try:
                after = after.changed(field, value)
            except (KeyError, ValueError) as error:
                raise BadRequest(f"The setting {field} cannot be that: {error}", field) from None
        self._save(after)
        await self._apply(before, after)

    async def proxy_password(self) -> str | None:
        password = await self.keychain.get(PROXY_PASSWORD)
        if password:
            self._logs.redactor.hide(password)
        return password

    async def _hide_proxy_password(self) -> None:
        """One that somebody wrote into the file of settings by hand."""
        proxy = self.settings.get().network.proxy
        if await self._without_password(proxy) != proxy:
            await self.change_setting(PROXY, proxy)

    async def _without_password(self, proxy: Any) -> Any:
        """The address alone: its password belongs into the keyring, not into a file."""
        try:
            url = URL(proxy)
            password = url.password
        except (TypeError, ValueError):
            return proxy
        if not password:
            return proxy
        self._logs.redactor.hide(password)
        await self.keychain.set(PROXY_PASSWORD, password)
        if self.keychain.notice:
            self._notice(self.keychain.notice)
        return str(url.with_password(None))

    def _save(self, settings: Settings) -> None:
        self.settings.set(settings)
        try:
            self._store.save(settings)
        except OSError as error:
            self._notice(f"The settings could not be saved: {error.strerror}.")

    async def _apply(self, before: Settings, after: Settings) -> None:
        raise NotImplementedError

    def _notice(self, text: str) -> None:
        raise NotImplementedError
