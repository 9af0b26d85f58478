import ast
import asyncio
import re
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest
from PySide6.QtCore import QCoreApplication, QSettings
from PySide6.QtWidgets import QApplication, QScrollArea

from app.home import HomePage
from app.look import theme, translate
from app.look.controls import Banner, FractionBox
from app.look.model_rows import FitLabel, state_words
from app.look.summary import size, summarise
from app.look.translate import (
    CONTEXT,
    ENGLISH,
    FOLDER,
    LANGUAGES,
    LONGEST,
    SERVER,
    Form,
    Sentences,
    numeral,
    read,
    told,
    tr,
)
from app.shell.session import Session
from app.shell.tray import Tray
from app.shell.window import PAGES, Window
from scripts.translations import contexts, in_order, texts, write
from server.engine.causes import of_exit
from server.errors import AppError, ModelDamaged, ModelNotFound
from server.face.core import ModelStatus, ServerStatus
from server.face.models import Download, Fit, Setup
from server.models.fit import explain
from server.settings import Settings
from server.web.listener import Occupant
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import PORTFOLIO
from tests.kit.until import until

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


@pytest.mark.parametrize("language", LANGUAGES)
def test_collecting_again_changes_nothing(language: str, tmp_path: Path) -> None:
    ours, path = FOLDER / f"moat_{language}.ts", tmp_path / "moat.ts"
    path.write_bytes(ours.read_bytes())
    assert write(path, language, {name: read(path, name) for name in (CONTEXT, SERVER)}) == 0
    assert path.read_bytes() == ours.read_bytes()


def test_a_new_text_follows_its_neighbour_and_moves_no_other() -> None:
    before = ["c", "a", "gone", "b"]
    assert in_order(["new", "a", "b", "b2", "b3", "c"], before) == [
        "new",
        "c",
        "a",
        "b",
        "b2",
        "b3",
    ]
    assert in_order(["a", "b"], []) == ["a", "b"]


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


Speak = Callable[[str], None]
KNOWN = {
    "It fell silent.": "Sie schwieg.",
    "It answered {0}.": "Antwort: {0}.",
    "{0} of {1} (a+b)*[c]? were read.": "Von {1} gelesen: {0}.",
    "{0} Again in {1} s.": "{0} Neu in {1} s.",
    "It stopped: {0}.": "Halt: {0}.",
    "it broke ({0})": "Bruch ({0})",
    "bad luck": "Pech",
    "Using {0}": "Benutzt {0}",
    "It writes about {0}.": "Sie schreibt etwa {0}.",
    "Write {{}} in {0}.": "In {0} steht {{}}.",
}


@pytest.fixture
def german() -> Sentences:
    return Sentences(KNOWN, "de")


def test_words_are_known_and_values_stay(german: Sentences) -> None:
    assert german.told("It fell silent.") == "Sie schwieg."
    assert german.told("It answered 503.") == "Antwort: 503."


def test_values_may_change_places_and_marks_of_patterns_are_words(german: Sentences) -> None:
    assert german.told("3 of 9 (a+b)*[c]? were read.") == "Von 9 gelesen: 3."
    assert german.told("3 of 9 (aab)c were read.") == "3 of 9 (aab)c were read."


def test_several_sentences_are_told_one_by_one(german: Sentences) -> None:
    assert german.told("It answered 1. It fell silent. It answered 2.") == (
        "Antwort: 1. Sie schwieg. Antwort: 2."
    )
    chinese = Sentences(KNOWN, "zh")
    assert chinese.told("It fell silent. It answered 2.") == "Sie schwieg.Antwort: 2."


def test_a_value_that_is_a_sentence_is_told_too(german: Sentences) -> None:
    assert german.told("It answered 503. Again in 3 s.") == "Antwort: 503. Neu in 3 s."
    assert german.told("It stopped: it broke (bad luck).") == "Halt: Bruch (Pech)."
    assert german.told("model.gguf: It fell silent.") == "model.gguf: Sie schwieg."
    assert german.told("It answered bad luck, it broke (9).") == "Antwort: Pech, Bruch (9)."


