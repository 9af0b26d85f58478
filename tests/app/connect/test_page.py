from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QGuiApplication

from app.connect.clients import KEY_PLACE
from app.connect.page import ConnectPage
from app.look.controls import Button
from server.face.core import Knock, ServerStatus
from server.settings import Settings
from tests.kit.fake_api import answering, api
from tests.kit.fake_core import STARTER, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_every_client_gets_the_exact_address(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    assert page.cards["openai"].address.text() == "http://127.0.0.1:7777/v1"
    assert STARTER.name in page.cards["openai"].snippet.toPlainText()
    page.cards["ollama"].copy.click()
    assert "OLLAMA_HOST=http://127.0.0.1:7777" in QGuiApplication.clipboard().text()
    core.server.set(ServerStatus("ready", "http://127.0.0.1:9000"))
    assert page.cards["copilotkit"].address.text() == "http://127.0.0.1:9000/api/copilotkit"


async def test_without_a_server_nothing_can_be_tested(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    core.server.set(ServerStatus("stopped"))
    assert not page.cards["openai"].test.isEnabled()
    assert page.cards["openai"].address.text() == ""


async def test_the_key_is_copied_but_not_shown(core: FakeCore, shown: Shown) -> None:
    core.settings.set(Settings().changed("server.require_key", value=True))
    page = shown(ConnectPage(core))
    card = page.cards["openai"]
    await until(lambda: KEY_PLACE in card.snippet.toPlainText())
    assert core.key not in card.snippet.toPlainText()
    card.copy.click()
    assert f'api_key="{core.key}"' in QGuiApplication.clipboard().text()
    assert "Bearer" in page.cards["workspace"].snippet.toPlainText()


async def test_a_test_says_what_happened(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    card = page.cards["openai"]
    async with api(answering("x")) as address:
        core.server.set(ServerStatus("ready", address))
        card.test.click()
        assert not card.test.isEnabled()
        await until(card.outcome.isVisible)
    assert "status 404" in card.outcome.text()
    assert card.test.isEnabled()


async def test_the_origin_that_knocked_is_allowed(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    core.knocks.set((Knock(1.0, "https://bank.example", "OPTIONS", "Mozilla", "origin"),))
    next(one for one in page.door.findChildren(Button) if one.text() == "Allow").click()
    await until(lambda: "https://bank.example" in core.settings.get().server.origins)
    await until(page.door.silence.isVisible)


async def test_the_key_is_handed_to_who_forgot_it(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    core.knocks.set((Knock(1.0, "", "POST", "openai-python", "key"),))
    next(one for one in page.door.findChildren(Button) if "key" in one.text()).click()
    await until(lambda: QGuiApplication.clipboard().text() == core.key)


async def test_https_is_switched_on_here_and_its_certificate_shown(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(ConnectPage(core))
    assert not page.secure.how.isVisible()
    page.secure.switch_on.click()
    await until(lambda: core.settings.get().server.https)
    address, command = "https://localhost:7443", "certutil -A"
    core.server.set(
        ServerStatus(
            "ready", "http://x:1", secure_address=address, certificate="/c.crt", trust=command
        )
    )
    assert page.secure.address.text() == address
    page.secure.copy_command.click()
    assert QGuiApplication.clipboard().text() == command
    assert page.secure.file.text() == "/c.crt"
    assert not page.secure.switch_on.isVisible()
