"""What is blacked out, and how much of it."""

import asyncio
import json
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


async def test_all_secrets_are_forgotten_even_those_that_nobody_names(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    chain = Keychain(path)
    await chain.set("plugin.p.earlier", "from a version that kept no list")
    before, other = Sealed("p", chain, Redactor()), Sealed("q", chain, Redactor())
    assert await before.has("earlier")
    await asyncio.gather(before.keep("one", "1"), before.keep("two", "2"), other.keep("one", "3"))
    await chain.set("plugin.p.named", "4")
    await Sealed("p", chain, Redactor()).forget_all("named")
    assert await other.has("one")
    assert [name for name in json.loads(path.read_text()) if "q" not in name] == []
