"""Reads a person's answer to a question about missing arguments, without a model.

It returns only values that are certain. What it cannot read is left to the model.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from server.chat import Json
from server.flows.grounding import MADE_UP, Heard, split_name
from server.language.numbers import numbers_in
from server.language.words import terms
from server.schemas import fill
from server.system.limits import try_json

LONGEST_CANCEL = 40
"""The most characters of an answer that cancels."""
_QUOTES = {
    '"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019", "\u201e": "\u201c",
    "\u00ab": "\u00bb", "\u00bb": "\u00ab", "\u300c": "\u300d", "\u300e": "\u300f",
    "\u300a": "\u300b",
}  # fmt: skip
_CANCEL_WORDS = """
cancel|stop|abort|quit|exit|end|never mind|nevermind|forget it|forget about it|leave it|stop it
no thanks|no thank you|cancel it|cancel that|dont|abbrechen|abbruch|abbreche|brich ab|stopp|halt
vergiss es|lass es|lass gut sein|schon gut|nein danke|beenden|取消|算了|停止|停|不用了|不用
不要了|没事|退出|结束|别弄了|中止|放弃
"""
_CANCEL = frozenset(_CANCEL_WORDS.strip().replace("\n", "|").split("|"))
_POLITE = re.compile(r"\b(please|bitte|ok|okay|thanks|danke|oh|ach|well|na)\b|[请吧了]$|^[请那]")
_UNSURE = re.compile(
    r"(?:what do you mean|what does (that|this|it) mean|(i )?(do not|don'?t|dont) (know|understand)"
    r"|no idea|not sure|was meinst du|wie meinst du|was bedeutet das|verstehe? (ich )?nicht"
    r"|ich verstehe (das )?nicht|weiß (ich )?nicht|ich weiß (es )?nicht|keine ahnung"
    r"|help(?= me\b| please\b|$)|hilfe(?= bitte\b|$))(?![\w'-])"
    r"|(这|那|你)?(是)?什么意思|不(知道|懂|明白|清楚)|没(听|看)懂|(请)?帮助(?=我|一下|$)"
)
"""How an answer begins that asks back. After "help", a name of something may follow."""
_LEFT_TO_US = re.compile(
    r"\b(whatever|anything|any of (them|these)|you (choose|decide|pick)|up to you|egal|beliebig"
    r"|irgendein\w*|was du willst|such (dir|es) (du )?aus|entscheide du)\b|随便|都可以|都行|任意"
    r"|你(来)?(决定|选|定)"
)
_ASKS = re.compile(
    r"question|query|search|prompt|message|text|frage|suche|nachricht|问题|查询|搜索"
)
_IS = r"(?:is|are|was|would be|ist|sind|lautet|heißt|wäre|是|为)"
_NAMED = re.compile(
    rf"(?P<about>(?:[^\s:\uff1a=\uff0c。]+\s+){{0,6}}?[^\s:\uff1a=\uff0c。]+?)\s*(?:{_IS}\s*[:\uff1a]?|[:\uff1a=])\s*(?P<rest>\S.*)",
    re.DOTALL,
)
_IT_IS = re.compile(r"(?:it(?:'s| is)|that(?:'s| is)|es ist|das ist|是)\s*(?P<rest>\S+)")
_PLACED = re.compile(
    r"(?:in|at|by|from|to|on|im|aus|nach|bei|von|在|从|到)\s+(?P<rest>\S.*)", re.DOTALL
)
_ROOTED = re.compile(
    r"(?:[^\s/\\]+\s+){0,6}?[^\sA-Za-z0-9/\\~.]*(?P<rest>(?:~?/|\.{1,2}/|[A-Za-z]:[/\\]|https?://)\S.*)",
    re.DOTALL | re.IGNORECASE,
)
_PLACES = re.compile(
    r"path|file|folder|director|url|uri|link|address|location|datei|pfad|ordner|adresse"
    r"|文件|路径|目录|链接|网址|地址"
)
_MACHINE = re.compile(r"\S*(?:[/\\@_\d]|\w\.\w)\S*")
_SEVERAL = re.compile(r"[,;\n、\uff0c\uff1b]|(?<=\s)(?:and|und|or|oder)(?=\s)|[和与及]")
_POSSESSIVE = frozenset(
    {"my", "our", "its", "der", "die", "das", "mein", "meine", "unser", "unsere"}
)
_THANKS = re.compile(r",\s*(?:please|thanks|thank you|bitte|danke)[.!]?$", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_TOKEN = re.compile(r"[^\s,;\uff0c\uff1b、。\"'`“”„「」]+")


def is_cancel(reply: str, schema: Json) -> bool:
    """Whether the person wants to stop. A word that is one of the choices does not count."""
    plain = _plain(reply)
    choices = [choice for part in schema["properties"].values() for choice in part.get("enum", ())]
    if len(plain) > LONGEST_CANCEL or plain in [str(choice).lower() for choice in choices]:
        return False
    polite = " ".join(_POLITE.sub(" ", plain).split())
    return plain in _CANCEL or polite in _CANCEL


def is_question(reply: str, schema: Json) -> bool:
    """Whether the person asks back, or does not know.

    A question mark does not count if an argument is a question itself, such as a search.
    """
    plain = _plain(reply)
    if _UNSURE.match(plain):
        return True
    if leaves_it_to_us(reply) and all(map(_is_free_text, schema["properties"].values())):
        return True
    parts = schema["properties"].items()
    takes_any = any(_ASKS.search(f"{name} {_about(part)}".lower()) for name, part in parts)
    return reply.strip().endswith(("?", "\uff1f")) and not takes_any


def leaves_it_to_us(reply: str) -> bool:
    """Whether the person leaves the choice to us."""
    return _LEFT_TO_US.search(_plain(reply)) is not None


def read_answer(reply: str, schema: Json) -> Json:
    """Returns the arguments that are certain: as JSON, the only one, by name, or one per line."""
    given = _as_json(reply, schema)
    if given:
        return given
    parts: Json = schema["properties"]
    if len(parts) == 1:
        ((name, part),) = parts.items()
        value = read_value(reply, part, name)
        return {} if value is MADE_UP else {name: value}
    return _by_name(reply, parts) or _by_line(reply, parts)


def read_value(reply: str, part: Json, name: str = "") -> Any:
    """Returns the value that the person gave; MADE_UP if none is certain."""
    if "anyOf" in part:
        found = (
            read_value(reply, branch, name)
            for branch in part["anyOf"]
            if branch.get("type") != "null"
        )
        return next((value for value in found if value is not MADE_UP), MADE_UP)
    if part.get("enum"):
        return _choice(reply, part["enum"])
    kind = str(part.get("type", "string"))
    reader = READERS.get(kind)
    bare = _bare(reply, part, name) if kind in ("string", "array") else reply.strip()
    return MADE_UP if reader is None or fill.is_file(part) else reader(bare, part)


def word_for_word(reply: str, schema: Json) -> Json:
    """Returns the whole answer as the only missing argument, if a model found nothing in it."""
    if len(schema["properties"]) != 1:
        return {}
    ((name, part),) = schema["properties"].items()
    bare = _in_a_phrase(_bare(reply, part, name)) if reply else None
    return {name: bare} if bare and _is_free_text(part) and _fits(bare, part) else {}


def _text(bare: str, part: Json) -> Any:
    """Returns the text as it is; for a pattern or a format, the only word that fits."""
    if not bare or _in_a_phrase(bare) is not None:
        return MADE_UP
    is_free = "pattern" not in part and part.get("format") not in fill.FORMATS
    if is_free or _fits(bare, part):
        return bare
    words = [word.rstrip(".!?") for word in _TOKEN.findall(bare)]
    fitting = list(dict.fromkeys(word for word in words if _fits(word, part)))
    return fitting[0] if len(fitting) == 1 else MADE_UP


def _fits(text: str, part: Json) -> bool:
    if fill.problems(text, {**part, "type": "string"}):
        return False
    shape = fill.SHAPES.get(str(part.get("format")))
    return shape is None or shape.fullmatch(text) is not None


def _number(bare: str, part: Json) -> Any:
    """Returns the only number that fits. 1,234 means more than a thousand, 12,5 has a decimal."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare)
    numbers = {Decimal(text.replace(",", "."))} if _PLAIN_NUMBER.fullmatch(text) else set()
    if not numbers:
        below = re.findall(r"(?:^|\s)[-\u2212]\s?(\d+(?:\.\d+)?)", text)
        negative = {-Decimal(number) for number in below}
        others = {number for number in numbers_in(text.lower()) if -number not in negative}
        numbers = others | negative
    values = [int(number) if number == int(number) else float(number) for number in numbers]
    fitting = [value for value in values if not fill.problems(value, part)]
    return fitting[0] if len(fitting) == 1 else MADE_UP


