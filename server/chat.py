"""The data of a conversation that all layers share."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]


DOCUMENTS = {
    ".pdf": "PDF", ".docx": "Word", ".xlsx": "Excel", ".xls": "Excel", ".xlsb": "Excel",
    ".ods": "OpenDocument", ".html": "HTML", ".htm": "HTML",
}  # fmt: skip
"""The names of file formats that only the server can read, by suffix."""
TEXTS = {
    ".csv": "CSV", ".tsv": "TSV", ".md": "Markdown", ".markdown": "Markdown", ".json": "JSON",
    ".py": "Python", **dict.fromkeys((
        ".txt", ".rst", ".log", ".yaml", ".yml", ".xml", ".tex", ".org", ".js", ".ts", ".java",
        ".c", ".h", ".cpp", ".cs", ".go", ".rs", ".rb", ".sql", ".sh", ".ini", ".toml", ".cfg",
    ), ""),
}  # fmt: skip
"""The names of text formats by suffix; empty if a format has no name of its own."""


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    data: bytes
    at: int = 0
    """The number of characters of the message's text before it."""


@dataclass(frozen=True, slots=True)
class File:
    """A document that came with a message. `problem` says why there is no data."""

    name: str = ""
    mime: str = ""
    data: bytes = field(default=b"", repr=False)
    problem: str = ""
    part: str = "document"
    """The kind of content part it came in, which it is returned in, too."""

    @property
    def mark(self) -> str:
        """The text that replaces it in its message."""
        return f"[{self.name or self.part} attached]"


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    reasoning: str | None = None
    files: tuple[File, ...] = ()

    def parts(self) -> Iterator["str | Image"]:
        """Yields the message's text and images in their original order."""
        begin = 0
        for image in self.images:
            if image.at > begin:
                yield self.content[begin : image.at]
                begin = image.at
            yield image
        if self.content[begin:]:
            yield self.content[begin:]


@dataclass(frozen=True, slots=True)
class Tool:
    """Something the model may call. If `run` is None, the client runs it."""

    name: str
    description: str
    parameters: Json
    run: Callable[[Json], Awaitable[str]] | None = None
    strict: bool = False
    """Whether to refuse its schema if calls cannot be forced to match it."""
    param: str = field(default="", compare=False)
    """The place of its schema in the request, for errors."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """How tools are called. `required`: at least one call of `names`, or of any tool if empty."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint on the answer's text. `source` is a schema, a regex or a grammar."""

    kind: Literal["json_schema", "regex", "lark"]
    source: str
    strict: bool = True
    param: str = field(default="", compare=False)
    """The place of the constraint in the request, for errors."""


@dataclass(frozen=True, slots=True)
class Infill:
    """Text to write between two texts, by a model with marks for that."""

    before: str
    after: str
    files: tuple[tuple[str, str], ...] = ()
    """Other files for context, as name and text."""


@dataclass(frozen=True, slots=True)
class Sampling:
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    """How many of the last tokens the penalties consider; 0 switches them off."""
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    dry_multiplier: float = 0.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    seed: int | None = None
    logit_bias: tuple[tuple[int, float], ...] = ()
    ignore_eos: bool = False
    given: tuple[str, ...] = field(default=(), compare=False)
    """The fields that the client has set. Settings do not change these."""

    def fill(self, values: Json) -> "Sampling":
        """Returns a copy with values for the fields that nobody has set yet."""
        usual = Sampling()
        open_ = {
            name: value
            for name, value in values.items()
            if name in SAMPLED
            and name not in self.given
            and getattr(self, name) == getattr(usual, name)
        }
        return replace(self, **open_, given=(*self.given, *open_))


SAMPLED = frozenset(Sampling.__dataclass_fields__) - {"given"}


Prompt = str | tuple[str | int, ...]
"""Raw text, or texts and token ids in order."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for one turn of a model: messages, or a raw `prompt`."""

    messages: tuple[Message, ...] = ()
    model: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    parallel_calls: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    constraint: Constraint | None = None
    top_logprobs: int | None = None
    choices: int = 1
    prompt: Prompt | None = None
    infill: Infill | None = None
    """What to fill in. A `prompt` beside it is the beginning of the fill."""
    continues: bool = False
    """Whether the last message is the beginning of the answer, to be continued."""
    template_options: tuple[tuple[str, Any], ...] = ()
    client: str = ""
    """The client's name. The queue is fair between clients."""
    chat: str = ""
    """The conversation that it belongs to; empty if the client does not say."""
    warnings: tuple[str, ...] = ()
    """Sentences about requested features that were left out."""
    keep_s: float | None = None
    """Seconds that the model stays loaded afterwards; None leaves it to the settings."""

    @property
    def is_raw(self) -> bool:
        """Whether no chat template is used."""
        return self.prompt is not None or self.infill is not None

    @property
    def takes_one_call(self) -> bool:
        """Whether the client named one function to call, or handles one call at a time."""
        is_forced = self.tool_choice.mode == "required" and len(self.tool_choice.names) == 1
        return is_forced or not self.parallel_calls
