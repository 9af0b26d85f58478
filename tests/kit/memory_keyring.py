"""A keyring for test processes. It works, but keeps nothing on disk."""

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

_KEPT: dict[tuple[str, str], str] = {}


class MemoryKeyring(KeyringBackend):
    priority = 1  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return _KEPT.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        _KEPT[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if _KEPT.pop((service, username), None) is None:
            raise PasswordDeleteError("there is none")
