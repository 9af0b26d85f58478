"""What a conversation is made of: the nouns every layer shares."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]
Role = Literal["system", "user", "assistant", "tool"]


DOCUMENTS = {
    ".pdf": "PDF", ".docx": "Word", ".xlsx": "Excel", ".xls": "Excel", ".xlsb": "Excel",
    ".ods": "OpenDocument", ".html": "HTML", ".htm": "HTML",
}  # fmt: skip
"""What only the server can read, by the ending of its name, and the name of its format."""
TEXTS = {
    ".csv": "CSV", ".tsv": "TSV", ".md": "Markdown", ".markdown": "Markdown", ".json": "JSON",
    ".py": "Python", **dict.fromkeys((
        ".txt", ".rst", ".log", ".yaml", ".yml", ".xml", ".tex", ".org", ".js", ".ts", ".java",
        ".c", ".h", ".cpp", ".cs", ".go", ".rs", ".rb", ".sql", ".sh", ".ini", ".toml", ".cfg",
    ), ""),
}  # fmt: skip
"""Files that are text, by the ending of their name. The name of a format that has none is empty."""


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    data: bytes
    at: int = 0
    """How much of its message's text stands before it."""


@dataclass(frozen=True, slots=True)
class File:
    """A document that came with a message. `problem` says why there is no data."""

    name: str = ""
    mime: str = ""
    data: bytes = field(default=b"", repr=False)
    problem: str = ""
    part: str = "document"
    """The kind of part it came in. Clients read their own kind, so it goes back as that."""

    @property
    def mark(self) -> str:
        """What stands in the text of its message in its place."""
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
        """Its text and images in the order they were given."""
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
    """Something the model may call. The client runs it when `run` is None."""

    name: str
    description: str
    parameters: Json
    run: Callable[[Json], Awaitable[str]] | None = None
    strict: bool = False
    """Its schema is refused where a call cannot be kept to it."""
    param: str = field(default="", compare=False)
    """Where its schema stands in the request, for errors."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """required: at least one call of `names`, or of any tool when there are none."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the answer's text must match. Exactly one of the kinds; `source` is its text."""

    kind: Literal["json_schema", "regex", "lark"]
    source: str
    strict: bool = True
    param: str = field(default="", compare=False)
    """Where it stands in the request, for errors."""


@dataclass(frozen=True, slots=True)
class Infill:
    """Text to be written between two texts, by a model with marks for that."""

    before: str
    after: str
    files: tuple[tuple[str, str], ...] = ()
    """Other files to know of: name and text of each."""


@dataclass(frozen=True, slots=True)
class Sampling:
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    """How many of the last tokens the penalties look at; 0: they are off."""
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
    """The fields that the client set itself; settings do not change these."""

    def fill(self, values: Json) -> "Sampling":
        """Sets what nobody has set yet."""
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
"""Raw text, or texts and token numbers in their order."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One turn asked of a model: its messages, or raw `prompt` text in place of them."""

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
    """What to fill; a `prompt` beside it is how the fill begins."""
    continues: bool = False
    """The last message is an answer's beginning, and is gone on with."""
    template_options: tuple[tuple[str, Any], ...] = ()
    client: str = ""
    """Who asks: the queue is fair between clients."""
    chat: str = ""
    """Which conversation it belongs to; empty: its client does not say."""
    warnings: tuple[str, ...] = ()
    """What was asked for and left out, in sentences."""
    keep_s: float | None = None
    """How long the model is to stay loaded afterwards; None: as the settings say."""

    @property
    def is_raw(self) -> bool:
        """Whether no chat template is used."""
        return self.prompt is not None or self.infill is not None

    @property
    def takes_one_call(self) -> bool:
        """The client named the one function to call, or handles one call at a time."""
        is_forced = self.tool_choice.mode == "required" and len(self.tool_choice.names) == 1
        return is_forced or not self.parallel_calls
