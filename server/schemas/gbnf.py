"""Turns grammars in llama.cpp's notation (GBNF) into the engine's dialect of Lark."""

import re
from collections.abc import Iterator
from typing import Any

from server.system.lazy import Late

converter = Late("llguidance.gbnf_to_lark")

LONGEST = 200_000
LARK = re.compile(r"^[^\S\n]*(%llguidance\b|start[^\S\n]*:)", re.MULTILINE)
NO_OPTIONS = re.compile(r"%llguidance\s*\{\s*\}")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
CHARACTER = re.compile(r"\\x[0-9a-fA-F]{2}|\\.|.", re.DOTALL)
KEPT = '"\\[]^-/'
"""Characters with a meaning in GBNF or in an expression."""


def lark_of(source: str) -> str:
    """Returns the grammar in Lark. Raises ValueError with a sentence about what is wrong."""
    if len(source) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} characters")
    if LARK.search(source):
        lark = NO_OPTIONS.sub("", source)
        if "%llguidance" in lark:
            raise ValueError("options of %llguidance are not supported")
        return lark
    try:
        return _convert(source)
    except (ValueError, RecursionError, converter.GbnfToLarkError) as error:
        raise ValueError(str(error) or "it is nested too deeply") from None


def _convert(source: str) -> str:
    rules: dict[str, Any] = converter.GrammarParser().parse(ESCAPE.sub(_spell, source))
    if "root" not in rules:
        raise ValueError("it has no rule 'root'")
    # The library makes a token of every rule without recursion. Tokens are greedy, so a text that
    # GBNF allows could never end. Rules of single characters do not have this problem.
    for number, (name, rule) in enumerate(rules.items()):
        rule.name = "start" if name == "root" else f"rule_{number}"
        rule.comment = ""
    for rule in rules.values():
        rule.alternatives = rule.alternatives.simplify()
        for node in _nodes(rule):
            if isinstance(node, converter.RuleRefNode):
                if node.name not in rules:
                    raise ValueError(f"it has no rule '{node.name}'")
                node.target = rules[node.name]
            elif isinstance(node, converter.RepetitionNode):
                node.node = _by_character(node.node)
            elif isinstance(node, converter.LiteralNode):
                node.value = '" "'.join(CHARACTER.findall(node.value))
    return "".join(f"{rule}\n" for rule in rules.values())


def _by_character(node: Any) -> Any:
    """Turns a repeated text into a sequence, which can be repeated."""
    if not isinstance(node, converter.LiteralNode):
        return node
    characters = CHARACTER.findall(node.value)
    return converter.SequenceNode([converter.LiteralNode(character) for character in characters])


def _nodes(node: Any) -> Iterator[Any]:
    for child in node.children():
        yield child
        yield from _nodes(child)


def _spell(found: re.Match[str]) -> str:
    """Replaces an escape by number with the character itself: the library misreads escapes."""
    if found[3]:
        return found[0]
    character = chr(min(int(found[1] or found[2], 16), 0x10FFFF))
    if character in KEPT or not character.isprintable():
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x80 else character
    return character
