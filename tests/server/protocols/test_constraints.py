"""What an answer must match is read in the words of every client, or refused by its name."""

from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer

from server.chat import Constraint, Message
from server.errors import BadRequest
from server.protocols.constraints import (
    LONGEST,
    NOT_DONE,
    constraint_of,
    continues,
    lark_of,
    refuse_what_is_not_done,
)
from server.protocols.fields import Fields

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


ANY = Constraint("json_schema", '{"type": "array"}')
YES = Constraint("lark", 'start: "y" "e" "s"\n')
CHOICE = Constraint("lark", 'start: "a" | "b\\"c"\n')


@pytest.mark.parametrize(
    ("body", "constraint", "param"),
    [
        ({"json_schema": {"type": "array"}}, ANY, "json_schema"),
        ({"json_schema": '{"type": "array"}'}, ANY, "json_schema"),
        ({"guided_json": {"type": "array"}}, ANY, "guided_json"),
        ({"structured_outputs": {"json": {"type": "array"}}}, ANY, "structured_outputs.json"),
        ({"grammar": 'root ::= "yes"'}, YES, "grammar"),
        ({"ebnf": 'root ::= "yes"'}, YES, "ebnf"),
        ({"guided_grammar": 'root ::= "yes"'}, YES, "guided_grammar"),
        ({"structured_outputs": {"grammar": 'root ::= "yes"'}}, YES, "structured_outputs.grammar"),
        ({"guided_choice": ["a", 'b"c']}, CHOICE, "guided_choice"),
        ({"structured_outputs": {"choice": ["a", 'b"c']}}, CHOICE, "structured_outputs.choice"),
        ({"regex": "a+"}, Constraint("regex", "a+"), "regex"),
        ({"guided_regex": "a+"}, Constraint("regex", "a+"), "guided_regex"),
        ({"response_format": {"type": "regex", "pattern": "a+"}}, Constraint("regex", "a+"),
         "response_format.pattern"),
        ({"response_format": {"type": "grammar", "grammar": 'root ::= "yes"'}}, YES,
         "response_format.grammar"),
        ({"grammar": {"type": "json", "value": {"type": "array"}}}, ANY, "grammar.value"),
        ({"grammar": {"type": "regex", "value": "a+"}}, Constraint("regex", "a+"),
         "grammar.value"),
    ],
)  # fmt: skip
def test_each_name_for_a_constraint_is_known(
    body: dict[str, Any], constraint: Constraint, param: str
) -> None:
    made = constraint_of(Fields(body))
    assert made == constraint
    assert made.param == param


@pytest.mark.parametrize(
    "body",
    [{}, {"grammar": ""}, {"guided_choice": []}, {"structured_outputs": {}}, {"grammar": None},
     {"response_format": {"type": "text"}}],
)  # fmt: skip
def test_an_empty_one_asks_for_nothing(body: dict[str, Any]) -> None:
    assert constraint_of(Fields(body)) is None


@pytest.mark.parametrize("name", NOT_DONE)
def test_what_is_not_done_is_refused_by_its_name_unless_it_asks_for_nothing(name: str) -> None:
    for idle in (*NOT_DONE[name], None):
        refuse_what_is_not_done(Fields({name: idle}))
    with pytest.raises(BadRequest, match=name) as refused:
        refuse_what_is_not_done(Fields({name: ["something"]}))
    assert refused.value.param == name


def test_what_nobody_knows_is_passed_over() -> None:
    refuse_what_is_not_done(Fields({"cache_prompt": True, "my_own_note": 5}))


@pytest.mark.parametrize(
    ("flags", "mark", "goes_on"),
    [
        ({"continue_final_message": True}, {}, True),
        ({"continue_final_message": True, "add_generation_prompt": False}, {}, True),
        ({"continue_final_message": False, "add_generation_prompt": True}, {}, False),
        ({}, {"prefix": True}, True),
        ({}, {}, False),
    ],
)
def test_a_begun_answer_is_gone_on_with_when_asked(
    flags: dict[str, Any], mark: dict[str, Any], goes_on: bool
) -> None:
    said = {"role": "assistant", "content": "So", **mark}
    messages = (Message("assistant", "So"),)
    assert continues(Fields({"messages": [said], **flags}), messages) is goes_on