def _decision(bare: str, _part: Json) -> Any:
    plain = _plain(bare)
    words = set(re.findall(r"\w+", plain))
    yes = bool(words & {"yes", "yep", "yeah", "true", "on", "sure", "ok", "ja", "gerne", "doch"})
    no = bool(words & {"no", "not", "nope", "false", "off", "never", "nein", "nicht", "kein"})
    no = no or any(sign in plain for sign in ("不", "否", "没", "别"))
    yes = yes or (not no and any(sign in plain for sign in ("是", "好", "对", "要", "可以")))
    return yes if yes != no else MADE_UP


def _choice(bare: str, choices: list[Any]) -> Any:
    plain = _plain(bare)
    exact = [choice for choice in choices if str(choice).lower() == plain]
    if exact:
        return exact[0]
    heard = Heard.of(bare)
    named = [
        choice for choice in choices if choice is not None and heard.find(str(choice)) is not None
    ]
    longest = [
        choice
        for choice in named
        if not any(choice != other and str(choice) in str(other) for other in named)
    ]
    named = longest or [choice for choice in choices if heard.has_choice(choice, choices)]
    return named[0] if len(named) == 1 else MADE_UP


def _list(bare: str, part: Json) -> Any:
    items = part.get("items", {})
    if items.get("type") in ("object", "array"):
        return MADE_UP
    pieces = [piece.strip() for piece in _SEVERAL.split(bare) if piece.strip()]
    values = [read_value(piece, items) for piece in pieces]
    found = [value for value in values if value is not MADE_UP]
    is_whole = len(found) == len(pieces) and not fill.problems(found, part)
    return found if found and is_whole else MADE_UP


