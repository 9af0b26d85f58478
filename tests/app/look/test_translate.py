import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QSettings
from PySide6.QtWidgets import QApplication

from app.look import translate
from app.look.translate import CONTEXT, ENGLISH, FOLDER, LANGUAGES, SERVER, read, tr
from app.shell.session import Session
from app.shell.tray import Tray
from app.shell.window import PAGES, Window
from scripts.translations import contexts, texts, write
from server.settings import Settings
from tests.kit.fake_core import FakeCore

HAN = re.compile(r"[\u4e00-\u9fff]")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_with_the_same_places(language: str) -> None:
    for name, found in contexts().items():
        known = read(FOLDER / f"moat_{language}.ts", name)
        assert [text for text in found if not known.get(text)] == []
        assert [text for text in found if places(text) != places(known[text])] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_nobody_says_any_more_is_not_kept(language: str) -> None:
    for name, found in contexts().items():
        known = read(FOLDER / f"moat_{language}.ts", name)
        assert sorted(set(known) - set(found)) == []


def test_chinese_is_chinese() -> None:
    for name, found in contexts().items():
        known = read(FOLDER / "moat_zh.ts", name)
        sentences = [text for text in found if text.endswith(".")]
        assert [text for text in sentences if not HAN.search(known[text])] == []


def test_a_new_text_comes_as_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "moat_de.ts"
    first = texts()[0]
    missing = write(path, "de", {CONTEXT: {first: "Da & dort"}})
    assert missing == sum(map(len, contexts().values())) - 1
    assert read(path) == {first: "Da & dort"}
    assert read(path, SERVER) == {}


def test_the_language_spoken_is_known(speak: Callable[[str], None]) -> None:
    assert translate.language() == ENGLISH
    speak("de")
    assert translate.language() == "de"


def test_without_a_translation_a_text_stays(speak: Callable[[str], None]) -> None:
    assert tr("Connect") == "Connect"
    speak("de")
    assert tr("Connect") == "Verbinden"
    assert tr("Nobody translated this.") == "Nobody translated this."


def test_english_and_unknown_system_languages_need_no_file(
    monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    assert translate.install("en") is None
    monkeypatch.setattr(translate.QLocale, "system", lambda: translate.QLocale("fr_FR"))
    assert translate.choose("system") == "en"
    monkeypatch.setattr(translate.QLocale, "system", lambda: translate.QLocale("zh_CN"))
    assert translate.choose("system") == "zh"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_opens_in_every_language(
    language: str, speak: Callable[[str], None], core: FakeCore, memory: QSettings
) -> None:
    speak(language)
    window = Window(core, memory)
    for page in PAGES:
        window.turn_to(page.title)
        assert window.page().title == page.title
    known = read(FOLDER / f"moat_{language}.ts")
    assert [one.accessibleName() for one in window.buttons] == [known[one.title] for one in PAGES]
    window.deleteLater()


async def test_a_changed_language_is_remembered_for_the_next_start(
    core: FakeCore, qapp: QApplication, memory: QSettings
) -> None:
    session = Session(qapp, core, Tray(core), memory)
    core.settings.set(Settings().changed("window.language", "de"))
    assert memory.value("window/language") == "de"
    assert "next time Moat starts" in session.window.notice.text.text()
    session.close()
    session.window.deleteLater()


@pytest.mark.parametrize(("language", "cancel"), [("de", "Abbrechen"), ("zh", "取消")])
def test_qt_speaks_the_language_too(
    language: str, cancel: str, speak: Callable[[str], None]
) -> None:
    speak(language)
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == cancel
