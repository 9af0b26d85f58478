"""Plugins: none, some, a trial, broken plugins, forms and approvals."""

import asyncio
from dataclasses import replace

from app.plugins.page import PluginsPage
from app.shell.window import Window
from scripts.scenes.base import Scene, opened
from server.errors import AppError
from server.face.plugins import OperationCard, OptionCard
from server.sentences import Sentence
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import FORM, ORDER, PORTFOLIO


async def full(core: FakeCore, window: Window) -> str:
    broker = replace(
        PORTFOLIO,
        key="broker",
        name="Broker",
        description="Quotes and orders over the broker's own interface.",
        enabled=False,
        review=True,
        shipped=False,
        hosts=("api.broker.example",),
        secrets=("BROKER_TOKEN",),
        missing_secrets=("BROKER_TOKEN",),
        runs_code=False,
        operations=(OperationCard("POST /orders", "Places an order.", "change"),),
        options=(
            OptionCard("accounts", "Folders with statements", "folders", "/home/me/statements"),
            OptionCard("server", "Address of its API", "text", "https://api.broker.example"),
        ),
        question="What is ACME worth now?",
        previous_version="0.9.0",
        sign_in="needed",
    )
    found = ("No answer of its service for an hour.",)
    news = replace(PORTFOLIO, key="news", name="News", state="warnings", findings=found)
    core.plugins.cards.set((PORTFOLIO, broker, news))
    page = opened(window, PluginsPage)
    page.list.rows[1].more.click()
    return "Plugins"


async def empty(core: FakeCore, _window: Window) -> str:
    core.plugins.cards.set(())
    return "Plugins"


async def tried(core: FakeCore, window: Window) -> str:
    core.plugins.cards.set((replace(PORTFOLIO, question="What is my portfolio worth?"),))
    page = opened(window, PluginsPage)
    (box,) = page.list.rows
    box.more.click()
    box.trial.modes["dry"].click()
    await asyncio.sleep(0.1)
    box.log.read.click()
    return "Plugins"


async def broken(core: FakeCore, window: Window) -> str:
    found = "flows/value.yaml:4:11 error endpoint There is no endpoint 'GET /valu'. 'GET /value'?"
    core.plugins.cards.set(
        (replace(PORTFOLIO, state="broken", enabled=False, shipped=False, findings=(found,)),)
    )
    window.turn_to("Plugins")
    window.show_failure(
        AppError(Sentence("The archive has an entry that leads outside: '{0}'.", "../../.profile"))
    )
    return "Plugins"


async def form(core: FakeCore, _window: Window) -> str:
    core.plugins.forms.set((FORM,))
    return "Connect"


async def approval(core: FakeCore, _window: Window) -> str:
    core.plugins.approvals.set((ORDER,))
    return "Connect"


async def busy(core: FakeCore, window: Window) -> str:
    """Shows a trial that has not returned yet."""
    core.plugins.cards.set((replace(PORTFOLIO, question="What is my portfolio worth?"),))
    (box,) = opened(window, PluginsPage).list.rows
    box.more.click()
    box.trial.asked.disconnect()
    box.trial.modes["run"].click()
    return "Plugins"


SCENES: dict[str, Scene] = {
    "plugins": full,
    "plugins-busy": busy,
    "plugins-empty": empty,
    "plugins-tried": tried,
    "plugins-broken": broken,
    "form": form,
    "approval": approval,
}
