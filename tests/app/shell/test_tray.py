from dataclasses import replace

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.shell.tray import Tray
from server.face.core import ModelStatus, RunningRequest, ServerStatus
from server.face.plugins import Approval
from tests.kit.fake_core import LARGE, STARTER, FakeCore
from tests.kit.fake_plugins import FORM, PORTFOLIO
from tests.kit.fake_shelf import AT_FORTY
from tests.kit.until import until


def texts(tray: Tray) -> list[str]:
    return [action.text() for action in tray.menu.actions() if action.text()]


def entry(tray: Tray, text: str) -> QAction:
    """As a panel does: the menu is announced, then read."""
    tray.menu.aboutToShow.emit()
    return next(action for action in tray.menu.actions() if action.text() == text)


def models(tray: Tray) -> dict[str, QAction]:
    menu = entry(tray, "Model").menu()
    assert menu
    return {action.text(): action for action in menu.actions() if action.text()}  # type: ignore[attr-defined]


async def test_the_menu_is_made_from_the_state_each_time(core: FakeCore) -> None:
    tray = Tray(core)
    assert texts(tray) == [
        "Moat is ready",
        "Stop",
        "Model",
        "Copy address",
        "Open Moat",
        "Logs",
        "Quit Moat",
    ]
    core.server.set(ServerStatus("stopped"))
    assert entry(tray, "Start").isEnabled()
    assert not entry(tray, "Copy address").isEnabled()
    core.server.set(ServerStatus("starting"))
    assert not entry(tray, "Start").isEnabled()
    tray.close()


async def test_the_host_that_prompts_go_to_is_named(core: FakeCore) -> None:
    tray = Tray(core)
    assert "gpu" not in tray.icon.toolTip()
    core.model.set(ModelStatus("ready", "far", hosts=("gpu:8000",)))
    tray.build()
    said = "far runs at gpu:8000. Prompts are sent there."
    assert said in tray.icon.toolTip()
    assert said in [action.text() for action in tray.menu.actions()]
    tray.close()


async def test_start_and_stop(core: FakeCore) -> None:
    tray = Tray(core)
    entry(tray, "Stop").trigger()
    await until(lambda: core.commands == [("stop",)])
    entry(tray, "Start").trigger()
    await until(lambda: core.commands == [("stop",), ("start",)])
    tray.close()


async def test_the_model_is_switched_and_unloaded(core: FakeCore) -> None:
    tray = Tray(core)
    assert models(tray)[STARTER.name].isChecked()
    assert not models(tray)[LARGE.name].isChecked()
    models(tray)[LARGE.name].trigger()
    await until(lambda: core.model.get().name == LARGE.name)
    models(tray)["Unload"].trigger()
    await until(lambda: core.model.get().phase == "empty")
    assert "Unload" not in models(tray)
    tray.close()


async def test_without_models_the_menu_says_so(qapp: QApplication) -> None:
    tray = Tray(FakeCore())
    assert not models(tray)["No model installed"].isEnabled()
    tray.close()


async def test_the_address_is_copied(core: FakeCore) -> None:
    tray = Tray(core)
    entry(tray, "Copy address").trigger()
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:7777"
    tray.close()


async def test_the_wishes_of_the_person_are_signals(core: FakeCore, qtbot: QtBot) -> None:
    tray = Tray(core)
    for text, signal in (
        ("Open Moat", tray.wants_window),
        ("Logs", tray.wants_logs),
        ("Quit Moat", tray.wants_quit),
    ):
        with qtbot.waitSignal(signal, timeout=30_000):
            entry(tray, text).trigger()
    tray.close()


async def test_the_look_follows_the_state(core: FakeCore) -> None:
    tray = Tray(core)
    pictures = [tray.icon.icon().pixmap(22).toImage()]
    assert tray.icon.toolTip() == "Moat: Moat is ready"
    core.requests.set((RunningRequest(1, "c", "/r", "m", 0, "writing"),))
    pictures.append(tray.icon.icon().pixmap(22).toImage())
    core.model.set(ModelStatus("loading", "m", 0.5))
    pictures.append(tray.icon.icon().pixmap(22).toImage())
    core.server.set(ServerStatus("failed", reason="No."))
    pictures.append(tray.icon.icon().pixmap(22).toImage())
    core.server.set(ServerStatus("stopped"))
    pictures.append(tray.icon.icon().pixmap(22).toImage())
    assert all(a != b for i, a in enumerate(pictures) for b in pictures[i + 1 :])
    tray.close()


