import json
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from server import keychain
from server.keychain import Keychain


class MemoryKeyring(keyring.backend.KeyringBackend):
    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class LockedKeyring(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None:
        raise keyring.errors.InitError("Prompt dismissed")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch):
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


async def test_secrets_go_to_the_keyring_and_nowhere_else(use, tmp_path: Path):
    use(backend := MemoryKeyring())
    chain = Keychain(tmp_path / "secrets.json")
    await chain.set("token", "s3cret")
    assert await chain.get("token") == "s3cret"
    assert list(backend.kept) == [("moat", "token")]
    await chain.delete("token")
    assert await chain.get("token") is None
    assert list(tmp_path.iterdir()) == []
    assert chain.notice == ""


async def test_without_a_keyring_a_private_file_is_used_and_announced(use, tmp_path: Path):
    use(LockedKeyring())
    chain = Keychain(tmp_path / "secrets.json")
    await chain.set("token", "s3cret")
    assert await chain.get("token") == "s3cret"
    assert "unencrypted" in chain.notice
    path = tmp_path / "secrets.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text()) == {"token": "s3cret"}


async def test_a_keyring_that_hangs_is_given_up(use, tmp_path: Path, monkeypatch):
    class Hanging(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            released.wait(10)

    released = keychain.threading.Event()
    monkeypatch.setattr(keychain, "PATIENCE_S", 0.1)
    use(Hanging())
    chain = Keychain(tmp_path / "secrets.json")
    await chain.set("token", "s3cret")
    released.set()
    assert "unencrypted" in chain.notice


async def test_the_access_key_is_made_once(use, tmp_path: Path):
    use(MemoryKeyring())
    first = await Keychain(tmp_path / "a").access_key()
    assert first == await Keychain(tmp_path / "b").access_key()
    assert len(first) > 40


async def test_a_variable_stands_before_the_store(use, tmp_path: Path, monkeypatch):
    use(MemoryKeyring())
    monkeypatch.setenv("MOAT_SECRET_HUB_TOKEN", "from outside")
    assert await Keychain(tmp_path / "a").get("hub-token") == "from outside"
