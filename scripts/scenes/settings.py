"""Settings: the defaults, changed and refused values, nothing found, about."""

from app.settings import SettingsPage
from app.shell.window import Window
from scripts.scenes.base import Scene, opened, scrolled_down
from server.face.core import Update
from server.sentences import Sentence
from tests.kit.fake_core import FakeCore


async def full(_core: FakeCore, _window: Window) -> str:
    return "Settings"


async def changed(core: FakeCore, window: Window) -> str:
    """Shows changed settings with their way back, and a refused one with its reason."""
    await core.change_settings({"server.port": 9000, "server.require_key": True})
    page = opened(window, SettingsPage)
    page.fields["server.port"].show_problem(
        Sentence("Port {0} is taken{1}.", 9000, Sentence(" by {0}", "nginx"))
    )
    return "Settings"


async def nothing(_core: FakeCore, window: Window) -> str:
    opened(window, SettingsPage).search.setText("no such setting")
    return "Settings"


async def about(core: FakeCore, window: Window) -> str:
    page = opened(window, SettingsPage)
    core.update.set(Update(1.0, "0.3.0", "https://moat.example/0.3.0"))
    await scrolled_down(page)
    return "Settings"


SCENES: dict[str, Scene] = {
    "settings": full,
    "settings-changed": changed,
    "settings-about": about,
    "settings-nothing": nothing,
}
