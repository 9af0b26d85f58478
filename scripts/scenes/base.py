"""The type of a scene: a function that sets up a state and returns the title of its page."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from PySide6.QtWidgets import QScrollArea

from app.look.page import Page
from app.shell.window import Window
from server.sentences import Sentence
from server.sizes import in_gb
from tests.kit.fake_core import FakeCore

Scene = Callable[[FakeCore, Window], Awaitable[str]]
AnyPage = TypeVar("AnyPage", bound=Page)
LAID_OUT_S = 0.15
"""Time for a page to be laid out, in seconds."""
LONG_NAME = (
    "Mixtral-8x22B-Instruct-v0.1-with-a-very-long-name-that-never-ends-Q4_K_M-00001-of-00005"
)


def lacking(needed: float, free: float) -> Sentence:
    """Returns the sentence about a model that lacks memory."""
    needs = Sentence("It needs {0} and {1} are free", in_gb(needed), in_gb(free))
    return Sentence("{0}: close other programs, or choose a smaller model.", needs)


def opened(window: Window, kind: type[AnyPage]) -> AnyPage:
    window.turn_to(kind.title)
    page = window.page()
    assert isinstance(page, kind)
    return page


async def scrolled_down(page: Page) -> None:
    await asyncio.sleep(LAID_OUT_S)
    area = page.findChild(QScrollArea)
    assert isinstance(area, QScrollArea)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
