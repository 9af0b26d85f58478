"""Files are dropped on the page that they are for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.home import HomePage
from app.models.page import ModelsPage
from app.plugins.page import PluginsPage
from tests.kit.drops import drop
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_models_and_plugins_are_dropped_on_their_pages(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    model, archive, other = (tmp_path / name for name in ("a.gguf", "b.zip", "c.txt"))
    models, plugins = shown(ModelsPage(core)), shown(PluginsPage(core))
    assert drop(models, model, other)
    assert drop(plugins, archive)
    await until(lambda: ("models.import_file", str(model)) in core.commands)
    await until(lambda: ("plugins.install", str(archive)) in core.commands)
    assert not any(str(other) in command for command in core.commands)
    assert not drop(models, archive)
    assert not drop(plugins, model)
    assert not drop(shown(HomePage(core)), model)
