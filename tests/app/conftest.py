"""Page tests run on the real Qt loop: an `async def` test may await and click."""

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop.loop import Loop
from app.look import theme, translate
from tests.kit.fake_core import FakeCore


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qt": lambda: Loop(_application())}


@cache
def _application() -> QApplication:
    """Kept for all tests: a second one in the same process would not work."""
    known = QApplication.instance()
    return known if isinstance(known, QApplication) else QApplication([])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform warns about what a window without a screen cannot do."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    theme.prepare(qapp)
    theme.apply(qapp, "light")
    return qapp


@pytest.fixture
def core(qapp: QApplication) -> FakeCore:
    """Serving, with the starter loaded."""
    return FakeCore.ready()


@pytest.fixture
def memory(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def speak(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    """Lets the window speak a language for the length of the test."""
    installed: list[translate.Translator] = []

    def install(language: str) -> None:
        translator = translate.install(language)
        assert translator
        installed.append(translator)

    yield install
    for one in installed:
        qapp.removeTranslator(one)


@pytest.fixture
def qtbot(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> QtBot:
    """Keeps widgets until the test has ended; else only the test's variables would.

    The garbage collection after its last line may run while such a widget is painted: that crashed.
    """
    kept: list[Any] = []
    add = qtbot.addWidget

    def keep(widget: Any, **more: Any) -> None:
        kept.append(widget)
        add(widget, **more)

    monkeypatch.setattr(qtbot, "addWidget", keep)
    return qtbot


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Callable[[Any], Any]]:
    """Shows a widget for the length of the test."""

    def show(widget: Any) -> Any:
        qtbot.addWidget(widget)
        widget.resize(1000, 700)
        widget.show()
        return widget

    return show
