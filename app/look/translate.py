"""Texts in the person's language: every text on the screen passes here."""

from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

CONTEXT = "Moat"
SERVER = "server"
"""The context of what the server says; see `app.look.sentences`."""
ENGLISH = "en"
FOLDER = Path(__file__).resolve().parents[2] / "resources" / "translations"
LANGUAGES = ("de", "zh")
_OWN_NAME = "language"
_OF_QT = {"de": "qtbase_de", "zh": "qtbase_zh_CN"}
"""Its own texts: the menus of text fields, the dialogs for files."""


def tr(text: str) -> str:
    return QCoreApplication.translate(CONTEXT, text)


def language() -> str:
    """The language the window speaks now: each one's name for itself."""
    return QCoreApplication.translate(_OWN_NAME, ENGLISH)


def read(path: Path, context: str = CONTEXT) -> dict[str, str]:
    """The finished translations of one context of a Qt Linguist file."""
    if not path.is_file():
        return {}
    found = {}
    for message in ElementTree.parse(path).getroot().iterfind(f"context[name='{context}']/message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") != "unfinished":
            found[message.findtext("source", "")] = translation.text or ""
    return found


class Translator(QTranslator):
    """Translates from Linguist's own file, so that there is nothing to compile."""

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
        """None, which Qt reads as no answer, leaves a text as it is."""
        if context == _OWN_NAME:
            return self._language
        if context == CONTEXT:
            return self._known.get(sourceText)  # type: ignore[return-value]
        return self._of_qt.translate(context, sourceText, disambiguation, n) or None  # type: ignore[return-value]


NO_FONT = (
    "Moat is in English: no font with Chinese characters is installed on this system. "
    "Install one (for example Noto Sans CJK) and start Moat again."
)
"""Never translated: who reads it has no font for the translation."""


def choose(wanted: str) -> str:
    """The language to show: the wanted one, or the system's if we speak it."""
    if wanted != "system":
        return wanted
    system = QLocale.system().name()[:2]
    return system if system in LANGUAGES else ENGLISH


def lacks_font(wanted: str) -> bool:
    """Whether no font of this system can write the language: people would see empty boxes."""
    chinese = QFontDatabase.WritingSystem.SimplifiedChinese
    return choose(wanted) == "zh" and not QFontDatabase.families(chinese)


def install(wanted: str) -> Translator | None:
    """Before the first widget is made; the caller keeps it. English needs none."""
    chosen = choose(wanted)
    if chosen not in LANGUAGES:
        return None
    translator = Translator(chosen)
    QCoreApplication.installTranslator(translator)
    return translator