async def test_a_closed_tray_hears_nothing(core: FakeCore) -> None:
    tray = Tray(core)
    tray.close()
    core.server.set(ServerStatus("stopped"))
    assert tray.icon.toolTip() == "Moat: Moat is ready"


async def test_rebuilding_the_menu_leaves_nothing_behind(core: FakeCore) -> None:
    tray = Tray(core)
    before = len(tray.menu.children())
    for _ in range(50):
        tray.menu.aboutToShow.emit()
    await until(lambda: len(tray.menu.children()) <= before + 10)
    tray.close()


async def test_running_requests_are_listed_and_cancelled(core: FakeCore) -> None:
    tray = Tray(core)
    core.requests.set((RunningRequest(7, "OpenBB", "/r", "m", 0, "writing", 3),))
    menu = entry(tray, "Running requests (1)").menu()
    assert menu
    (cancel,) = menu.actions()  # type: ignore[attr-defined]
    assert cancel.text() == "Cancel OpenBB: Writing: 3 tokens so far"
    cancel.trigger()
    await until(lambda: core.commands == [("cancel_request", 7)])
    tray.close()


async def test_downloads_and_questions_are_announced(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tray = Tray(core)
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(tray, "tell", lambda title, text: told.append((title, text)))
    core.models.downloads.set((AT_FORTY,))
    core.models.downloads.set((replace(AT_FORTY, phase="failed", reason="The disk is full."),))
    core.models.downloads.set((replace(AT_FORTY, phase="done"),))
    core.plugins.approvals.set((Approval("a", "p", "o", "change", "Send an order", "https://x"),))
    assert told == [
        ("Download failed", "m-Q4_K_M.gguf: The disk is full."),
        ("Download finished", "m-Q4_K_M.gguf"),
        ("A plugin asks for your permission", "Send an order"),
    ]
    tray.close()


async def test_plugins_are_paused_and_resumed(core: FakeCore) -> None:
    tray = Tray(core)
    assert "Pause plugins" not in texts(tray)
    core.plugins.cards.set((PORTFOLIO, replace(PORTFOLIO, key="off", enabled=False)))
    entry(tray, "Pause plugins").trigger()
    await until(lambda: core.commands == [("change_setting", "plugins.paused", True)])
    entry(tray, "Resume plugins").trigger()
    await until(lambda: ("change_setting", "plugins.paused", False) in core.commands)
    tray.menu.aboutToShow.emit()
    assert "Resume plugins" not in texts(tray)
    tray.close()


async def test_models_used_last_come_first_also_after_a_restart(
    core: FakeCore, memory: QSettings
) -> None:
    small = replace(LARGE, name="a-model-never-used")
    core.models.cards.set((small, STARTER, LARGE))
    tray = Tray(core, memory)
    assert list(models(tray))[:2] == [STARTER.name, small.name]
    core.model.set(ModelStatus("ready", LARGE.name, 1.0))
    assert list(models(tray))[:3] == [LARGE.name, STARTER.name, small.name]
    tray.close()
    core.model.set(ModelStatus())
    again = Tray(core, memory)
    assert list(models(again)) == [LARGE.name, STARTER.name, small.name]
    again.close()


async def test_a_form_that_waits_is_told(core: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    tray = Tray(core)
    monkeypatch.setattr(tray, "tell", lambda title, _text: told.append(title))
    core.plugins.forms.set((FORM,))
    core.plugins.forms.set((FORM,))
    assert told == ["broker needs more information"]
    tray.close()


async def test_a_load_can_be_stopped_from_the_menu(core: FakeCore) -> None:
    tray = Tray(core)
    core.model.set(ModelStatus("loading", LARGE.name, 0.4))
    assert entry(tray, "Model").isEnabled()
    models(tray)["Stop loading"].trigger()
    await until(lambda: core.model.get().phase == "empty")
    assert "Stop loading" not in models(tray)
    tray.close()


async def test_a_download_that_failed_before_is_not_told_again(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tray = Tray(core)
    told: list[str] = []
    monkeypatch.setattr(tray, "tell", lambda title, _text: told.append(title))
    failed = replace(AT_FORTY, phase="failed", reason="The disk is full.")
    for _ in range(2):
        core.models.downloads.set((failed,))
        core.models.downloads.set(())
    assert told == []
    core.models.downloads.set((AT_FORTY,))
    core.models.downloads.set(())
    core.models.downloads.set((replace(AT_FORTY, phase="done"),))
    assert told == ["Download finished"]
    tray.close()