def test_depth_is_bounded(german: Sentences) -> None:
    text = "It stopped: " * 9 + "bad luck" + "." * 9
    assert german.told(text).startswith("Halt: Halt: ")
    assert "It stopped: bad luck" in german.told(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nobody said this.",
        "It fell silent. Nobody said this.",
        "It fell silent",
        "Using it is not possible.",
        "It answered " + "x" * LONGEST + ".",
    ],
)
def test_what_is_not_known_stays(text: str, german: Sentences) -> None:
    assert german.told(text) == text


def test_values_are_taken_as_they_are(german: Sentences) -> None:
    assert german.told("It answered one\ntwo.") == "Antwort: one\ntwo."
    assert german.told("It answered {1} %s \\1.") == "Antwort: {1} %s \\1."
    assert german.told("It answered \udcff.") == "Antwort: \udcff."
    assert german.told("Write {} in a.txt.") == "In a.txt steht {}."
    assert german.told("Using a/b") == "Benutzt a/b"


def test_in_english_nothing_is_done(qapp: object) -> None:
    assert told("The hub stopped responding.") == "The hub stopped responding."


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_is_told_with_its_values(language: str) -> None:
    known = read(FOLDER / f"moat_{language}.ts", SERVER)
    sentences = Sentences(known)
    for source, translation in known.items():
        places = [place for _, place, _, _ in Formatter().parse(source) if place is not None]
        assert places == [str(number) for number in range(len(places))], source
        values = [f"<{place}>" for place in places]
        assert sentences.told(source.format(*values)) == translation.format(*values)
        assert not places or Form(source, translation).mark


def test_what_errors_say_is_told(speak: Speak) -> None:
    speak("de")
    damaged = ModelDamaged("a.gguf", "it ends in the middle of its header (at byte 24)")
    assert told(str(damaged)) == "a.gguf ist beschädigt: sie endet mitten im Kopf (bei Byte 24)."
    missing = ModelNotFound("x", ())
    assert told(str(missing)) == "Hier gibt es kein Modell „x“. Installiert: keine."


def test_what_the_server_words_itself_is_told_to_its_last_part(speak: Speak) -> None:
    speak("de")
    asked, taken = Setup(context_tokens=8192), Setup(context_tokens=4096, slots=1, kv_type="q8_0")
    assert told(f"qwen: {explain(asked, taken)}") == (
        "qwen: Der Speicher reichte nicht, darum läuft das Modell mit: 4096 Token Kontext statt"
        " 8192, Antworten zugleich: 1 statt 4, ein q8_0-Cache."
    )
    assert told(f"The engine stopped: {of_exit(-9)}. It is being restarted.") == (
        "Die Engine ist ausgefallen: beendet durch Signal 9 (beendet, vielleicht weil der"
        " Speicher ausging). Ein Neustart läuft."
    )
    assert told(f"Port 1 is taken by {Occupant('ollama', 7)}; Moat uses 2.") == (
        "Port 1 ist belegt durch ollama (Prozess 7); Moat benutzt 2."
    )


def test_summaries_estimates_and_downloads_are_told(speak: Speak) -> None:
    speak("zh")
    reason = "The hub stopped responding. Trying again in 3 s."
    download = Download("1", "a", "b", "running", reason=reason)
    assert state_words(download).endswith("模型库不再响应。3 秒后重试。")
    speak("de")
    stopped = ModelStatus("failed", reason="The engine stopped: it aborted.")
    summary = summarise(ServerStatus("ready"), stopped, ())
    assert summary.detail == "Die Engine ist ausgefallen: sie brach ab."
    label = FitLabel(Fit("tight", "It takes 3.1 GB of the 8.0 GB free."))
    assert label.why.text() == "Es braucht 3,1 GB von den freien 8,0 GB."
    assert label.accessibleName().endswith(label.why.text())


