"""The current settings: changes, saves and applies them. Secrets in them go to the keyring.

A variable such as MOAT_SERVER__LISTEN overrides the saved value and is never saved itself.
"""

import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from yarl import URL

from server.chat import Json
from server.errors import BadRequest
from server.observe import Value
from server.sentences import Sentence
from server.settings import BAD_ORIGIN, Settings, proxy_address, reason_of
from server.system.files import set_aside, sweep_drafts, write_atomically
from server.system.keychain import Keychain
from server.system.processes import GIVEN_SECRET

log = logging.getLogger(__name__)
ASIDE = "set_aside"
"""The key for values that this version cannot read. They are kept for a version that can."""


class SettingsStore:
    """The settings file and its backup."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_suffix(".backup.json")
        self.notices: list[str] = []

    def load(self) -> Settings:
        """Returns the settings of the file, its backup or the defaults. Bad files are set aside."""
        with contextlib.suppress(OSError):
            sweep_drafts(self._path.parent)
        for path in (self._path, self._backup):
            try:
                return self._read(path)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                self._set_aside(path, error)
        return Settings()

    def save(self, settings: Settings) -> None:
        with contextlib.suppress(FileNotFoundError):
            write_atomically(self._backup, self._path.read_text("utf-8"))
        write_atomically(self._path, settings.model_dump_json(indent=2))

    def _read(self, path: Path) -> Settings:
        found: Json = from_json(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("not an object")  # noqa: TRY004
        _restore(found)
        while True:
            try:
                return Settings.model_validate(found)
            except ValidationError as error:
                self._drop_bad_fields(found, error)

    def _drop_bad_fields(self, found: Json, error: ValidationError) -> None:
        # A list has a finding for each bad item, but the setting is dropped only once.
        for place in dict.fromkeys(finding["loc"][:2] for finding in error.errors()):
            where = ".".join(str(part) for part in place)
            removed = found.setdefault(ASIDE, {})[where] = _remove(found, place)
            findings = [finding for finding in error.errors() if finding["loc"][:2] == place]
            if all(finding["type"] == BAD_ORIGIN for finding in findings):
                bad = {finding["loc"][2] for finding in findings}
                good = [item for number, item in enumerate(removed) if number not in bad]
                found[str(place[0])][place[1]] = good
                self.notices.append(
                    Sentence("Part of the setting {0} was not valid and was ignored.", where)
                )
                continue
            self.notices.append(
                Sentence("The setting {0} was not valid and was reset to its default.", where)
            )

    def _set_aside(self, path: Path, error: Exception) -> None:
        log.warning("Cannot read %s: %s", path.name, error)
        with contextlib.suppress(OSError):
            path = set_aside(path)
        self.notices.append(
            Sentence("The settings file could not be read; it was saved as {0}.", path.name)
        )


def _remove(found: Json, where: tuple[Any, ...]) -> Any:
    inside: Any = found
    for part in where[:-1]:
        inside = inside[part]
    return inside.pop(where[-1])


def _restore(found: Json) -> None:
    """Puts back what another version could not read, unless the user has changed it since."""
    aside = found.pop(ASIDE, None)
    if not isinstance(aside, dict):
        return
    kept = {where: value for where, value in aside.items() if not _put_back(found, where, value)}
    if kept:
        found[ASIDE] = kept


def _put_back(found: Json, where: str, value: Any) -> bool:
    """Whether a value is settled: it is valid again, or the user has changed the setting.

    `where` names a group, or a setting in a group.
    """
    group, _, name = where.partition(".")
    default = Settings().model_dump(mode="json").get(group)
    held, key = found, group
    if name:
        held, key = found.setdefault(group, {}), name
        default = (default or {}).get(name)
    if not isinstance(held, dict):
        return False
    if held.get(key, default) != default:
        return True
    try:
        Settings.model_validate({group: {name: value} if name else value})
    except ValidationError:
        return False
    held[key] = value
    return True


PREFIX, BETWEEN = "MOAT_", "__"
PROXY = "network.proxy"
PROXY_PASSWORD = "proxy-password"
Say = Callable[[str], None]
Apply = Callable[[Settings, Settings], Awaitable[None]]


class Configuration:
    """The settings in use.

    `apply` puts a change into effect, `say` shows the user a message, `hide` keeps a secret out of
    logs.
    """

    def __init__(
        self,
        store: SettingsStore,
        keychain: Keychain,
        apply: Apply,
        *,
        say: Say,
        hide: Say,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._saved = store.load()
        self._given = read_variables(variables or {})
        """The variable and the value, by the name of the setting that it overrides."""
        self.settings: Value[Settings] = Value(self._overlaid(self._saved))
        self._store = store
        self._keychain = keychain
        self._apply = apply
        self._say = say
        self._hide = hide

    async def open(self) -> None:
        """Moves a password that somebody wrote into the settings file to the keyring."""
        proxy = self.settings.get().network.proxy
        if await self._without_password(proxy) != proxy:
            await self.change({PROXY: proxy})

    async def change_one(self, field: str, value: Any) -> None:
        await self.change({field: value})

    async def change(self, changes: dict[str, Any]) -> None:
        for field in changes:
            if field in self._given:
                raise BadRequest(
                    Sentence("{0} decides the setting {1}.", self._given[field][0], field), field
                )
        if PROXY in changes:
            changes = {**changes, PROXY: await self._without_password(changes[PROXY])}
        before = after = self.settings.get()  # read after the await: others may have changed some
        for field, value in changes.items():
            try:
                after = after.changed(field, value)
            except (KeyError, ValueError) as error:
                why = _reason(error)
                raise BadRequest(
                    Sentence("The setting {0} has an invalid value: {1}", field, why), field
                ) from None
        self.save(after)
        await self._apply(before, after)

    def save(self, settings: Settings) -> None:
        self.settings.set(settings)
        for field in self._given:
            group, _, name = field.partition(".")
            settings = settings.changed(field, getattr(getattr(self._saved, group), name))
        self._saved = settings
        try:
            self._store.save(settings)
        except OSError as error:
            self._say(Sentence("The settings could not be saved: {0}.", error.strerror))

    def _overlaid(self, settings: Settings) -> Settings:
        for field, (name, value) in self._given.items():
            try:
                settings = settings.changed(field, value)
            except ValueError as error:
                raise BadRequest(
                    Sentence("{0} has an invalid value: {1}", name, _reason(error)), field
                ) from None
        return settings

    async def proxy_password(self) -> str | None:
        password = await self._keychain.get(PROXY_PASSWORD)
        if password:
            self._hide(password)
        return password

    async def _without_password(self, proxy: Any) -> Any:
        """Returns the address without its password, which it stores in the keyring."""
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


def read_variables(variables: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Returns the variable and its value for each setting that a variable overrides.

    Entries of a list are separated by commas, engines by spaces; both may also be JSON.
    """
    found: dict[str, tuple[str, Any]] = {}
    for variable, text in variables.items():
        is_ours = variable.startswith(PREFIX) and not variable.startswith(GIVEN_SECRET)
        if not is_ours or BETWEEN not in variable:
            continue
        group, _, name = variable.removeprefix(PREFIX).lower().partition(BETWEEN)
        held = Settings.model_fields.get(group)
        fields = held.annotation.model_fields if held and held.annotation else {}
        if name not in fields:
            known = ", ".join(fields or Settings.model_fields)
            what = f"setting '{name}' in {group}" if held else f"group of settings '{group}'"
            raise BadRequest(
                Sentence("{0}: there is no {1}. There are: {2}.", variable, what, known), variable
            )
        found[f"{group}.{name}"] = variable, _value(text, fields[name].annotation, variable)
    return found


def _value(text: str, kind: Any, variable: str) -> Any:
    if get_origin(kind) is not tuple:
        return text.strip()
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            raise BadRequest(
                Sentence("{0} begins like JSON, but is none.", variable), variable
            ) from None
    entry = get_args(kind)[0]
    is_object = isinstance(entry, type) and issubclass(entry, BaseModel)
    parts = text.split() if is_object else [part.strip() for part in text.split(",")]
    return [part for part in parts if part]


def _reason(error: Exception) -> str:
    """Returns the reason without the value, which may hold a password."""
    return reason_of(error) if isinstance(error, ValidationError) else str(error)
