"""llama.cpp's grammars in the engine's dialect allow the same texts."""

import pytest
from llguidance import LLMatcher, LLTokenizer

from server.schemas.gbnf import LONGEST, lark_of

JSON_LIKE = r"""
root ::= object  # the whole
object ::= "{" ws (pair ("," ws pair)*)? "}"
pair ::= string ":" ws string
string ::= "\"" [^"]* "\""
ws ::= [ \t\n]*
"""
CASES = [
    ('root ::= "yes" | "no"', ["yes", "no"], ["maybe", ""]),
    # As one greedy token, the word would never end before the x.
    ('root ::= word "x"\nword ::= [a-z]+', ["abx", "xx"], ["x", "ab"]),
    (r'root ::= [\u00e9-\u00ff]+ "\u00e9"', ["éé", "ÿé"], ["é", "a"]),
    (r'root ::= "\u005d" [\u005d\u002d] "\x41/"', ["]]A/", "]-A/"], ["]aA/"]),
    ('root ::= fooBar foo-bar\nfooBar ::= "a"\nfoo-bar ::= "b"{2,3}', ["abb", "abbb"], ["ab"]),
    ('root ::= ("ab"){2} "cd"* [x]?', ["abab", "ababcdcd", "ababx"], ["ab", "abb"]),
    (r'root ::= "say \"hi\"\n" [^"\\]*', ['say "hi"\nx'], ["say hi"]),
    ('root ::= expr\nexpr ::= term ("+" term)*\nterm ::= [0-9]+ | "(" expr ")"', ["1+(2)"], ["1+"]),
    (JSON_LIKE, ["{}", '{"a": "b","c":"d"}'], ['{"a"}']),
    ("start: /[0-9]+/", ["12"], ["a"]),
    ("%llguidance {}\nstart: /[0-9]+/", ["12"], ["a"]),
]


def matches(grammar: str, text: str) -> bool:
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(grammar), log_level=0)
    assert not matcher.get_error()
    tokens = list(text.encode())
    if matcher.validate_tokens(tokens) < len(tokens):
        return False
    matcher.consume_tokens(tokens)
    return bool(matcher.is_accepting())


@pytest.mark.parametrize(("grammar", "good", "bad"), CASES)
def test_the_same_texts_are_allowed(grammar: str, good: list[str], bad: list[str]) -> None:
    made = lark_of(grammar)
    assert [text for text in good if not matches(made, text)] == []
    assert [text for text in bad if matches(made, text)] == []


@pytest.mark.parametrize(
    ("grammar", "why"),
    [
        ("root ::= (", r"Expected '\)'"),
        ("root ::= other", "no rule 'other'"),
        ('other ::= "a"', "no rule 'root'"),
        ("", "no rule 'root'"),
        ('root ::= "a', "end of input"),
        ("root ::= " + "(" * 5000, "."),
        ("root ::= " + "a" * LONGEST, "characters"),
        ('%llguidance {"no_forcing": true}\nstart: "a"', "options"),
    ],
)
def test_what_is_no_grammar_is_refused_with_a_reason(grammar: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        lark_of(grammar)
