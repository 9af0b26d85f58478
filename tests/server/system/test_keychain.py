import json
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from server.system import keychain
from server.system.keychain import Keychain, KeyringFailed


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


class SmallKeyring(MemoryKeyring):
    """As Windows: an entry holds 2,560 bytes, and a character takes two of them or four."""

    def set_password(self, service: str, username: str, password: str) -> None:
        if len(password.encode("utf-16-le")) > 2560:
            raise ValueError("The stub received bad data.")
        super().set_password(service, username, password)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch):
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


async def test_secrets_go_to_the_keyring_and_nowhere_else(use, tmp_path: Path, monkeypatch):
    monkeypatch.delenv("MOAT_HOME")
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


@pytest.mark.parametrize("content", ['{"token": "s3cr', "[]", "\x00"])
async def test_a_damaged_file_of_secrets_is_set_aside(use, tmp_path: Path, content: str):
    use(LockedKeyring())
    path = tmp_path / "secrets.json"
    path.write_text(content)
    chain = Keychain(path)
    assert await chain.get("token") is None
    await chain.set("other", "new")
    assert json.loads(path.read_text()) == {"other": "new"}
    assert (tmp_path / "secrets.broken-1.json").read_text() == content


async def test_a_keyring_that_hangs_is_given_up(use, tmp_path: Path, monkeypatch):
    class Hanging(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            released.wait(60)

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


@pytest.mark.parametrize("given", ["from outside\r", " from outside \n"])
async def test_spaces_around_a_variable_are_not_part_of_the_secret(
    use, tmp_path: Path, monkeypatch, given: str
):
    use(MemoryKeyring())
    monkeypatch.setenv("MOAT_SECRET_HUB_TOKEN", given)
    assert await Keychain(tmp_path / "a").get("hub-token") == "from outside"


async def test_an_empty_variable_hides_no_stored_secret(use, tmp_path: Path, monkeypatch):
    use(MemoryKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("hub-token", "stored")
    monkeypatch.setenv("MOAT_SECRET_HUB_TOKEN", " ")
    assert await chain.get("hub-token") == "stored"


@pytest.mark.parametrize("secret", ["t" * 5000, "😀" * 1281, "t" * 1280, "ü" * 601])
async def test_a_long_secret_is_kept_in_parts(use, tmp_path: Path, secret: str):
    use(backend := SmallKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", secret)
    assert await Keychain(tmp_path / "b").get("token") == secret
    assert len(backend.kept) > 1
    await chain.delete("token")
    assert backend.kept == {}
    assert await chain.get("token") is None


async def test_another_secret_leaves_no_parts_of_the_one_before(use, tmp_path: Path):
    use(backend := SmallKeyring())
    chain = Keychain(tmp_path / "a")
    for secret in ("a" * 5000, "b" * 3000, "short"):
        await chain.set("token", secret)
        assert await chain.get("token") == secret
    assert list(backend.kept.values()) == ["short"]


async def test_a_long_secret_of_an_earlier_version_is_still_read(use, tmp_path: Path):
    use(backend := MemoryKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", "x")
    (entry,) = backend.kept
    backend.kept[entry] = "t" * 5000
    assert await chain.get("token") == "t" * 5000
    await chain.delete("token")
    assert backend.kept == {}


async def test_a_secret_that_looks_like_a_list_of_parts_is_only_a_secret(use, tmp_path: Path):
    use(backend := MemoryKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", "t" * 5000)
    looks = next(value for value in backend.kept.values() if not value.startswith("t"))
    await chain.set("other", looks)
    assert await chain.get("other") == looks


async def test_a_secret_that_is_replaced_while_it_is_read_is_the_new_one(use, tmp_path: Path):
    class Replaced(MemoryKeyring):
        reading = False

        def get_password(self, service: str, username: str) -> str | None:
            if self.reading and "#" in username:
                self.reading = False
                keychain.Entries(service).set("token", "new")
            return super().get_password(service, username)

    use(backend := Replaced())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", "old" * 1000)
    backend.reading = True
    assert await chain.get("token") == "new"


async def test_parts_that_are_gone_are_no_secret(use, tmp_path: Path):
    use(backend := MemoryKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", "t" * 5000)
    backend.kept = {key: value for key, value in backend.kept.items() if "t" * 9 not in value}
    assert await chain.get("token") is None
    await chain.delete("token")
    assert backend.kept == {}


class MoodyKeyring(MemoryKeyring):
    """Works when it is looked at, fails later."""

    mood: Exception | None = None

    def get_password(self, service: str, username: str) -> str | None:
        if self.mood:
            raise self.mood
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.mood:
            raise self.mood
        super().set_password(service, username, password)


@pytest.mark.parametrize(
    "mood", [keyring.errors.KeyringLocked("locked"), ValueError("bad data"), OSError("bus")]
)
async def test_a_keyring_that_fails_says_so_in_a_sentence(use, tmp_path: Path, mood: Exception):
    use(backend := MoodyKeyring())
    chain = Keychain(tmp_path / "a")
    await chain.set("token", "s3cret")
    backend.mood = mood
    for asked in (chain.get("token"), chain.set("token", "other"), chain.delete("token")):
        with pytest.raises(KeyringFailed, match="does not work just now") as caught:
            await asked
        assert caught.value.details == f"keyring_failed\n{type(mood).__name__}"
    backend.mood = None
    assert await chain.get("token") == "s3cret"
    assert list(tmp_path.iterdir()) == []


async def test_a_keyring_that_hangs_later_says_so_in_a_sentence(use, tmp_path: Path, monkeypatch):
    class Hanging(MemoryKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            if username == "token":
                released.wait(60)
            return super().get_password(service, username)

    released = keychain.threading.Event()
    use(Hanging())
    monkeypatch.setattr(keychain, "PATIENCE_S", 0.1)
    with pytest.raises(KeyringFailed) as caught:
        await Keychain(tmp_path / "a").get("token")
    assert "TimeoutError" in caught.value.details
    released.set()


async def test_a_home_of_its_own_has_secrets_of_its_own(use, tmp_path: Path, monkeypatch):
    use(backend := MemoryKeyring())
    monkeypatch.delenv("MOAT_HOME")
    usual = Keychain(tmp_path / "a")
    await usual.set("token", "mine")
    monkeypatch.setenv("MOAT_HOME", str(tmp_path / "stick"))
    portable = Keychain(tmp_path / "b")
    assert await portable.get("token") is None
    await portable.set("token", "theirs")
    assert await usual.get("token") == "mine"
    monkeypatch.setenv("MOAT_HOME", str(tmp_path / "x" / ".." / "stick"))
    assert await Keychain(tmp_path / "c").get("token") == "theirs"
    await portable.delete("token")
    assert backend.kept == {("moat", "token"): "mine"}
