"""Reads the constraints on an answer from the fields of several APIs.

A field that narrows the answer or changes its meaning is obeyed, or refused with an error that
names it. Any other unknown field is ignored: clients send much that is meant for other servers.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from server.chat import Constraint, Message, Tool, ToolChoice
from server.errors import BadRequest
from server.protocols.fields import Fields, json_constraint, schema_constraint
from server.sentences import Sentence
from server.system.lazy import Late

converter = Late("llguidance.gbnf_to_lark")

LONGEST = 200_000
"""The most characters of a grammar."""
LARK = re.compile(r"^[^\S\n]*(%llguidance\b|start[^\S\n]*:)", re.MULTILINE)
NO_OPTIONS = re.compile(r"%llguidance\s*\{\s*\}")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
CHARACTER = re.compile(r"\\x[0-9a-fA-F]{2}|\\.|.", re.DOTALL)
KEPT = '"\\[]^-/'
"""Characters that have a meaning in GBNF or in a regular expression, so they stay escaped."""


def lark_of(source: str) -> str:
    """Translates a grammar from GBNF to Lark, or returns Lark as it is. Raises ValueError."""
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
    # The library turns every rule without recursion into a token. Tokens are greedy, so a text that
    # GBNF allows might never end. Rules of single characters do not have this problem.
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
    """Turns a literal into a sequence of characters, so that a repetition covers all of it."""
    if not isinstance(node, converter.LiteralNode):
        return node
    characters = CHARACTER.findall(node.value)
    return converter.SequenceNode([converter.LiteralNode(character) for character in characters])


def _nodes(node: Any) -> Iterator[Any]:
    for child in node.children():
        yield child
        yield from _nodes(child)


def _spell(found: re.Match[str]) -> str:
    """Replaces a numeric escape (\\u, \\U) by its character, because the library misreads it."""
    if found[3]:
        return found[0]
    character = chr(min(int(found[1] or found[2], 16), 0x10FFFF))
    if character in KEPT or not character.isprintable():
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x80 else character
    return character


MOST_CHOICES = 1000
NOT_DONE: dict[str, tuple[Any, ...]] = {
    "allowed_token_ids": ([],),
    "audio": (),
    "background": (False,),
    "bad_words": ([],),
    "beam_width": (0, 1),
    "chat_template": ("",),
    "conversation": (),
    "documents": ([],),
    "grammar_lazy": (False,),
    "grammar_triggers": ([],),
    "guided_whitespace_pattern": ("",),
    "image_data": ([],),
    "include_stop_str_in_output": (False,),
    "length_penalty": (1,),
    "logits_processors": ([],),
    "lora": ([],),
    "min_tokens": (0,),
    "modalities": ([], ["text"]),
    "n_indent": (0,),
    "prompt_logprobs": (False,),
    "skip_special_tokens": (True,),
    "stop_regex": ("", []),
    "stop_token_ids": ([],),
    "structural_tag": (),
    "t_max_predict_ms": (0, -1),
    "truncate_prompt_tokens": (-1,),
    "use_beam_search": (False,),
}
"""Unsupported fields that would narrow an answer or change its meaning, each with the values that
have no effect and are accepted. Null is always accepted."""


def refuse_what_is_not_done(fields: Fields, **more: tuple[Any, ...]) -> None:
    for name, idle in {**NOT_DONE, **more}.items():
        value = fields.value(name)
        if value is not None and value not in idle:
            raise fields.wrong(name, "is not supported here; leave it out")


def constraint_of(fields: Fields) -> Constraint | None:
    """Returns the constraint on the answer, if any. Raises BadRequest for more than one."""
    found: tuple[str, Constraint] | None = None
    for name, read in READERS.items():
        made = read(fields, name) if fields.value(name) is not None else None
        if made is not None and found is not None:
            raise fields.wrong(name, f"cannot be combined with '{fields.path(found[0])}'")
        found = (name, made) if made is not None else found
    return found[1] if found else None


def check_together(
    constraint: Constraint | None, tools: tuple[Tool, ...], choice: ToolChoice
) -> None:
    """Refuses tools together with a regular expression or grammar.

    Only a JSON schema can be combined with tool calls in one grammar.
    """
    if constraint is None or constraint.kind == "json_schema" or choice.mode == "none":
        return
    if tools:
        name = constraint.param.partition(".")[0]
        raise BadRequest(Sentence("'{0}' cannot be combined with 'tools'.", name), name)


def continues(fields: Fields, messages: tuple[Message, ...]) -> bool:
    """Whether to continue the last message: by vLLM's flag, or by `prefix` in the message."""
    wanted = fields.flag("continue_final_message")
    opens = fields.flag("add_generation_prompt")
    last = fields.list("messages")[-1] if fields.list("messages") else None
    marked = isinstance(last, dict) and Fields(last).flag("prefix") is True
    if wanted and opens:
        raise fields.wrong("add_generation_prompt", "cannot be true with 'continue_final_message'")
    if opens is False and not wanted:
        raise fields.wrong("add_generation_prompt", "needs 'continue_final_message' to be false")
    name = "continue_final_message" if wanted else "messages"
    if (wanted or marked) and messages[-1].role != "assistant":
        raise fields.wrong(name, "can continue an assistant's message only, which must be the last")
    if (wanted or marked) and messages[-1].tool_calls:
        raise fields.wrong(name, "cannot continue a message with tool calls")
    return bool(wanted or marked)


