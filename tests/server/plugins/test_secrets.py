"""What is blacked out, and how much of it."""

from pathlib import Path

from server.plugins.secrets import Sealed
from server.system.keychain import Keychain
from server.system.logs import HIDDEN, Redactor


async def test_of_two_secrets_that_begin_alike_nothing_is_left(tmp_path: Path) -> None:
    sealed = Sealed("p", Keychain(tmp_path / "secrets.json"), Redactor())
    for name, value in (("short", "abc123"), ("long", "abc123456")):
        await sealed.keep(name, value)
        await sealed.get(name)
    assert sealed.clean("abc123456 abc123") == f"{HIDDEN} {HIDDEN}"
    told = sealed.clean_all({"abc123456": ["said abc123", 1, None]})
    assert told == {HIDDEN: [f"said {HIDDEN}", 1, None]}
