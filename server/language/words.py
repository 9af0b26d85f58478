"""Splits texts into words and stems, with or without spaces, and guesses their language."""

import re

_UNSPACED = r"\u0e00-\u0eff\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+")
SHORTEST_BEGINNING, LONGEST_ENDING = 4, 4
_CHINESE = re.compile(rf"[{_UNSPACED}]+")
_STOP_TEXT = (
    "a an and are as at be by for from in is it of on or that the this to was what with you"
)
COMMON_WORDS = frozenset(_STOP_TEXT.split())
_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u3400-\u9fff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
)
"""Languages that are recognised by their script. Japanese comes before Chinese, because it also
uses Chinese characters."""
_TELLING_TEXT = {
    "English": """a and are by did do does for from give how is it its many me much of on show tell
        than that the there they this to what when where which who why with""",
    "German": """am auf bei beim bitte das dem den der des durch eine einem einen einer für gib hat
        hatte ich im ist kein keine kostet kosteten machte mir mit nach nicht oder sich sind seit
        uns unser unsere über und viel viele von vom war waren warum was welche welchem welchen
        welcher welches wenn wer werden wie wieviel wir wird wurde wurden zeige zu zum zur
        zwischen""",
    "French": """au aux avec ce cette combien comment dans de des du elle en entre est et fut il la
        le les leur montre nos notre nous où ou par pas pour pourquoi qu quand que quel quelle
        quelles quels qui quoi sont sur un une était été""",
    "Spanish": """al cuál cuáles cuándo cuánta cuántas cuánto cuántos como con de del desde el en
        entre era es está fue hay la las los muestra más nuestra nuestro o para por porque qué que
        quién su sus un una y""",
    "Italian": """che chi come con cosa da dal dei del della di e era gli il in la le nel per qual
        quale quali quanto si sono su un una è""",
    "Portuguese": """ao as com como da das de do dos e em entre foi na no o os para por qual quais
        quanto que são um uma é""",
    "Dutch": """bij de een en het hoe hoeveel in is met naar of op te toon tussen van voor waarom
        wat welke wie zijn""",
}
_TELLING = {name: frozenset(text.split()) for name, text in _TELLING_TEXT.items()}
"""The short words by which a language is recognised. Several languages share some of them, so the
language with the most of them wins."""


def terms(text: str) -> list[str]:
    """Returns the stems of a text's words. In scripts without spaces, pairs of characters are
    words."""
    words = [word.lower() for word in _WORD.findall(text.replace("_", " "))]
    found = [stem(word) for word in words if word not in COMMON_WORDS]
    for run in _CHINESE.findall(text):
        found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return found


def goes_on(word: str, longer: str) -> bool:
    """Whether the longer word continues the word by an ending: grow, growth."""
    is_longer = 0 < len(longer) - len(word) <= LONGEST_ENDING
    return is_longer and len(word) >= SHORTEST_BEGINNING and longer.startswith(word)


def stem(word: str) -> str:
    """Returns a stem that a word shares with its plural and its verb forms. It may not be a
    word."""
    word = word.lower()
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return (word[: -len(ending)] + rest).rstrip("e") or word
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    return word.rstrip("e") if len(word) > 3 else word


def language_of(text: str) -> str:
    """Returns the English name of a text's language, from its script and its short words. A text
    without any of these words, such as names and numbers, counts as English."""
    for name, script in _SCRIPTS:
        if script.search(text):
            return name
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {name: sum(word in own for word in words) for name, own in _TELLING.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["English"] else "English"
