import ast
import asyncio
import re
import string
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from string import Formatter
from typing import get_type_hints

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
    SERVER,
    numeral,
    read,
    told,
    tr,
)
from app.shell.session import Session
from app.shell.tray import Tray
from app.shell.window import PAGES, Window
from scripts.translations import calls, contexts, in_order, sentences, texts, write
from server.engine.causes import of_exit
from server.errors import AppError, ModelDamaged, ModelNotFound, ModelNotUsed
from server.face import core as face_core
from server.face import models as face_models
from server.face import plugins as face_plugins
from server.face.core import ModelStatus, ServerStatus
from server.face.models import Download, Fit, Setup
from server.models.fit import explain
from server.sentences import Sentence, in_a_row, listed
from server.settings import Settings
from server.sizes import in_gb
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
    "{0} Again in {1:,} s.": "{0} Neu in {1:,} s.",
    "It stopped: {0}.": "Halt: {0}.",
    "it broke ({0})": "Bruch ({0})",
    "bad luck": "Pech",
    "It writes about {0:.1f}.": "Sie schreibt etwa {0:.1f}.",
    "Write {{}} in {0}.": "In {0} steht {{}}.",
    "{0:.1f} GB": "{0:.1f} GB",
    "{0} {1}": "{0} {1}",
    "{0}, {1}": "{0}, {1}",
    "{0}: {1}": "{0}: {1}",
}
SILENT = Sentence("It fell silent.")
LUCK = Sentence("bad luck")


def answered(code: object) -> Sentence:
    return Sentence("It answered {0}.", code)


@pytest.fixture
def german(speak: Speak, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "of_the_server", lambda _spoken: KNOWN)
    speak("de")


@pytest.mark.usefixtures("german")
def test_words_are_known_and_values_stay() -> None:
    assert told(SILENT) == "Sie schwieg."
    assert told(answered(503)) == "Antwort: 503."


@pytest.mark.usefixtures("german")
def test_values_may_change_places_and_marks_of_patterns_are_words() -> None:
    read = Sentence("{0} of {1} (a+b)*[c]? were read.", 3, 9)
    assert told(read) == "Von 9 gelesen: 3."
    assert told("3 of 9 (aab)c were read.") == "3 of 9 (aab)c were read."


@pytest.mark.usefixtures("german")
def test_several_sentences_are_told_one_by_one() -> None:
    assert told(in_a_row([answered(1), "", SILENT, answered(2)])) == (
        "Antwort: 1. Sie schwieg. Antwort: 2."
    )


def test_chinese_sentences_and_lists_have_no_spaces(speak: Speak) -> None:
    speak("zh")
    gone, none = Sentence("There is no such download."), Sentence("none")
    assert told(in_a_row([gone, gone])) == told(gone) * 2
    assert told(listed([none, none])) == f"{told(none)}、{told(none)}"
    assert told(listed(["a", "b"])) == "a, b"


@pytest.mark.usefixtures("german")
def test_a_value_that_is_a_sentence_is_told_too() -> None:
    again = Sentence("{0} Again in {1:,} s.", answered(503), 3)
    assert told(again) == "Antwort: 503. Neu in 3 s."
    broke = Sentence("it broke ({0})", LUCK)
    assert told(Sentence("It stopped: {0}.", broke)) == "Halt: Bruch (Pech)."
    named = Sentence("{0}: {1}", "model.gguf", SILENT)
    assert told(named) == "model.gguf: Sie schwieg."
    both = listed([LUCK, Sentence("it broke ({0})", 9)])
    assert told(answered(both)) == "Antwort: Pech, Bruch (9)."
    assert told(answered(AppError(SILENT))) == "Antwort: Sie schwieg.."


@pytest.mark.usefixtures("german")
def test_sentences_are_told_to_any_depth() -> None:
    text = LUCK
    for _ in range(9):
        text = Sentence("It stopped: {0}.", text)
    assert str(text) == "It stopped: " * 9 + "bad luck" + "." * 9
    assert told(text) == "Halt: " * 9 + "Pech" + "." * 9


@pytest.mark.usefixtures("german")
def test_a_value_that_reads_like_a_sentence_stays() -> None:
    """These values come from people, files and other programs."""
    for value in ("bad luck", "It fell silent.", "x. It fell silent.", "It answered 1.", "a, b"):
        assert told(answered(value)) == f"Antwort: {value}."
    odd = "It answered x. It stopped: bad luck."
    stopped = Sentence("{0}: {1}", odd, SILENT)
    assert told(stopped) == f"{odd}: Sie schwieg."
    assert told(answered("2.1 GB")) == "Antwort: 2.1 GB."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nobody said this.",
        "It fell silent. Nobody said this.",
        "It fell silent",
        "It answered 503.",
        "It answered " + "x" * 2000 + ".",
    ],
)
@pytest.mark.usefixtures("german")
def test_what_is_not_known_stays(text: str) -> None:
    assert told(text) == text


@pytest.mark.usefixtures("german")
def test_a_plain_text_that_is_a_whole_sentence_is_told() -> None:
    assert told("It fell silent.") == "Sie schwieg."


@pytest.mark.usefixtures("german")
def test_values_are_taken_as_they_are() -> None:
    assert told(answered("one\ntwo")) == "Antwort: one\ntwo."
    assert told(answered("{1} {code} %s \\1")) == "Antwort: {1} {code} %s \\1."
    assert told(answered("\udcff")) == "Antwort: \udcff."
    assert told(Sentence("Write {{}} in {0}.", "a.txt")) == "In a.txt steht {}."


def test_in_english_nothing_is_done(qapp: object) -> None:
    assert told("The hub stopped responding.") == "The hub stopped responding."


