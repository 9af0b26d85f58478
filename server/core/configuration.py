"""The settings in use: changed, saved and made true; what is secret in them goes to the keyring."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError
from yarl import URL

from server.core.settings_store import SettingsStore
from server.errors import BadRequest
from server.observe import Value
from server.settings import Settings, proxy_address
from server.system.keychain import Keychain

PROXY = "network.proxy"
PROXY_PASSWORD = "proxy-password"
Say = Callable[[str], None]
Apply = Callable[[Settings, Settings], Awaitable[None]]


class Configuration:
    """`apply` makes a change true now; `say` tells the user; `hide` keeps a secret out of logs."""

    def __init__(
        self, store: SettingsStore, keychain: Keychain, apply: Apply, *, say: Say, hide: Say
    ) -> None:
        self.settings: Value[Settings] = Value(store.load())
        self._store = store
        self._keychain = keychain
        self._apply = apply
        self._say = say
        self._hide = hide

    async def open(self) -> None:
        """A password that somebody wrote into the file of settings by hand does not stay there."""
        proxy = self.settings.get().network.proxy
        if await self._without_password(proxy) != proxy:
            await self.change({PROXY: proxy})

    async def change_one(self, field: str, value: Any) -> None:
        await self.change({field: value})

    async def change(self, changes: dict[str, Any]) -> None:
        if PROXY in changes:
            changes = {**changes, PROXY: await self._without_password(changes[PROXY])}
        before = after = self.settings.get()  # after the wait: others may have changed some
        for field, value in changes.items():
            try:
                after = after.changed(field, value)
            except (KeyError, ValueError) as error:
                why = _reason(error)
                raise BadRequest(f"The setting {field} cannot be that: {why}", field) from None
        self.save(after)
        await self._apply(before, after)

    def save(self, settings: Settings) -> None:
        self.settings.set(settings)
        try:
            self._store.save(settings)
        except OSError as error:
            self._say(f"The settings could not be saved: {error.strerror}.")

    async def proxy_password(self) -> str | None:
        password = await self._keychain.get(PROXY_PASSWORD)
        if password:
            self._hide(password)
        return password

    async def _without_password(self, proxy: Any) -> Any:
        """The address alone: its password belongs into the keyring, not into a file."""
        try:
            url = URL(proxy_address(proxy))
            password = url.password
        except (AttributeError, TypeError, ValueError):
            return proxy
        if not password:
            return proxy
        self._hide(password)
        await self._keychain.set(PROXY_PASSWORD, password)
        if self._keychain.notice:
            self._say(self._keychain.notice)
        return str(url.with_password(None))


def _reason(error: Exception) -> str:
    """Without the value, which may hold a password."""
    return error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
