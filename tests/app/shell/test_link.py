import asyncio
from dataclasses import replace

import pytest

from app.shell import link as link_module
from app.shell.link import Link
from server import tasks
from server.errors import AppError, BadRequest, LinkLost
from server.face.core import Load, LogLine, ServerStatus
from server.settings import Settings
from tests.kit.fake_core import LARGE, SERVING, STARTER, FakeCore
from tests.kit.served_core import serve_core
from tests.kit.until import until

LINE = LogLine(1.5, "info", "server.core.core", "hello")


async def test_every_value_is_mirrored_and_follows(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        await until(lambda: link.face.models.cards.get() == (STARTER, LARGE))
        core.load.set(Load(1, 2, 3.5, 400))
        core.settings.set(Settings().changed("server.port", 8000))
        await until(lambda: link.face.load.get() == Load(1, 2, 3.5, 400))
        await until(lambda: link.face.settings.get().server.port == 8000)
        await tasks.stop(following)


async def test_a_signal_is_heard(core: FakeCore) -> None:
    link = Link()
    heard: list[LogLine] = []
    link.face.logged.connect(heard.append)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.logged.emit(LINE)
        await until(lambda: heard)
        await tasks.stop(following)
    assert heard == [LINE]


async def test_a_listener_that_fails_does_not_end_the_link(core: FakeCore) -> None:
    link = Link()

    def stumble(load: Load) -> None:
        if load.running == 1:
            raise ZeroDivisionError

    link.face.load.connect(stumble)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.load.set(Load(1))
        await until(lambda: link.face.load.get() == Load(1))
        core.load.set(Load(2))
        await until(lambda: link.face.load.get() == Load(2))
        await link.face.load_model("Qwen3-8B")
        await tasks.stop(following)


async def test_a_line_that_is_too_long_is_passed_over(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_LONGEST_LINE", 2**16)
    link = Link()
    heard: list[LogLine] = []
    link.face.logged.connect(heard.append)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.logged.emit(replace(LINE, text="x" * 2**20))
        core.logged.emit(LINE)
        await until(lambda: heard)
        await tasks.stop(following)
    assert heard == [LINE]


async def test_commands_are_sent_with_their_arguments(core: FakeCore) -> None:
    link = Link()
    core.earlier = [LINE]
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        await link.face.load_model("Qwen3-8B")
        await link.face.cancel_request(request_id=7)
        await link.face.change_setting("server.origins", ("https://a.example",))
        assert await link.face.recent_logs(10) == [LINE]
        assert await link.face.access_key() == "the-access-key"
        await tasks.stop(following)
    assert core.commands[:2] == [("load_model", "Qwen3-8B"), ("cancel_request", 7)]
    assert core.settings.get().server.origins == ("https://a.example",)


async def test_a_refused_command_says_why(core: FakeCore) -> None:
    link = Link()
    core.refuse = BadRequest("That port is taken.")
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        with pytest.raises(AppError, match="That port is taken") as refusal:
            await link.face.start()
        await tasks.stop(following)
    assert refusal.value.code == "invalid_request"


async def test_without_a_core_a_command_says_so() -> None:
    with pytest.raises(LinkLost):
        await Link().face.load_model("Qwen3-8B")


async def test_without_a_core_a_start_is_a_wish_for_one() -> None:
    link = Link()
    await link.face.start()
    assert link.restart.is_set()


async def test_a_wrong_secret_is_refused(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        with pytest.raises(LinkLost):
            await link.follow(address, "another")
    assert link.face.server.get() == ServerStatus()


async def test_the_end_of_the_core_ends_the_stream(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
    async with asyncio.timeout(30):
        await asyncio.wait([following])
    assert following.exception() is None or isinstance(following.exception(), LinkLost)


async def test_without_a_core_nothing_old_is_shown(core: FakeCore) -> None:
    link = Link()
    link.face.models.cards.set((STARTER,))
    link.face.settings.set(Settings().changed("window.theme", "dark"))
    link.show(ServerStatus("failed", reason="It died."))
    assert link.face.models.cards.get() == ()
    assert link.face.server.get().reason == "It died."
    assert link.face.settings.get().window.theme == "dark"
