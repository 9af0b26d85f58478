"""Connect: no server, everything, tests that are running, programs that tried to connect."""

import time

from app.connect.page import ConnectPage
from app.desktop.probe import Outcome
from app.look.translate import join_sentences, tr
from app.shell.window import Window
from scripts.scenes.base import Scene, opened, scrolled_down
from server.face.core import Knock, ServerStatus
from tests.kit.fake_core import FakeCore

BROWSER = "Mozilla"
NINE = time.mktime((2026, 1, 15, 9, 0, 0, 0, 0, -1))


async def full(_core: FakeCore, _window: Window) -> str:
    return "Connect"


async def stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    return "Connect"


async def knocks(core: FakeCore, window: Window) -> str:
    page = opened(window, ConnectPage)
    core.knocks.set(
        (
            Knock(NINE + 11, "https://workspace.bank.example", "OPTIONS", BROWSER, "origin"),
            Knock(NINE + 40, "", "POST", "openai-python", "key"),
            Knock(NINE + 55, "https://pro.openbb.dev", "OPTIONS", BROWSER, "let in"),
            Knock(NINE + 70, "https://pro.openbb.co", "GET", BROWSER, "let in"),
        )
    )
    head = tr("{method} {path} was answered in {ms} ms.")
    said = head.format(method="GET", path="/agents.json", ms=4)
    found = join_sentences([said, tr("It found the agent “{name}”.").format(name="Moat")])
    page.cards["workspace"].show_outcome(Outcome(ok=True, text=found))
    refused = tr("The access key is missing or wrong.")
    page.cards["openai"].show_outcome(Outcome(ok=False, text=refused))
    return "Connect"


async def busy(_core: FakeCore, window: Window) -> str:
    page = opened(window, ConnectPage)
    for card in page.cards.values():
        card.tested.disconnect()
        card.test.click()
    return "Connect"


async def secure(core: FakeCore, window: Window) -> str:
    page = opened(window, ConnectPage)
    core.server.set(
        ServerStatus(
            "ready",
            "http://127.0.0.1:7777",
            secure_address="https://localhost:7778",
            certificate="/home/me/.local/share/moat/https/authority.pem",
            trust="sudo cp /home/me/.local/share/moat/https/authority.pem "
            "/usr/local/share/ca-certificates/moat.crt && sudo update-ca-certificates",
        )
    )
    await scrolled_down(page)
    return "Connect"


SCENES: dict[str, Scene] = {
    "connect": full,
    "connect-busy": busy,
    "connect-secure": secure,
    "connect-stopped": stopped,
    "connect-knocks": knocks,
}