def normal(text: str) -> str:
    """Returns the text with the fractions of English."""
    return text.replace("700,0", "700.0")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_is_told_with_its_values(language: str, speak: Speak) -> None:
    speak(language)
    known = read(FOLDER / f"moat_{language}.ts", SERVER)
    for source, translation in known.items():
        forms = {place: form for _, place, form, _ in Formatter().parse(source) if place}
        assert list(forms) == [str(number) for number in range(len(forms))], source
        values = [700 if form else f"<{place}>" for place, form in forms.items()]
        assert normal(told(Sentence(source, *values))) == normal(translation.format(*values))


def test_every_sentence_is_a_literal_and_has_its_fields() -> None:
    """Without a literal it could not be collected; without its fields it could not be made."""
    wrong = [
        ast.unparse(call)
        for call in calls("Sentence", "app", "server")
        if not isinstance(call.args[0], ast.Constant)
        or len(call.args) - 1 != len(places(str(call.args[0].value)))
        or call.keywords
    ]
    assert wrong == ["Sentence(template, *kept)"]


def test_what_is_told_can_hold_a_sentence_on_its_way() -> None:
    """The wire would make plain text of a field that is not declared as `Text`."""
    kinds = [
        kind for room in (face_core, face_models, face_plugins) for kind in vars(room).values()
    ]
    fields = [
        (name, "to_wire" in str(hint))
        for kind in kinds
        if is_dataclass(kind)
        for name, hint in get_type_hints(kind, include_extras=True).items()
    ]
    told_ones = {
        node.attr
        for call in calls("told", "app")
        for node in call.args
        if isinstance(node, ast.Attribute)
    }
    assert {"reason", "why", "label"} <= told_ones
    assert sorted(told_ones & dict(fields).keys() - {name for name, holds in fields if holds}) == []


def test_what_errors_say_is_told(speak: Speak) -> None:
    speak("de")
    damaged = ModelDamaged(
        "a.gguf", Sentence("it ends in the middle of its header (at byte {0})", 24)
    )
    assert told(str(damaged)) == "a.gguf ist beschädigt: sie endet mitten im Kopf (bei Byte 24)."
    missing = ModelNotFound("x", ())
    assert told(str(missing)) == "Hier gibt es kein Modell „x“. Installiert: keine."


def test_what_the_server_words_itself_is_told_to_its_last_part(speak: Speak) -> None:
    speak("de")
    asked, taken = Setup(context_tokens=8192), Setup(context_tokens=4096, slots=1, kv_type="q8_0")
    assert told(Sentence("{0}: {1}", "qwen", explain(asked, taken))) == (
        "qwen: Der Speicher reichte nicht, darum läuft das Modell mit: 4096 Token Kontext statt"
        " 8192, Antworten zugleich: 1 statt 4, ein q8_0-Cache."
    )
    stopped = Sentence("The engine stopped: {0}.", of_exit(-9))
    assert told(Sentence("{0} It is being restarted.", stopped)) == (
        "Die Engine ist ausgefallen: beendet durch Signal 9 (beendet, vielleicht weil der"
        " Speicher ausging). Ein Neustart läuft."
    )
    holder = Sentence(" by {0}", Occupant("ollama", 7))
    assert told(Sentence("Port {0} is taken{1}; {2} uses {3}.", 1, holder, "Moat", 2)) == (
        "Port 1 ist belegt durch ollama (Prozess 7); Moat benutzt 2."
    )


def test_summaries_estimates_and_downloads_are_told(speak: Speak) -> None:
    speak("zh")
    reason = Sentence("{0} Trying again in {1} s.", Sentence("The hub stopped responding."), 3)
    download = Download("1", "a", "b", "running", reason=reason)
    assert state_words(download).endswith("模型库不再响应。3 秒后重试。")
    speak("de")
    stopped = ModelStatus(
        "failed", reason=Sentence("The engine stopped: {0}.", Sentence("it aborted"))
    )
    summary = summarise(ServerStatus("ready"), stopped, ())
    assert summary.detail == "Die Engine ist ausgefallen: sie brach ab."
    where = Sentence("{0} of the {1} free", in_gb(3.1e9), in_gb(8e9))
    label = FitLabel(Fit("tight", Sentence("It takes {0}.", where)))
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


@pytest.mark.usefixtures("german")
def test_numbers_in_sentencesof_the_server_are_written_so_too() -> None:
    assert told(answered(in_gb(2.1e9))) == "Antwort: 2,1 GB."
    again = Sentence("{0} Again in {1:,} s.", "Bad luck", 1234.5)
    assert told(again) == "Bad luck Neu in 1.234,5 s."
    assert told(Sentence("It writes about {0:.1f}.", 7.5)) == "Sie schreibt etwa 7,5."
    assert told(answered("1.2")) == "Antwort: 1.2.", "a version or a name stays as it is"


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
    cut = Sentence("it ends in the middle of its header (at byte {0})", 12)
    reason = str(ModelDamaged("x.gguf", cut))
    said = told(str(ModelNotUsed("x", reason, "Old 7B")))
    assert told(reason) in said
    assert told(reason) != reason
    assert said.endswith("Old 7B bleibt das Standardmodell.")


def test_what_people_are_told_is_collected() -> None:
    found = sentences()
    assert len(found) == len(set(found))
    assert {
        "The hub answered with the error {0}.",
        "This system has no usable keyring: secrets are stored unencrypted in {0}.",
        "it exited by itself (code {0})",
        "Short answers on very small machines; reads pictures.",
    } <= set(found)
    assert not [text for text in found if text.startswith("You ") or "'next'" in text]
