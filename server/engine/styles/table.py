"""Styles declared as data: the marks around calls, and the form of the calls between them."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import partial

from server.chat import Tool
from server.engine.base import ModelFacts
from server.engine.styles.base import Format
from server.engine.styles.json_body import JsonBody, KeyedBody, NamedBody
from server.engine.styles.python_body import PythonBody, raw_code
from server.engine.styles.shape import Shape, native, prepare
from server.engine.styles.stream import Reader
from server.engine.styles.tagged_body import TaggedBody

APERTUS_SHAPE = Shape(
    KeyedBody(), mark="<|tools_prefix|>", opens="[", between=", ", closes="]<|tools_suffix|>"
)
APERTUS = native("apertus", APERTUS_SHAPE, "<|tools_prefix|>")
"""<|tools_prefix|>[{"name": {…}}]<|tools_suffix|>: Apertus."""
APRIEL_SHAPE = Shape(
    JsonBody(), mark="<tool_calls>", opens="[", between=", ", closes="]</tool_calls>"
)
APRIEL = native("apriel", APRIEL_SHAPE, "<tool_calls>[")
"""<tool_calls>[{"name": …, "arguments": {…}}]</tool_calls>: Apriel."""
COHERE_SHAPE = Shape(
    JsonBody(
        "tool_name",
        "parameters",
        before='"\\"tool_call_id\\": \\"" /[0-9]{1,2}/ "\\", "',
    ),
    mark="<|START_ACTION|>",
    opens="[\n    ",
    between=",\n    ",
    closes="\n]<|END_ACTION|>",
)
COHERE = native("cohere", COHERE_SHAPE, "<|START_ACTION|>")
"""<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]: Command R7B, A."""
COMMAND_R_SHAPE = Shape(
    JsonBody("tool_name", "parameters"),
    mark="Action:",
    opens="\n```json\n[",
    between=", ",
    closes="]\n```",
    lead="\n",
)
COMMAND_R = native("command r", COMMAND_R_SHAPE, "Action:", "```json")
"""Action: and a fenced list of {"tool_name": …, "parameters": {…}}: Command R and R+."""
DEEPSEEK_SHAPE = Shape(
    NamedBody(between="<｜tool▁sep｜>"),
    mark="<｜tool▁calls▁begin｜>",
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    closes="<｜tool▁calls▁end｜>",
)
DEEPSEEK = native("deepseek", DEEPSEEK_SHAPE, "<｜tool▁calls▁begin｜>")
"""<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}: DeepSeek V3.1."""
QWEN_MARKS = ("<tool_call>", "</tool_call>")


@dataclass(frozen=True, slots=True)
class FencedBody(NamedBody):
    """R1's calls. A distilled Qwen has R1's template, but sometimes writes calls as Qwen does."""

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept(QWEN_MARKS[0])):
            return (yield from NamedBody.read(self, reader, tools))
        yield from reader.skip_space()
        made = yield from JsonBody().read(reader, tools)
        yield from reader.skip_space()
        yield from reader.accept(QWEN_MARKS[1])
        return made


DEEPSEEK_R1_SHAPE = Shape(
    FencedBody(before="function<｜tool▁sep｜>", between="\n```json\n", after="\n```"),
    mark="<｜tool▁calls▁begin｜>",
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    between="\n",
    closes="<｜tool▁calls▁end｜>",
    also=(QWEN_MARKS[0],),
)
DEEPSEEK_R1 = native("deepseek r1", DEEPSEEK_R1_SHAPE, "<｜tool▁calls▁begin｜>", "```json")
"""<｜tool▁call▁begin｜>function<｜tool▁sep｜>name and fenced JSON: DeepSeek R1, V3."""
DEEPSEEK_V4_SHAPE = Shape(
    TaggedBody(
        name=('<｜DSML｜invoke name="', '">\n'),
        key=('<｜DSML｜parameter name="', '" string="false">'),
        kinds=(("string", '" string="true">'),),
        value=("", ""),
        end="</｜DSML｜parameter>\n",
        closes="</｜DSML｜invoke>",
    ),
    mark="<｜DSML｜tool_calls>",
    opens="\n",
    between="\n",
    closes="\n</｜DSML｜tool_calls>",
    cuts_thought=True,
)
DEEPSEEK_V4 = native("deepseek v4", DEEPSEEK_V4_SHAPE, "｜DSML｜", "tool_calls")
"""<｜DSML｜invoke name="…"> with one <｜DSML｜parameter> per argument: DeepSeek V4."""
DEVSTRAL_SHAPE = Shape(
    NamedBody(between="[ARGS]"), mark="[TOOL_CALLS]", repeats=True, short_ids=True
)
DEVSTRAL = native("devstral", DEVSTRAL_SHAPE, "[TOOL_CALLS]", "[ARGS]")
"""[TOOL_CALLS]name[ARGS]{…}: Devstral, Magistral, Ministral 3."""
FIREFUNCTION_SHAPE = Shape(JsonBody(), mark="functools[", between=", ", closes="]")
FIREFUNCTION = native("firefunction", FIREFUNCTION_SHAPE, " functools[")
"""functools[{"name": …, "arguments": {…}}]: Firefunction v2."""
PYTHON_TAG = "<|python_tag|>"


@dataclass(frozen=True, slots=True)
class FunctionBody(NamedBody):
    """A named call, or a program after `<|python_tag|>`."""

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if (yield from reader.accept(PYTHON_TAG)):
            return (yield from raw_code(reader, tools))
        return (yield from NamedBody.read(self, reader, tools))


FUNCTIONARY_V3_1_SHAPE = Shape(
    FunctionBody(between=">"),
    mark="<function=",
    closes="</function>",
    repeats=True,
    also=(PYTHON_TAG,),
)
FUNCTIONARY_V3_1 = native(
    "functionary v3.1", FUNCTIONARY_V3_1_SHAPE, "<function=", "<|start_header_id|>"
)
"""<function=name>{…}</function>, programs after <|python_tag|>: Functionary v3.1 on Llama 3.1."""
GIGACHAT_SHAPE = Shape(JsonBody(), mark="<|function_call|>", single=True)
GIGACHAT = native("gigachat", GIGACHAT_SHAPE, "<|function_call|>")
"""<|function_call|>{"name": …, "arguments": {…}}: GigaChat 3.1."""
GIGACHAT3_SHAPE = Shape(
    JsonBody(), mark="<|message_sep|>\n\nfunction call<|role_sep|>", opens="\n", single=True
)
GIGACHAT3 = native(
    "gigachat 3", GIGACHAT3_SHAPE, "function call", "<|message_sep|>", "<|role_sep|>"
)
"""A message of the role "function call" with {"name": …, "arguments": {…}}: GigaChat 3."""
GLM_SHAPE = Shape(
    TaggedBody(
        name=("", "\n"),
        key=("<arg_key>", "</arg_key>"),
        value=("\n<arg_value>", ""),
        end="</arg_value>\n",
        closes="",
    ),
    mark="<tool_call>",
    closes="</tool_call>",
    between="\n",
    repeats=True,
)
GLM = native("glm", GLM_SHAPE, "<tool_call>", "<arg_key>")
"""<tool_call>name with <arg_key> and <arg_value> pairs: GLM 4.5 and 4.6, Laguna."""
GRANITE3_SHAPE = Shape(JsonBody(), mark="<|tool_call|>", opens="[", between=", ", closes="]")
GRANITE3 = native("granite 3", GRANITE3_SHAPE, "<|tool_call|>")
"""<|tool_call|>[{"name": …, "arguments": {…}}]: Granite 3."""
HERMES_SHAPE = Shape(
    JsonBody(),
    mark="<tool_call>",
    opens="\n",
    closes="\n</tool_call>",
    between="\n",
    repeats=True,
)
HERMES = native("hermes", HERMES_SHAPE, "<tool_call>")
"""<tool_call>{"name": …, "arguments": {…}}</tool_call>: Hermes 2 Pro and 3, Qwen, Granite 4."""
KIMI_SHAPE = Shape(
    NamedBody(
        between="<|tool_call_argument_begin|>",
        before="functions.",
        id_after=":",
        id_rule="/[0-9]{1,2}/",
        whole_is_id=True,
    ),
    mark="<|tool_calls_section_begin|>",
    call=("<|tool_call_begin|>", "<|tool_call_end|>"),
    closes="<|tool_calls_section_end|>",
    also=("<|tool_call_begin|>",),
    cuts_thought=True,
)
KIMI = native("kimi", KIMI_SHAPE, "<|tool_calls_section_begin|>")
"""<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}: Kimi K2."""
LFM2_SHAPE = Shape(
    PythonBody(),
    mark="<|tool_call_start|>",
    opens="[",
    between=", ",
    closes="]<|tool_call_end|>",
)


def fits(facts: ModelFacts) -> bool:
    return any(sign in facts.template for sign in ("<|tool_call_start|>", "<|tool_list_start|>"))


LFM2 = Format("lfm2", fits, partial(prepare, LFM2_SHAPE), shape=LFM2_SHAPE)
"""<|tool_call_start|>[name(key=value)]<|tool_call_end|>: LFM2."""
MINIMAX_M1_SHAPE = Shape(
    JsonBody(), mark="<tool_calls>", opens="\n", between="\n", closes="\n</tool_calls>"
)
MINIMAX_M1 = native("minimax m1", MINIMAX_M1_SHAPE, "<tool_calls>")
"""<tool_calls> and one {"name": …, "arguments": {…}} a line: MiniMax M1."""
MISTRAL_NEMO_SHAPE = Shape(
    JsonBody(after='", \\"id\\": \\"" /[a-zA-Z0-9]{9}/ "\\""'),
    mark="[TOOL_CALLS]",
    opens="[",
    between=", ",
    closes="]",
    short_ids=True,
)
MISTRAL_NEMO = native("mistral nemo", MISTRAL_NEMO_SHAPE, "[TOOL_CALLS]")
"""[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}]: Mistral Nemo."""
MISTRAL_SMALL_SHAPE = Shape(
    NamedBody(between="[ARGS]", id_after="[CALL_ID]", id_rule="/[a-zA-Z0-9]{9}/"),
    mark="[TOOL_CALLS]",
    repeats=True,
    short_ids=True,
)
MISTRAL_SMALL = native("mistral small", MISTRAL_SMALL_SHAPE, "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]")
"""[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}: Mistral Small 3.2."""
NEMOTRON_SHAPE = Shape(
    JsonBody(), mark="<TOOLCALL>", opens="[", between=", ", closes="]</TOOLCALL>"
)
NEMOTRON = native("nemotron", NEMOTRON_SHAPE, "<TOOLCALL>")
"""<TOOLCALL>[{"name": …, "arguments": {…}}]</TOOLCALL>: Nemotron Nano."""
PHI4_SHAPE = Shape(
    JsonBody(), mark="<|tool_call|>", opens="[", between=", ", closes="]<|/tool_call|>"
)
PHI4 = native("phi 4", PHI4_SHAPE, "<|tool_call|>", "<|/tool_call|>")
"""<|tool_call|>[{"name": …, "arguments": {…}}]<|/tool_call|>: Phi 4 mini."""
QWEN_CODER_SHAPE = Shape(
    TaggedBody(
        name=("<function=", ">\n"),
        key=("<parameter=", ">"),
        value=("\n", "\n"),
        end="</parameter>\n",
        closes="</function>",
    ),
    mark="<tool_call>",
    opens="\n",
    closes="\n</tool_call>",
    between="\n",
    repeats=True,
    also=("<function=",),
)
QWEN_CODER = native("qwen coder", QWEN_CODER_SHAPE, "<tool_call>", "<function=", "<parameter=")
"""<function=name> with one <parameter=key> per argument: Qwen3 Coder."""
SEED_SHAPE = Shape(
    TaggedBody(
        name=("<function=", ">\n"),
        key=("<parameter=", ">"),
        value=("", ""),
        end="</parameter>\n",
        closes="</function>",
    ),
    mark="<seed:tool_call>",
    opens="\n",
    closes="\n</seed:tool_call>",
    between="\n",
    repeats=True,
)
SEED = native("seed", SEED_SHAPE, "<seed:tool_call>")
"""<seed:tool_call> with one <parameter=key> per argument: Seed OSS."""
