"""Activity: no requests yet, requests and how they ended, what left the machine."""

import time

from app.activity import ActivityPage
from app.shell.window import Window
from scripts.scenes.base import LONG_NAME, Scene, opened
from server.face.core import AnsweredRequest, Use
from tests.kit.fake_core import FakeCore

NINE = time.mktime((2026, 1, 15, 9, 0, 0, 0, 0, -1))


async def full(core: FakeCore, _window: Window) -> str:
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


async def empty(core: FakeCore, _window: Window) -> str:
    core.opened_at.set(NINE)
    return "Activity"


async def outgoing(core: FakeCore, window: Window) -> str:
    page = opened(window, ActivityPage)
    page.parts.choose(1)
    core.outgoing.set(
        (
            Use(NINE + 9, "huggingface.co:443", "searching for models", 200, 18_400),
            Use(NINE + 60, "huggingface.co:443", "downloading a model", 302, 0),
            Use(NINE + 61, "cas-bridge.xethub.hf.co:443", "downloading a model", 206, 8_388_608),
        )
    )
    return "Activity"


async def busy(core: FakeCore, window: Window) -> str:
    """Shows more requests than fit on a page. Some of them failed."""
    page = opened(window, ActivityPage)
    core.opened_at.set(NINE)
    ends = ("stop", "stop", "length", "stop", "engine_crashed", "server_busy")
    core.answered.set(
        tuple(
            AnsweredRequest(
                number,
                "a-client-with-a-long-name/12.34 (build 5678)",
                "/v1/chat/completions",
                LONG_NAME,
                NINE + number * 3,
                number % 9 + 0.4,
                ends[number % len(ends)],
                number * 91,
                number * 7,
            )
            for number in range(200)
        )
    )
    page.turn_to(0)
    return "Activity"


SCENES: dict[str, Scene] = {
    "activity": full,
    "activity-busy": busy,
    "activity-empty": empty,
    "activity-outgoing": outgoing,
}
