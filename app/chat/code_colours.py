"""Colours for code: words, texts, numbers, comments and names of calls, in most languages."""

import re
from typing import Literal

Part = Literal["word", "text", "number", "name", "comment"]
Span = tuple[int, int, Part]

LONGEST = 50_000
"""Longer code stays plain: it would be coloured again with each word that comes."""
_PYTHON = (
    "and as assert async await break class continue def del elif else except False finally for from"
    " global if import in is lambda match None nonlocal not or pass raise return True try while"
    " with yield case self"
)
_C_LIKE = (
    "abstract as async await bool boolean break byte case catch char class const continue default"
    " defer delete do double else enum export extends extern false final finally float fn for"
    " foreach func function go if impl implements import in instanceof int interface internal is"
    " let long loop match mod module mut namespace new nil null override package private protected"
    " public pub readonly ref return short sizeof static string struct super switch this throw"
    " throws trait true try type typeof undefined unsafe unsigned use using var virtual void"
    " volatile where while yield"
)
_SQL = (
    "add all alter and as asc begin between by case cast check commit create cross database delete"
    " desc distinct drop else end except exists false foreign from full group having if in index"
    " inner insert intersect into is join key left like limit not null offset on or order outer"
    " over partition primary references right rollback select set table then true union unique"
    " update values view when where with"
)
_SHELL = (
    "case do done elif else esac export fi for function if in local read return set shift source"
    " then unset until while echo cd exit"
)
_HASH = r"#[^\n]*"
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_DASHES = r"--[^\n]*|/\*.*?(?:\*/|\Z)"
_STRINGS = (
    r'"""(?:.*?)(?:"""|\Z)|\'\'\'(?:.*?)(?:\'\'\'|\Z)'
    r'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|`(?:\\.|[^`\\])*`?'
)
_NUMBER = r"\b(?:0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"
_NAME = r"\b[A-Za-z_]\w*(?=\s*\()"
_WORD = r"\b[A-Za-z_]\w*\b"
_PLAIN = frozenset({"text", "txt", "plain", "plaintext", "csv", "tsv", "markdown", "md", "log"})
_SHELLS = frozenset({"sh", "bash", "zsh", "shell", "console", "powershell", "ps1", "bat", "cmd"})
_HASHED = frozenset({"python", "py", "python3", "yaml", "yml", "toml", "ini", "r", "ruby", "rb"})
_JSON = frozenset({"json", "jsonc", "json5"})


def spans(code: str, language: str) -> list[Span]:
    """Where each coloured part begins, how long it is, and what it is."""
    language = language.lower().strip()
    if language in _PLAIN or len(code) > LONGEST:
        return []
    comments, words, fold = _rules(language)
    pattern = re.compile(
        rf"(?P<comment>{comments})|(?P<text>{_STRINGS})|(?P<number>{_NUMBER})"
        rf"|(?P<name>{_NAME})|(?P<word>{_WORD})",
        re.DOTALL,
    )
    found: list[Span] = []
    for match in pattern.finditer(code):
        part = match.lastgroup
        is_word = (match[0].lower() if fold else match[0]) in words
        if part in ("name", "word"):
            if not is_word and part == "word":
                continue
            part = "word" if is_word else "name"
        found.append((match.start(), len(match[0]), part))  # type: ignore[arg-type]
    return found


def _rules(language: str) -> tuple[str, frozenset[str], bool]:
    """Comments, the language's own words, and whether these may be in capitals."""
    if language == "sql" or language.endswith("sql"):
        return _DASHES, frozenset(_SQL.split()), True
    if language in _SHELLS:
        return _HASH, frozenset(_SHELL.split()), False
    if language in _HASHED or not language:
        return _HASH, frozenset([*_PYTHON.split(), "true", "false", "null"]), False
    if language in _JSON:
        return _SLASHES, frozenset(["true", "false", "null"]), False
    return _SLASHES, frozenset(_C_LIKE.split()), False
