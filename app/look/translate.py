"""Texts in the person's language. Every text on the screen passes through here.

`tr` translates the window's own texts. `told` translates the server's sentences, which it
recognises by their words, whatever values they contain.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple
from xml.etree import ElementTree

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

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


DEEPEST = 4
"""How deep sentences may be nested: a value may itself be a sentence with values."""
LONGEST = 2000
"""The most characters of a text that is looked up. No longer text has a translation."""
KEPT = 512
"""How many translated texts are cached."""
_BREAK = re.compile(r"(?<=[.!?]) ")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")
_AMOUNT = re.compile(rf"{_NUMBER.pattern} ?([kMGT]i?B(/s)?|s|ms|%)")
_UNITS = (" kB", " MB", " GB", " s", " tokens", "%")
_ABOUT = "about "


class Joints(NamedTuple):
    """The texts that join sentences, a name and what follows it, and the items of a list."""

    gap: str = " "
    colon: str = ": "
    comma: str = ", "


JOINTS = {"zh": Joints("", "：", "、")}  # noqa: RUF001


def told(text: str) -> str:
    """Translates a text of the server. Returns it unchanged if it is unknown."""
    spoken = language()
    return text if spoken == ENGLISH else _sentences(spoken).told(text)


def join_sentences(parts: Iterable[str]) -> str:
    """Joins sentences as the window's language does. Leaves out empty ones."""
    return JOINTS.get(language(), Joints()).gap.join(part for part in parts if part)


@dataclass(frozen=True)
class Form:
    """A sentence with places {0}, {1} … and its translation."""

    source: str
    translation: str

    @cached_property
    def parts(self) -> list[tuple[str, bool]]:
        """The words before each place, and whether a place follows them."""
        parsed = Formatter().parse(self.source)
        return [(words, place is not None) for words, place, _, _ in parsed]

    @cached_property
    def counts(self) -> list[bool]:
        """For each place, whether a number is an amount; others are names, versions or ports."""
        behind = [*(words for words, _ in self.parts[1:]), ""]
        return [
            before.endswith(_ABOUT) or after.startswith(_UNITS)
            for after, (before, is_place) in zip(behind, self.parts, strict=True)
            if is_place
        ]

    @property
    def has_places(self) -> bool:
        return any(followed for _, followed in self.parts)

    @property
    def mark(self) -> str:
        """The longest word. Only texts with this word are compared with the sentence."""
        # A place may continue the word beside it, so that word is not certain to be in the text.
        text = "".join(words + "_" * followed for words, followed in self.parts)
        return max((word for word in _WORD.findall(text) if "_" not in word), key=len, default="")

    @cached_property
    def weight(self) -> int:
        return sum(len(words) for words, _ in self.parts)

    def match(self, text: str) -> re.Match[str] | None:
        """Where only a space is between two places, the first is taken for whole sentences."""
        return next((found for one in self._patterns if (found := one.fullmatch(text))), None)

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        # What is not a sentence, such as a note, does not end like a sentence.
        ends = self.source.endswith((".", "!", "?")) or re.search(r"[:.] \{\d+\}$", self.source)
        last = "" if ends else r"(?<![.!?])"
        behind = [*self.parts[1:], ("", False)]
        plain, strict = "", ""
        for (words, followed), after in zip(self.parts, behind, strict=True):
            plain += re.escape(words) + "(.*?)" * followed
            is_beside = followed and after == (" ", True)
            strict += re.escape(words) + ("(.*[.!?])" if is_beside else "(.*?)" * followed)
        wanted = [plain] if plain == strict else [strict, plain]
        return [re.compile(one + last, re.DOTALL) for one in wanted]


class Sentences:
    """The known sentences of the server in one language."""

    def __init__(self, known: dict[str, str], spoken: str = ENGLISH) -> None:
        self._joints = JOINTS.get(spoken, Joints())
        self._locale = _locale(spoken)
        self._plain: dict[str, str] = {}
        self._forms: dict[str, list[Form]] = {}
        for source, translation in known.items():
            form = Form(source, translation)
            if form.has_places:
                self._forms.setdefault(form.mark, []).append(form)
            else:
                self._plain[source.format()] = translation.format()
        self.told = lru_cache(KEPT)(self._tell)

    def _tell(self, text: str, depth: int = DEEPEST) -> str:
        if len(text) > LONGEST:
            return text
        return self._known(text, depth) or text

    def _known(self, text: str, depth: int) -> str:
        """Returns the translation, or "". Tries to split first: a value could match the rest."""
        if depth == 0:
            return self._plain.get(text, "")
        return (
            self._plain.get(text)
            or self._several(text, depth)
            or self._listed(text, depth)
            or self._formed(text, depth)
            or self._after_name(text, depth)
        )

    def _several(self, text: str, depth: int) -> str:
        for end in _BREAK.finditer(text):
            head, rest = text[: end.start()], text[end.end() :]
            first = self._plain.get(head) or self._formed(head, depth)
            if first and (others := self._known(rest, depth)):
                return f"{first}{self._joints.gap}{others}"
        return ""

    def _formed(self, text: str, depth: int) -> str:
        """Tries the longest sentences first. A value that looks like sentences must be known."""
        spare = ""
        for form in self._candidates(text):
            found = form.match(text)
            if found is None:
                continue
            values = [
                (one, self._tell_value(one, depth, counts=counts))
                for one, counts in zip(found.groups(), form.counts, strict=True)
            ]
            said = form.translation.format(*(value for _, value in values))
            if all(value != one or not _BREAK.search(one) for one, value in values):
                return said
            spare = spare or said
        return spare

    def _tell_value(self, value: str, depth: int, *, counts: bool) -> str:
        if (counts and _NUMBER.fullmatch(value)) or _AMOUNT.fullmatch(value):
            return _separated(value, self._locale)
        return self._tell(value, depth - 1)

    def _candidates(self, text: str) -> list[Form]:
        words = {*_WORD.findall(text), ""}
        found = [form for word in words for form in self._forms.get(word, ())]
        return sorted(found, key=lambda form: form.weight, reverse=True)

    def _after_name(self, text: str, depth: int) -> str:
        name, colon, rest = text.partition(": ")
        said = self._known(rest, depth - 1) if colon else ""
        return f"{name}{self._joints.colon}{said}" if said else ""

    def _listed(self, text: str, depth: int) -> str:
        first, comma, rest = text.partition(", ")
        said = self._known(first, depth - 1) if comma else ""
        others = self._known(rest, depth) if said else ""
        return f"{said}{self._joints.comma}{others}" if others else ""


@cache
def _sentences(spoken: str) -> Sentences:
    return Sentences(read(FOLDER / f"moat_{spoken}.ts", SERVER), spoken)
