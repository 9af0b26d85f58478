"""The page of the first start."""

from pathlib import Path

from app.shell.window import Window
from app.welcome import WelcomePage
from scripts.scenes.base import Scene
from tests.kit.fake_core import FakeCore


class NoAutostart:
    def is_on(self) -> bool:
        return False

    def turn(self, *, on: bool) -> None:
        """Does nothing: taking pictures must not change the machine."""


async def welcome(core: FakeCore, window: Window) -> str:
    models = Path("/home/me/.local/share/moat/models")
    window.welcome(WelcomePage(core, NoAutostart(), models))
    return ""


SCENES: dict[str, Scene] = {"welcome": welcome}
