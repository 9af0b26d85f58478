"""What a template renders for its own history, as a model would say it, and read back."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from server.chat import ChatRequest, Message, Tool, ToolCall, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import choose
from server.engine.styles.base import starts_in_thought, thought_marks
from server.engine.styles.learned import behind
from server.engine.worker.prompt.template import Template, TemplateFailed, abilities, reads_parts
from tests.server.engine.styles.samples import matches, pieces, streamed

TEXT, THOUGHT = "Now I do it.", "First I look it up."
LOOK = Tool(
    "look_up",
    "Looks something up.",
    {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "How long."},
            "exact": {"type": "boolean", "description": "Whether."},
        },
        "required": ["place", "days"],
    },
)
KEEP = Tool(
    "keep_note",
    "Keeps a note.",
    {
        "type": "object",
        "properties": {
            "note": {"type": "string", "description": "What."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
            "more": {
                "type": "object",
                "properties": {"size": {"type": "integer"}, "unit": {"type": "string"}},
                "description": "More.",
            },
        },
        "required": ["note"],
    },
)
SIMPLE = ToolCall("call00001", "look_up", {"place": "Paris", "days": 4})
OTHER = ToolCall("call00002", "keep_note", {"note": "milk", "tags": ["a", "b"]})
FLAGGED = ToolCall("call00003", "look_up", {"place": "Bern", "days": 2, "exact": True})
NESTED = ToolCall(
    "call00004", "keep_note", {"note": "x", "tags": ["ü"], "more": {"size": 3, "unit": "kg"}}
)
ODD = ToolCall(
    "call00005",
    "keep_note",
    {"note": 'Zürich "so"\n  {"a": [1]} <b>bold</b> <tool_call> 100% & \\n it\'s 🌍', "tags": []},
)
QUESTION = Message("user", "needle-question")
ASK = ChatRequest((QUESTION,), tools=(LOOK, KEEP))
SCENES: dict[str, Message] = {
    "answer": Message("assistant", TEXT),
    "thought": Message("assistant", TEXT, reasoning=THOUGHT),
    "call": Message("assistant", "", tool_calls=(SIMPLE,)),
    "calls": Message("assistant", "", tool_calls=(SIMPLE, OTHER)),
    "text and call": Message("assistant", TEXT, tool_calls=(SIMPLE,)),
    "thought and call": Message("assistant", "", tool_calls=(SIMPLE,), reasoning=THOUGHT),
    "flag": Message("assistant", "", tool_calls=(FLAGGED,)),
    "nested": Message("assistant", "", tool_calls=(NESTED,)),
    "odd": Message("assistant", "", tool_calls=(ODD,)),
}
ENDS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|call|>", "<|calls|>", "<|return|>",
    "<|end_of_msg|>", "<|END_OF_TURN_TOKEN|>", "</s>", "<end_of_turn>", "<turn|>", "<SPECIAL_12>",
    "<｜end▁of▁sentence｜>", "<|end_of_text|>", "<|endoftext|>", "<|tool_response>", "[e~[",
    "<seed:eos>", "<|eot|>", "<｜hy_eos:opensource｜>", "<|role_end|>", "<|assistant_end|>",
)  # fmt: skip
"""Tokens that end an answer: the worker stops there and shows none of them."""
FIRST_END = re.compile("|".join(map(re.escape, ENDS)))


def facts_of(source: str, template: Any = None) -> tuple[ModelFacts, Any]:
    template = template or Template(source, "<s>", "</s>")
    template.reads_parts = reads_parts(template)
    return ModelFacts(template=source, extra={"template": abilities(template)}), template


@dataclass(frozen=True)
class Told:
    """What came of one scene: what the model would say, what was read, what was meant."""

    said: str
    read: Any = None
    meant: Any = None
    grammar: bool = True
    refused: str = ""

    @property
    def right(self) -> bool:
        return not self.refused and self.read == self.meant


def tell(name: str, facts: ModelFacts, template: Any) -> Told:
    scene = SCENES[name]
    style = choose(facts)
    asked = replace(ASK, template_options=(("enable_thinking", bool(scene.reasoning)),))
    history = replace(asked, messages=(QUESTION, scene))
    try:
        said = _said(style.prepare(history, facts), facts, template, asked)
    except TemplateFailed as failed:
        return Told("", refused=str(failed))
    shown = style.prepare(history, facts).messages[-1].get("tool_calls")
    if shown and len(shown) < len(scene.tool_calls):
        scene = replace(scene, tool_calls=scene.tool_calls[-1:])
    meant = _meant(scene, said)
    read = [_read(style, asked, facts, said, size) for size in (1, 10_000)]
    if read[0] != read[1]:
        return Told(said, read, meant)
    bound = scene.tool_calls and not meant[0]
    grammar = not bound or _is_allowed(style, asked, facts, said)
    return Told(said, read[0], meant, grammar)


def _said(prepared: Any, facts: ModelFacts, template: Any, asked: ChatRequest) -> str:
    """The last turn as the model would say it: behind the prompt, and without its end."""
    options = dict(asked.template_options)
    turns, tools = prepared.messages, prepared.tools
    render = template.render_somehow
    whole = render(turns, tools, options, add_generation_prompt=False)
    prompt = render(turns[:-1], tools, options)
    plain = [*turns[:-1], {"role": "assistant", "content": TEXT}]
    rendered = render(plain, tools, options, add_generation_prompt=False)
    tail = FIRST_END.split(rendered.rpartition(TEXT)[2])[0].strip()
    rests = [text.rpartition(QUESTION.content)[2] for text in (whole, prompt)]
    # Instructions behind every conversation are no part of a turn.
    said = behind(*(rest.partition("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>")[0] for rest in rests))
    said = FIRST_END.split(said.removeprefix("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"))[0]
    if tail and said.rstrip().endswith(tail):
        said = said.rstrip().removesuffix(tail)
    marks = thought_marks(facts)
    opened = starts_in_thought(asked, facts)
    if marks and opened and marks[1] not in said:
        return marks[1] + said
    return said.removeprefix(marks[1]) if marks and not opened else said


def _read(style: Any, asked: ChatRequest, facts: ModelFacts, said: str, size: int) -> Any:
    parser = style.prepare(asked, facts).parser
    text, thoughts, calls = streamed(pieces(parser, said, size))
    return text.strip(), thoughts.strip(), [(call, _value(given)) for call, given, _ in calls]


def _meant(scene: Message, said: str) -> Any:
    """A template may leave out thoughts and the text beside calls."""
    text = scene.content if scene.content in said else ""
    thoughts = scene.reasoning if scene.reasoning and scene.reasoning in said else ""
    return text, thoughts, [(call.name, call.arguments) for call in scene.tool_calls]


def _is_allowed(style: Any, asked: ChatRequest, facts: ModelFacts, said: str) -> bool:
    required = style.prepare(replace(asked, tool_choice=ToolChoice("required")), facts)
    rest = said.partition(required.trigger)[2] if required.trigger else said
    return matches(required.constraint.source, rest) or matches(
        required.constraint.source, rest.rstrip()
    )


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
