from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.desktop import autostart
from app.desktop.autostart import File
from app.settings import SettingsPage
from app.shell.window import Window
from server.errors import AppError, BadRequest, LinkLost
from server.face.core import ServerStatus
from server.settings import EngineElsewhere, Settings
from tests.kit.fake_core import SERVING, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_every_setting_has_a_field(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    declared = {
        f"{group}.{name}" for group, settings in Settings() for name in type(settings).model_fields
    }
    assert page.fields.keys() == declared
    assert all(field.control.accessibleName() for field in page.fields.values())


async def test_a_number_is_changed_within_its_bounds(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    control = page.fields["server.port"].control
    assert (control.minimum(), control.maximum(), control.value()) == (1024, 65535, 7777)
    control.setValue(8000)
    await until(lambda: core.settings.get().server.port == 8000)


async def test_a_switch_a_choice_and_texts_are_changed(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    page.fields["server.require_key"].control.click()
    await until(lambda: core.settings.get().server.require_key)
    choice = page.fields["window.theme"].control
    choice.setCurrentIndex(choice.findData("dark"))
    await until(lambda: core.settings.get().window.theme == "dark")
    line = page.fields["network.proxy"].control
    qtbot.keyClicks(line, "http://proxy:3128")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    await until(lambda: core.settings.get().network.proxy == "http://proxy:3128")
    lines = page.fields["server.host_names"].control
    lines.setFocus()
    await until(lines.hasFocus)
    qtbot.keyClicks(lines, " moat.local ")
    page.search.setFocus()
    await until(lambda: core.settings.get().server.host_names == ("moat.local",))


async def test_a_changed_setting_can_be_reset(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    field = page.fields["model.slots"]
    assert not field.reset.isVisible()
    core.settings.set(Settings().changed("model.slots", 8))
    assert field.control.value() == 8
    assert field.reset.isVisible()
    field.reset.click()
    await until(lambda: core.settings.get().model.slots == 4)
    assert not field.reset.isVisible()


async def test_a_refused_value_is_explained_and_taken_back(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    core.refuse = BadRequest("That port is reserved.")
    field = page.fields["server.port"]
    field.control.setValue(9000)
    await until(lambda: field.problem.text() == "That port is reserved.")
    assert field.problem.isVisible()
    assert field.control.value() == 7777


async def test_starting_at_login_is_turned_on_and_off_with_the_keyboard(
    qtbot: QtBot, core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    entry = File(tmp_path / "moat.desktop", "x")
    page = shown(SettingsPage(core, entry))
    control = page.at_login.control
    assert control.accessibleName() == "Start Moat when I log in"
    assert not control.isChecked()
    qtbot.keyClick(control, Qt.Key.Key_Space)
    await until(entry.is_on)
    await until(page.at_login.reset.isVisible)
    qtbot.keyClick(control, Qt.Key.Key_Space)
    await until(lambda: not entry.is_on())
    assert core.commands == []


async def test_what_starts_at_login_is_looked_up_whenever_the_page_is_shown(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    entry = File(tmp_path / "moat.desktop", "x")
    page = shown(SettingsPage(core, entry))
    page.hide()
    entry.turn(on=True)
    page.show()
    assert page.at_login.control.isChecked()


async def test_a_start_at_login_that_cannot_be_changed_is_told_and_taken_back(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    (tmp_path / "autostart").write_text("a file where a folder should be")
    page = shown(SettingsPage(core, File(tmp_path / "autostart" / "moat.desktop", "x")))
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.at_login.control.click()
    await until(lambda: told)
    assert "Starting at login could not be changed" in told[0]
    assert not page.at_login.control.isChecked()


async def test_the_windows_own_settings_page_has_it(
    core: FakeCore, memory: QSettings, shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autostart, "find", lambda: File(tmp_path / "moat.desktop", "x"))
    window = shown(Window(core, memory))
    window.turn_to("Settings")
    window.page().search.setText("log in")
    assert window.page().at_login.isVisible()
    window.page().at_login.control.click()
    await until((tmp_path / "moat.desktop").exists)


async def test_searching_shows_what_matches(qtbot: QtBot, core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    qtbot.keyClicks(page.search, "proxy")
    visible = [name for name, field in page.fields.items() if field.isVisible()]
    assert visible == ["network.proxy"]
    page.search.setText("nothing like this")
    assert page.nothing.isVisible()
    page.search.clear()
    assert all(field.isVisible() for field in page.fields.values())


async def test_showing_a_value_changes_nothing(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    core.settings.set(Settings().changed("server.port", 8123).changed("window.theme", "light"))
    assert page.fields["server.port"].control.value() == 8123
    assert core.commands == []


async def test_settings_are_exported_and_imported_together(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    core.settings.set(Settings().changed("server.port", 8123).changed("window.theme", "dark"))
    page = shown(SettingsPage(core))
    page.export_to(tmp_path / "settings.json")
    core.settings.set(Settings())
    await page.import_from(tmp_path / "settings.json")
    assert core.settings.get().server.port == 8123
    assert core.settings.get().window.theme == "dark"
    assert core.commands == [
        ("change_settings", {"server.port": 8123, "window.theme": "dark"}),
    ]


async def test_a_file_without_settings_changes_nothing(
    core: FakeCore, shown: Shown, tmp_path: Path
) -> None:
    page = shown(SettingsPage(core))
    for text in ("", "[]", '{"server": 3}', "\0"):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(AppError, match="contains no Moat settings"):
            await page.import_from(tmp_path / "x.json")
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    page.export_to(tmp_path / "x.json" / "y.json")
    assert "could not be exported" in told[0]
    assert core.commands == []


async def test_a_new_version_is_looked_for_only_when_that_is_wanted(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    assert not page.about.look.isEnabled()
    await core.change_setting("updates.look", True)
    page.about.look.click()
    await until(lambda: "9.9.9" in page.about.update_line.text())
    await until(lambda: "llama-cpp-python" in page.about.engine.text())


async def test_the_engine_is_asked_for_again_when_there_is_a_server(
    core: FakeCore, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window is there before its server is: that is no failure to tell."""
    build = core.models.engine_build
    asked: list[str] = []

    async def not_yet() -> str:
        asked.append("engine")
        raise LinkLost

    monkeypatch.setattr(core.models, "engine_build", not_yet)
    core.server.set(ServerStatus())
    page = SettingsPage(core)
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    shown(page)
    await until(lambda: asked)
    monkeypatch.setattr(core.models, "engine_build", build)
    core.server.set(SERVING)
    await until(lambda: page.about.engine.text())
    assert told == []


ADDRESS = "http://elsewhere:1"


def another(value: Any, info: FieldInfo) -> Any:
    """One that is not the default, as the field may hold it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return next(bound.le for bound in info.metadata if hasattr(bound, "le"))
    if get_origin(info.annotation) is Literal:
        return get_args(info.annotation)[-1]
    if get_origin(info.annotation) is tuple:
        return (0.5, 3.0) if get_args(info.annotation)[0] is float else (ADDRESS, f"{ADDRESS}2")
    return ADDRESS


async def test_every_field_shows_what_is_not_its_default(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    special = {"server.host_names": ("box", "box:1"), "server.proxies": ("10.0.0.0/8", "::1")}
    for name, field in page.fields.items():
        group, setting = name.split(".")
        info = type(getattr(Settings(), group)).model_fields[setting]
        value = special.get(name) or another(field.default, info)
        core.settings.set(Settings().changed(name, value))
        assert field.reset.isVisible(), name
    assert core.commands == []


async def test_numbers_one_in_a_line_are_changed_only_when_they_are_others(
    core: FakeCore, shown: Shown
) -> None:
    core.settings.set(Settings().changed("model.gpu_split", [3, 0.5]))
    page = shown(SettingsPage(core))
    lines = page.fields["model.gpu_split"].control
    assert lines.toPlainText() == "3\n0.5"
    for text in ("3\n0.5", "3\n1"):
        lines.setFocus()
        await until(lines.hasFocus)
        lines.setPlainText(text)
        page.search.setFocus()
        await until(page.search.hasFocus)
    await until(lambda: core.settings.get().model.gpu_split == (3.0, 1.0))
    assert core.commands == [("change_setting", "model.gpu_split", ("3", "1"))]


async def test_the_page_says_that_the_key_travels_unencrypted_in_the_network(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    field = page.fields["server.plain_network"]
    assert "unencrypted" in field.help.text()
    assert "by HTTPS" in page.fields["server.listen"].help.text()
    network = Settings().changed("server.listen", "network")
    core.settings.set(network)
    assert field.problem.isHidden()
    core.settings.set(network.changed("server.plain_network", value=True))
    assert "without encryption" in field.problem.text()
    assert not field.problem.isHidden()
    core.settings.set(Settings())
    assert field.problem.isHidden()


async def test_engines_elsewhere_are_lines_that_keep_what_they_do_not_show(
    core: FakeCore, shown: Shown
) -> None:
    known = EngineElsewhere(name="a", urls=("gpu:1",), context_tokens=4096)
    core.settings.set(Settings().changed("engines.elsewhere", [known]))
    page = shown(SettingsPage(core))
    control = page.fields["engines.elsewhere"].control
    assert control.toPlainText() == "a=http://gpu:1/v1"
    control.setPlainText("a=http://gpu:1/v1\nb=gpu:2,gpu:3#org/m")
    control.focusOutEvent(QFocusEvent(QEvent.Type.FocusOut))
    await until(lambda: len(core.settings.get().engines.elsewhere) == 2)
    added = EngineElsewhere(name="b", urls=("gpu:2", "gpu:3"), model="org/m")
    assert core.settings.get().engines.elsewhere == (known, added)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("theme", "window.theme"),
        ("Dark Mode", "window.theme"),
        ("language", "window.language"),
        ("deutsch", "window.language"),
        ("window theme", "window.theme"),
        ("gpu", "model.gpu_layers"),
    ],
)
async def test_a_setting_is_found_by_the_words_people_use(
    text: str, name: str, core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    page.filter(text)
    assert page.fields[name].isVisible()
    assert not page.fields["server.max_body_mb"].isVisible()


async def test_a_number_out_of_bounds_is_answered_and_not_swallowed(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(SettingsPage(core))
    field = page.fields["server.port"]
    field.control.selectAll()
    QTest.keyClicks(field.control, "99999")
    QTest.keyClick(field.control, Qt.Key.Key_Return)
    assert field.problem.text() == (
        "99999 is not possible here. Enter a number from 1,024 to 65,535."
    )
    assert field.control.value() == Settings().server.port


async def test_a_switch_says_what_it_is(core: FakeCore, shown: Shown) -> None:
    page = shown(SettingsPage(core))
    switch = page.fields["server.https"].control
    assert switch.text() == "Off"
    core.settings.set(Settings().changed("server.https", value=True))
    assert switch.text() == "On"
    switch.click()
    assert switch.text() == "Off"
