import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.desktop.autostart import File
from app.look import theme
from app.look.theme import DARK, LIGHT
from app.shell import session as sessions
from app.shell.session import NO_TRAY, Session, wanted_at_start
from app.shell.tray import Tray
from app.welcome import WelcomePage
from server.settings import Settings
from tests.kit.fake_core import FakeCore
from tests.kit.until import until


@pytest.fixture
def has_tray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offscreen there is never a tray host; this says there is one."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)


@pytest.fixture
def session(qapp: QApplication, core: FakeCore, memory: QSettings) -> Iterator[Session]:
    made = Session(qapp, core, Tray(core), memory)
    yield made
    made.close()
    made.window.deleteLater()
    theme.apply(qapp, "light")


async def test_closing_the_window_keeps_moat_in_the_tray(has_tray: None, session: Session) -> None:
    session.open(hidden=False)
    session.window.close()
    assert not session.quit.is_set()
    session.tray.wants_window.emit()
    assert session.window.isVisible()


async def test_closing_quits_when_the_person_wants_it_so(
    has_tray: None, session: Session, core: FakeCore
) -> None:
    core.settings.set(Settings().changed("window.close_to_tray", False))
    session.open(hidden=False)
    session.window.close()
    assert session.quit.is_set()


async def test_moat_quit_in_a_terminal_ends_the_window_too(
    session: Session, core: FakeCore
) -> None:
    session.open(hidden=True)
    await core.quit()
    assert session.quit.is_set()


async def test_without_a_tray_closing_quits(session: Session) -> None:
    session.open(hidden=False)
    session.window.close()
    assert session.quit.is_set()


async def test_without_a_tray_even_a_hidden_start_shows_the_window(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_TRAY_PATIENCE_S", 0.05)
    session.open(hidden=True)
    assert not session.window.isVisible()
    await until(session.window.isVisible)
    assert session.window.notice.text.text() == NO_TRAY


async def test_with_a_tray_a_hidden_start_stays_hidden(has_tray: None, session: Session) -> None:
    session.open(hidden=True)
    assert not session.window.isVisible()


async def test_quit_in_the_menu_ends_the_session(session: Session) -> None:
    session.tray.wants_quit.emit()
    assert session.quit.is_set()


async def test_the_keyboard_quits_too(session: Session) -> None:
    keys = {found.key().toString(): found for found in session.window.findChildren(QShortcut)}
    keys["Ctrl+Q"].activated.emit()
    assert session.quit.is_set()


async def test_logs_in_the_menu_shows_them(session: Session) -> None:
    session.tray.wants_logs.emit()
    assert session.window.isVisible()
    assert session.window.page().title == "Logs"


async def test_the_look_follows_the_setting_and_is_remembered(
    session: Session, core: FakeCore, memory: QSettings, qapp: QApplication
) -> None:
    core.settings.set(Settings().changed("window.theme", "dark"))
    assert theme.colours_of(qapp.palette()) is DARK
    assert memory.value("window/theme") == "dark"
    core.settings.set(Settings())
    assert theme.colours_of(qapp.palette()) is LIGHT


async def test_during_the_welcome_the_menu_leads_to_the_welcome(
    session: Session, tmp_path: Path
) -> None:
    session.welcome(File(tmp_path / "x", "x"), tmp_path)
    welcome = session.window.page()
    session.tray.wants_logs.emit()
    assert session.window.isVisible()
    assert session.window.page() is welcome
    assert isinstance(welcome, WelcomePage)
    welcome.begin.click()
    await until(lambda: session.window.page().title == "Chat")
    session.tray.wants_logs.emit()
    assert session.window.page().title == "Logs"
    assert session.window.buttons[0].isVisible()


def write_window(path: Path, **values: str) -> None:
    path.write_text(json.dumps({"window": values}))


def test_a_language_in_the_settings_file_counts_at_the_first_start(
    tmp_path: Path, memory: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "settings.json"
    memory.setValue("window/language", "zh")
    assert wanted_at_start(saved, memory).window.language == "zh"
    write_window(saved, language="de", theme="dark")
    assert wanted_at_start(saved, memory).window.language == "de"
    assert wanted_at_start(saved, memory).window.theme == "dark"
    write_window(saved, theme="light")
    assert wanted_at_start(saved, memory).window.language == "system"
    monkeypatch.setenv("MOAT_WINDOW__LANGUAGE", "zh")
    assert wanted_at_start(saved, memory).window.language == "zh"


@pytest.mark.parametrize("broken", ["{", "[]", '{"window": 3}', '{"window": {"language": "xx"}}'])
def test_a_broken_settings_file_does_not_stop_the_window(
    tmp_path: Path, memory: QSettings, broken: str
) -> None:
    saved = tmp_path / "settings.json"
    saved.write_text(broken)
    assert wanted_at_start(saved, memory).window.language == "system"
    write_window(tmp_path / "settings.backup.json", language="de")
    expected = "system" if "xx" in broken else "de"
    assert wanted_at_start(saved, memory).window.language == expected
