"""Scenes of the pages about connecting, models, the machine and what went on."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from app.pages.activity import ActivityPage
from app.pages.connect import ConnectPage
from app.pages.hardware import HardwarePage
from app.pages.models import DISCOVER, DOWNLOADS, HERE, ModelsPage
from app.pages.plugins import PluginsPage
from app.pages.welcome import WelcomePage
from app.probe import Outcome
from app.window import Window
from server.abilities import OperationCard, OptionCard
from server.face import AnsweredRequest, Knock, ModelStatus, ServerStatus, Use
from server.stock import Device, Download, Fit, Suggestion
from tests.fake_core import FakeCore
from tests.fake_plugins import FORM, ORDER, PORTFOLIO
from tests.fake_shelf import AT_FORTY, MACHINE, SUGGESTED, TOO_LARGE

Scene = Callable[[FakeCore, Window], Awaitable[str]]
BROWSER = "Mozilla"
TIGHT = Fit("tight", "It takes 10.9 GB of the 12.0 GB free; close other programs first.")
SUGGESTIONS: list[Suggestion] = [
    SUGGESTED,
    replace(SUGGESTED, file="b", title="Qwen3 14B", recommended=False, fit=TIGHT),
    replace(SUGGESTED, file="c", title="Qwen3 30B A3B", recommended=False, fit=TOO_LARGE),
    replace(SUGGESTED, file="d", title="Qwen3 0.6B", recommended=False, installed=True),
]
NINE = time.mktime((2026, 1, 15, 9, 0, 0, 0, 0, -1))


async def connect(_core: FakeCore, _window: Window) -> str:
    return "Connect"


async def connect_stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    return "Connect"


async def connect_knocks(core: FakeCore, window: Window) -> str:
    window.turn_to("Connect")
    page = window.page()
    assert isinstance(page, ConnectPage)
    core.knocks.set(
        (
            Knock(NINE + 11, "https://workspace.bank.example", "OPTIONS", BROWSER, "origin"),
            Knock(NINE + 40, "", "POST", "openai-python", "key"),
            Knock(NINE + 55, "https://pro.openbb.dev", "OPTIONS", BROWSER, "let in"),
            Knock(NINE + 70, "https://pro.openbb.co", "GET", BROWSER, "let in"),
        )
    )
    found = "GET /agents.json was answered in 4 ms. It found the agent “Moat”."
    page.cards["workspace"].show_outcome(Outcome(ok=True, text=found))
    page.cards["openai"].show_outcome(Outcome(ok=False, text="The access key is missing or wrong."))
    return "Connect"


def _models(window: Window, part: int) -> ModelsPage:
    window.turn_to("Models")
    page = window.page()
    assert isinstance(page, ModelsPage)
    page.parts.choose(part)
    return page


async def models_here(_core: FakeCore, window: Window) -> str:
    _models(window, HERE)
    return "Models"


async def models_empty(core: FakeCore, window: Window) -> str:
    core.models.set(())
    core.model.set(ModelStatus())
    _models(window, HERE)
    return "Models"


async def models_delete(_core: FakeCore, window: Window) -> str:
    _models(window, HERE).installed.list.rows[1].delete.click()
    return "Models"


async def models_discover(_core: FakeCore, window: Window) -> str:
    page = _models(window, DISCOVER)
    await asyncio.sleep(0.1)
    page.discover.show_suggestions(SUGGESTIONS)
    return "Models"


async def models_searching(_core: FakeCore, window: Window) -> str:
    page = _models(window, DISCOVER)
    page.discover.search.setText("qwen3")
    await asyncio.sleep(0.1)
    await page.search("qwen3")
    page.discover.show_busy("Reading the files of Qwen/Qwen3-8B-GGUF…")
    return "Models"


async def models_listing(_core: FakeCore, window: Window) -> str:
    page = _models(window, DISCOVER)
    await asyncio.sleep(0.1)
    await page.open("maker/model-GGUF")
    return "Models"


async def downloads(core: FakeCore, window: Window) -> str:
    _models(window, DOWNLOADS)
    reason = "The disk is full: 1.2 GB are missing. Free some space and try again."
    core.downloads.set(
        (
            AT_FORTY,
            Download("d2", "Qwen3-1.7B-Q8_0.gguf", "Qwen", "paused", 900_000_000, 1_830_000_000),
            Download("d3", "Phi-4-mini-Q4_K_M.gguf", "a/b", "failed", 1, 2, reason=reason),
            Download("d4", "gemma-3-4b-it-Q4_K_M.gguf", "a/b", "verifying", 9, 10),
            Download("d5", "bge-small-en-Q8_0.gguf", "a/b", "done", 37_000_000, 37_000_000),
        )
    )
    return "Models"


async def hardware(_core: FakeCore, _window: Window) -> str:
    return "Hardware"


async def hardware_tight(_core: FakeCore, window: Window) -> str:
    window.turn_to("Hardware")
    page = window.page()
    assert isinstance(page, HardwarePage)
    await asyncio.sleep(0.3)
    page.sliders["context_tokens"].slider.setValue(7)
    await asyncio.sleep(0.3)
    card = Device("NVIDIA RTX 4070", "CUDA", 9_900_000_000, 12_000_000_000)
    note = "This build of the engine has no CUDA: models run on the processor."
    page.show_machine(replace(MACHINE, devices=(card,), note=note, features=("AVX2", "FMA")))
    page.sliders["context_tokens"].slider.setValue(7)
    return "Hardware"


async def activity(core: FakeCore, _window: Window) -> str:
    core.opened_at.set(NINE)
    chat, openbb = "/v1/chat/completions", "/v1/agent/query"
    rows = (
        ("openai-python", chat, 42, 187, 3.4, "stop"),
        ("Mozilla", openbb, 8214, 512, 21.7, "stop"),
        ("Mozilla", "/agents.json", 0, 0, 0.0, "stop"),
        ("continue", chat, 1900, 2048, 62.0, "length"),
        ("", chat, 0, 0, 12.5, "engine_crashed"),
        ("Moat window", chat, 30, 77, 1.9, "cancelled"),
    )
    core.answered.set(
        tuple(
            AnsweredRequest(n, who, route, "Qwen3-8B", NINE + n * 37, took, end, read, wrote)
            for n, (who, route, read, wrote, took, end) in enumerate(rows)
        )
    )
    return "Activity"


async def activity_empty(core: FakeCore, _window: Window) -> str:
    core.opened_at.set(NINE)
    return "Activity"


async def activity_outgoing(core: FakeCore, window: Window) -> str:
    window.turn_to("Activity")
    page = window.page()
    assert isinstance(page, ActivityPage)
    page.parts.choose(1)
    core.outgoing.set(
        (
            Use(NINE + 9, "huggingface.co:443", "find models", 200, 18_400),
            Use(NINE + 60, "huggingface.co:443", "download a model", 302, 0),
            Use(NINE + 61, "cas-bridge.xethub.hf.co:443", "download a model", 206, 8_388_608),
        )
    )
    return "Activity"


class NoAutostart:
    def is_on(self) -> bool:
        return True

    def turn(self, *, on: bool) -> None:
        raise NotImplementedError


async def welcome(core: FakeCore, window: Window) -> str:
    models = Path("/home/me/.local/share/moat/models")
    window.welcome(WelcomePage(core, NoAutostart(), models))
    return ""


async def plugins(core: FakeCore, window: Window) -> str:
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
    core.plugins.set((PORTFOLIO, broker, news))
    window.turn_to("Plugins")
    page = window.page()
    assert isinstance(page, PluginsPage)
    page.list.rows[1].more.click()
    return "Plugins"


async def plugins_empty(core: FakeCore, _window: Window) -> str:
    core.plugins.set(())
    return "Plugins"


async def plugins_tried(core: FakeCore, window: Window) -> str:
    core.plugins.set((replace(PORTFOLIO, question="What is my portfolio worth?"),))
    window.turn_to("Plugins")
    page = window.page()
    assert isinstance(page, PluginsPage)
    (box,) = page.list.rows
    box.more.click()
    box.trial.modes["dry"].click()
    await asyncio.sleep(0.1)
    box.log.read.click()
    return "Plugins"


async def plugins_broken(core: FakeCore, window: Window) -> str:
    found = "flows/value.yaml:4:11 error endpoint There is no endpoint 'GET /valu'. 'GET /value'?"
    core.plugins.set(
        (replace(PORTFOLIO, state="broken", enabled=False, shipped=False, findings=(found,)),)
    )
    window.turn_to("Plugins")
    window.show_failure("evil.zip is refused: it holds a path that leads out of its folder.")
    return "Plugins"


async def form(core: FakeCore, window: Window) -> str:
    core.forms.set((FORM,))
    return await connect(core, window)


async def approval(core: FakeCore, window: Window) -> str:
    core.approvals.set((ORDER,))
    return await connect(core, window)


MORE_SCENES: dict[str, Scene] = {
    "welcome": welcome,
    "connect": connect,
    "connect-stopped": connect_stopped,
    "connect-knocks": connect_knocks,
    "hardware": hardware,
    "hardware-tight": hardware_tight,
    "activity": activity,
    "activity-empty": activity_empty,
    "activity-outgoing": activity_outgoing,
    "plugins": plugins,
    "plugins-empty": plugins_empty,
    "plugins-tried": plugins_tried,
    "plugins-broken": plugins_broken,
    "form": form,
    "approval": approval,
    "models-here": models_here,
    "models-empty": models_empty,
    "models-delete": models_delete,
    "models-discover": models_discover,
    "models-searching": models_searching,
    "models-listing": models_listing,
    "models-downloads": downloads,
}
