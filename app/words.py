"""Texts in the person's language: every text on the screen passes here."""

from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

CONTEXT = "Moat"
FOLDER = Path(__file__).resolve().parent.parent / "resources" / "translations"
LANGUAGES = ("de", "zh")


def tr(text: str) -> str:
    return QCoreApplication.translate(CONTEXT, text)


def read(path: Path) -> dict[str, str]:
    """The finished translations of a Qt Linguist file."""
    if not path.is_file():
        return {}
    found = {}
    for message in ElementTree.parse(path).getroot().iter("message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") != "unfinished":
            found[message.findtext("source", "")] = translation.text or ""
    return found


class Translator(QTranslator):
    """Translates from Linguist's own file, so that there is nothing to compile."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._known = read(FOLDER / f"moat_{language}.ts")

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
        del disambiguation, n
        return self._known.get(sourceText) if context == CONTEXT else None  # type: ignore[return-value]


def choose(wanted: str) -> str:
    """The language to show: the wanted one, or the system's if we speak it."""
    if wanted != "system":
        return wanted
    system = QLocale.system().name()[:2]
    return system if system in LANGUAGES else "en"


def install(wanted: str) -> Translator | None:
    """Before the first widget is made; the caller keeps it. English needs none."""
    language = choose(wanted)
    if language not in LANGUAGES:
        return None
    translator = Translator(language)
    QCoreApplication.installTranslator(translator)
    return translator