@pytest.mark.parametrize("spoken", ["en", "de", "zh"])
async def test_no_page_is_wider_than_a_small_window(
    speak: Speak, core: FakeCore, memory: QSettings, qapp: QApplication, spoken: str
) -> None:
    if spoken != "en":
        speak(spoken)
    theme.apply(qapp, "light")
    core.plugins.cards.set((PORTFOLIO, replace(PORTFOLIO, key="new", enabled=False, review=True)))
    window = Window(core, memory)
    window.resize(900, 600)
    window.show()
    for page in PAGES:
        window.turn_to(page.title)
        await asyncio.sleep(0.05)  # a page lays itself out when it is shown
        for area in window.page().findChildren(QScrollArea):
            if area.isVisible() and area.widget():
                assert area.widget().width() <= area.viewport().width(), page.title
    window.deleteLater()


async def test_a_failure_is_told_in_the_banner(
    speak: Speak, core: FakeCore, memory: QSettings
) -> None:
    speak("de")
    window = Window(core, memory)
    window.page().failed.emit(AppError("There is no such download."))
    assert window.banner.text.text() == "Diesen Download gibt es nicht."
    window.deleteLater()


async def test_a_notice_is_told_and_dismissed_by_what_the_server_said(
    speak: Speak, core: FakeCore
) -> None:
    speak("de")
    page = HomePage(core)
    core.notices.set(("The disk is full.",))
    (banner,) = [one for one in page.findChildren(Banner) if one is not page.failure]
    assert banner.text.text() == "Die Festplatte ist voll."
    banner.dismissed.emit()
    await until(lambda: core.notices.get() == ())
    page.deleteLater()


@pytest.mark.parametrize(
    ("language", "long", "fraction", "part", "amount"),
    [
        ("de", "1.234.567", "2,1", "50\N{NO-BREAK SPACE}%", "2,1 GB"),
        ("zh", "1,234,567", "2.1", "50%", "2.1 GB"),
        ("", "1,234,567", "2.1", "50%", "2.1 GB"),
    ],
)
def test_numbers_are_written_as_the_language_does(
    language: str, long: str, fraction: str, part: str, amount: str, speak: Speak
) -> None:
    if language:
        speak(language)
    assert numeral(1234567) == long
    assert numeral(2.1, ".1f") == fraction
    assert numeral(0.5, ".0%") == part
    assert size(2_100_000_000) == amount
    box = FractionBox()
    box.setValue(2.1)
    assert box.text() == f"{fraction}0"


def test_numbers_in_sentences_of_the_server_are_written_so_too(german: Sentences) -> None:
    assert german.told("It answered 2.1 GB.") == "Antwort: 2,1 GB."
    assert german.told("Bad luck Again in 1,234.5 s.") == "Bad luck Neu in 1.234,5 s."
    assert german.told("It writes about 7.5.") == "Sie schreibt etwa 7,5."
    assert german.told("It answered 1.2.") == "Antwort: 1.2.", "a version or a name stays as it is"


def written_by_python(source: str) -> list[str]:
    """The f-strings that give a number separators which only English and Chinese use."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FormattedValue)
        and node.format_spec is not None
        and re.search(r"[,%]|\.[1-9]\d*[fg]", ast.unparse(node.format_spec))
    ]


def test_no_number_of_the_window_is_written_past_the_language() -> None:
    assert written_by_python('f"{size:,} {share:.0%} {speed:.1f} {name:>3}"') != []
    found = {
        str(path.name): lines
        for path in Path(translate.__file__).parents[1].rglob("*.py")
        if (lines := written_by_python(path.read_text("utf-8")))
    }
    assert found == {}


def test_a_reason_of_several_words_ends_where_its_sentence_does(speak: Speak) -> None:
    speak("de")
    reason = "x.gguf is damaged: it ends in the middle of its header (at byte 12)."
    said = told(f"x could not be loaded: {reason} Old 7B stays the default model.")
    assert told(reason) in said
    assert said.endswith("Old 7B bleibt das Standardmodell.")