READERS: dict[str, Callable[[str, Json], Any]] = {
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": _decision,
    "array": _list,
}
"""The reader of each JSON type. An object needs a model, so it has none."""


JOINTS = ("and", "und", "和")
"""Words between two values of a list."""
SEPARATORS = " \t\r\n\f\v,;\uff0c\uff1b"


def _by_name(reply: str, parts: Json) -> Json:
    """Reads arguments that are written as `name: value`, `name = value` or `name is value`."""
    places: list[tuple[int, int, str]] = []
    for name in parts:
        spelled = re.escape(_spell(name)).replace("\\ ", r"[\s_-]?")
        at = rf"(?<!\w){spelled}\s*(?:{_IS}\s*[:\uff1a]?|[:\uff1a=])\s*"
        places += [(*match.span(), name) for match in re.finditer(at, reply, re.IGNORECASE)]
    places.sort()
    found: Json = {}
    ends = [begin for begin, _, _ in places[1:]] + [len(reply)]
    for (_, begin, name), end in zip(places, ends, strict=False):
        text = _without_joint(reply[begin:end])
        value = read_value(text, parts[name], name)
        if value is not MADE_UP:
            found[name] = value
    return found


def _without_joint(text: str) -> str:
    """Removes a comma or "and" at the end, which stood before the next value."""
    text = text.rstrip()
    for word in JOINTS:
        before = text.removesuffix(word)
        if before != text and before != before.rstrip(SEPARATORS):
            text = before
            break
    return text.rstrip(SEPARATORS)


