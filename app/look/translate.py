"""Texts in the person's language. Every text on the screen passes through here.

`tr` translates the window's own texts. `told` translates sentences, most of which come from the
server, by their template.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

from server.sentences import Field, Sentence

CONTEXT = "Moat"
SERVER = "server"
"""The context of the server's sentences in the translation files."""
ENGLISH = "en"
FOLDER = Path(__file__).resolve().parents[2] / "resources" / "translations"
LANGUAGES = ("de", "zh")
_OWN_NAME = "language"
_OF_QT = {"de": "qtbase_de", "zh": "qtbase_zh_CN"}
"""Qt's own texts: the menus of text fields and the file dialogs."""


def tr(text: str) -> str:
    return QCoreApplication.translate(CONTEXT, text)


def language() -> str:
    """Returns the code of the window's language."""
    return QCoreApplication.translate(_OWN_NAME, ENGLISH)


def locale() -> QLocale:
    """Returns how the window's language writes numbers."""
    return _locale(language())


@cache
def _locale(spoken: str) -> QLocale:
    return QLocale(spoken)


def numeral(value: float, form: str = ",") -> str:
    """Formats a number as the window's language writes it. `form` is a Python format."""
    return _separated(format(value, form), locale())


def _separated(written: str, chosen: QLocale) -> str:
    """Replaces the separators in a number, and adds German's space before the percent sign."""
    if chosen.language() == QLocale.Language.German and written.endswith("%"):
        written = f"{written[:-1]}\N{NO-BREAK SPACE}%"
    group, point = chosen.groupSeparator(), chosen.decimalPoint()
    return written.translate({ord(","): group, ord("."): point})


def read(path: Path, context: str = CONTEXT) -> dict[str, str]:
    """Returns the finished translations of one context of a Qt Linguist file."""
    if not path.is_file():
        return {}
    found = {}
    for message in ElementTree.parse(path).getroot().iterfind(f"context[name='{context}']/message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") != "unfinished":
            found[message.findtext("source", "")] = translation.text or ""
    return found


class Translator(QTranslator):
    """A translator that reads Linguist's own file, so that nothing has to be compiled."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._known = read(FOLDER / f"moat_{language}.ts")
        self._of_qt = QTranslator(self)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        self._of_qt.load(_OF_QT[language], folder)

    def isEmpty(self) -> bool:  # noqa: N802
        return not self._known

    def translate(
        self,
        context: str,
        sourceText: str,  # noqa: N803
        disambiguation: str | None = None,
        n: int = -1,
    ) -> str:
        """Returns the translation. None means that there is none, so Qt keeps the text."""
        if context == _OWN_NAME:
            return self._language
        if context == CONTEXT:
            return self._known.get(sourceText)  # type: ignore[return-value]
        return self._of_qt.translate(context, sourceText, disambiguation, n) or None  # type: ignore[return-value]


NO_FONT = (
    "Moat is in English: no font with Chinese characters is installed on this system. "
    "Install one (for example Noto Sans CJK) and start Moat again."
)
"""Never translated: its readers have no font for the translation."""


def choose(wanted: str) -> str:
    """Returns the language to show: the wanted one, or the system's if Moat has it."""
    if wanted != "system":
        return wanted
    system = QLocale.system().name()[:2]
    return system if system in LANGUAGES else ENGLISH


def lacks_font(wanted: str) -> bool:
    """Whether this system has no font for the language, so that people would see empty boxes."""
    chinese = QFontDatabase.WritingSystem.SimplifiedChinese
    return choose(wanted) == "zh" and not QFontDatabase.families(chinese)


def install(wanted: str) -> Translator | None:
    """Installs a translator, before the first widget; None for English. The caller must keep it."""
    chosen = choose(wanted)
    if chosen not in LANGUAGES:
        return None
    translator = Translator(chosen)
    QCoreApplication.installTranslator(translator)
    return translator


_GAPS = {"zh": ""}
"""The text between two sentences, where it is not a space."""


@cache
def of_the_server(spoken: str) -> dict[str, str]:
    """Returns the translations of the sentences, by their template."""
    return read(FOLDER / f"moat_{spoken}.ts", SERVER)


def told(text: str) -> str:
    """Translates a sentence of the server, and those among its fields.

    A plain text is translated if it is a whole sentence without fields: what was kept in a file or
    came over HTTP has no template.
    """
    spoken = language()
    if spoken == ENGLISH:
        return text
    known = of_the_server(spoken)
    if not isinstance(text, Sentence):
        return known.get(text, text)
    return known.get(text.template, text.template).format(*map(_localise, text.fields))


def _localise(value: Field) -> object:
    if isinstance(value, str):
        return told(value) if isinstance(value, Sentence) else value
    return _Number(value)


@dataclass(frozen=True)
class _Number:
    """A number in a sentence, which is written as the window's language does."""

    value: float

    def __format__(self, form: str) -> str:
        return numeral(self.value, form)


def join_sentences(parts: Iterable[str]) -> str:
    """Joins sentences as the window's language does. Leaves out empty ones."""
    return _GAPS.get(language(), " ").join(part for part in parts if part)