def format_constraint(format_: Fields | None) -> Constraint | None:
    """Reads `response_format`, with the types `regex`, `grammar` and `json` of other servers."""
    kind = format_.value("type") if format_ else None
    if format_ is None or kind not in ("regex", "grammar", "json"):
        return json_constraint(format_)
    if kind == "json":
        return schema_constraint(format_, _first(format_, "schema", "value"), strict=True)
    read = _expression if kind == "regex" else _grammar
    return read(format_, _first(format_, kind, "pattern", "value"))


def _first(fields: Fields, *names: str) -> str:
    return next((name for name in names if fields.value(name) is not None), names[0])


def _schema(fields: Fields, name: str) -> Constraint:
    return schema_constraint(fields, name, strict=True)


def _expression(fields: Fields, name: str) -> Constraint | None:
    text = fields.text(name)
    return Constraint("regex", text, param=fields.path(name)) if text else None


def _choice(fields: Fields, name: str) -> Constraint | None:
    choices = fields.list(name)
    if (
        not all(isinstance(choice, str) and choice for choice in choices)
        or len(choices) > MOST_CHOICES
    ):
        raise fields.wrong(name, f"must be an array of at most {MOST_CHOICES} strings")
    if not choices:
        return None
    listed = " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    return Constraint("lark", f"start: {listed}\n", param=fields.path(name))


def _grammar(fields: Fields, name: str) -> Constraint | None:
    """Reads a grammar in GBNF or Lark, or TGI's object that has a `type`."""
    given = fields.value(name)
    if isinstance(given, dict):
        return format_constraint(fields.object(name))
    source = fields.text(name)
    if not source or not source.strip():
        return None
    try:
        return Constraint("lark", lark_of(source), param=fields.path(name))
    except ValueError as error:
        raise fields.wrong(name, f"cannot be read: {error}") from None


def _structured_outputs(fields: Fields, name: str) -> Constraint | None:
    """Reads vLLM's object, which has one of json, regex, choice, grammar and json_object."""
    given = fields.object(name)
    assert given is not None
    refuse_what_is_not_done(given, whitespace_pattern=("",))
    known: dict[str, Reader] = {
        "json": _schema, "regex": _expression, "choice": _choice, "grammar": _grammar,
    }  # fmt: skip
    wanted = [key for key in known if given.value(key) is not None]
    if given.flag("json_object"):
        wanted.append("json_object")
    if len(wanted) > 1:
        raise given.wrong(wanted[1], f"cannot be combined with '{given.path(wanted[0])}'")
    if wanted == ["json_object"]:
        return json_constraint(Fields({"type": "json_object"}))
    return known[wanted[0]](given, wanted[0]) if wanted else None


Reader = Callable[[Fields, str], Constraint | None]
READERS: dict[str, Reader] = {
    "response_format": lambda fields, name: format_constraint(fields.object(name)),
    "json_schema": _schema,
    "grammar": _grammar,
    "regex": _expression,
    "ebnf": _grammar,
    "guided_json": _schema,
    "guided_regex": _expression,
    "guided_choice": _choice,
    "guided_grammar": _grammar,
    "structured_outputs": _structured_outputs,
}
"""The fields that hold a constraint, from OpenAI, llama.cpp, SGLang and vLLM."""