def _by_line(reply: str, parts: Json) -> Json:
    """Reads one argument per line, if there are as many lines as arguments."""
    lines = [line.strip(" -*\t") for line in reply.splitlines() if line.strip()]
    if len(lines) != len(parts):
        return {}
    values = {
        name: read_value(line, part, name)
        for line, (name, part) in zip(lines, parts.items(), strict=True)
    }
    return {} if MADE_UP in values.values() else values


def _as_json(reply: str, schema: Json) -> Json:
    found = try_json(reply)
    is_known = isinstance(found, dict) and found.keys() <= schema["properties"].keys()
    return found if is_known else {}


def _bare(reply: str, part: Json, name: str) -> str:
    """Removes quotes and words such as "the path is", if they are surely not part of the value."""
    text = _THANKS.sub("", reply.strip())
    if _unquote(text) != text:
        return _unquote(text)
    for rest in (_after_name(text, part, name), _after_words(text, part, name)):
        if rest is not None:
            return _unquote(rest)
    return text


def _after_name(text: str, part: Json, name: str) -> str | None:
    """Returns what follows "the path is", if only the argument's name comes before; else None."""
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    rest = match["rest"].strip()
    before = set(terms(_spell(match["about"]))) - _POSSESSIVE
    own = set(terms(f"{_spell(name)} {part.get('title') or ''}"))
    is_plain = _unquote(rest) != rest or _MACHINE.fullmatch(rest) is not None
    own |= set(terms(_about(part))) if is_plain or not text.isascii() else set()
    if not before or not before <= own:
        return None
    is_one_word = len(rest.split()) == 1 and not rest.endswith("..")
    return rest.removesuffix(".") if is_one_word else rest


def _after_words(text: str, part: Json, name: str) -> str | None:
    """Returns what follows "it is" or "use", if it is a single word or a path; else None."""
    only = _IT_IS.fullmatch(text)
    if only is not None:
        return only["rest"]
    rooted = _ROOTED.fullmatch(text)
    is_place = _PLACES.search(f"{name} {_about(part)}".lower()) is not None
    return _without_thanks(rooted["rest"]) if rooted is not None and is_place else None


def _without_thanks(text: str) -> str:
    """Removes a full stop and a polite word after a path."""
    bare = text.rstrip()
    bare = bare[:-1] if bare.endswith((".", "!")) else bare
    for word in ("please", "thanks", "bitte", "danke"):
        if bare.lower().endswith((f" {word}", f",{word}")):
            bare = bare[: -len(word)]
    return bare.rstrip(" ,\t\n")


def _in_a_phrase(text: str) -> str | None:
    """Returns the name in "in Bern" or "by Eliot"; else None. A model may read it better."""
    placed = _PLACED.fullmatch(text)
    words = placed["rest"].split() if placed is not None else []
    is_name = all(word[0].isupper() or not word.isascii() for word in words)
    return placed["rest"].strip() if placed is not None and is_name else None


def _unquote(text: str) -> str:
    is_quoted = len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[-1] not in text[1:-1]
    return text[1:-1].strip() if is_quoted else text


def _is_free_text(part: Json) -> bool:
    return part.get("type") == "string" and "enum" not in part


def _about(part: Json) -> str:
    return f"{part.get('title') or ''} {part.get('description') or ''}"


def _spell(name: str) -> str:
    return split_name(name).replace("_", " ").replace("-", " ").lower()


def _plain(reply: str) -> str:
    return " ".join(re.sub(r"[^\w\s'-]", " ", reply.lower().replace("\u2019", "'")).split())
