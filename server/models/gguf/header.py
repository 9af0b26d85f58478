"""The head of a GGUF file as read: what it says of the model, and where its tensors lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from server.models.gguf.tensors import FILE_TYPES, FORMATS
from server.system.limits import one_line

TOOL_MARKS = (
    ("<tool_call>", "hermes"),
    ("[TOOL_CALLS]", "mistral"),
    ("<|python_tag|>", "llama 3"),
    ("<|tool_call|>", "granite"),
    ("<|channel|>", "harmony"),
    ("tool▁calls▁begin", "deepseek"),
    ("<start_function_call>", "functiongemma"),
    ("functools[", "phi"),
)


@dataclass(frozen=True, slots=True)
class LongArray:
    """An array too long to keep: what it holds and how many."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    shape: tuple[int, ...]
    format_id: int
    offset: int

    @property
    def values(self) -> int:
        product = 1
        for size in self.shape:
            product *= size
        return product

    @property
    def size_bytes(self) -> int:
        return FORMATS[self.format_id].size(self.values)


@dataclass(frozen=True)
class Header:
    version: int
    metadata: Mapping[str, Any]
    tensors: tuple[Tensor, ...]
    data_offset: int
    file_bytes: int
    shards: int = 1
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The type each plain number has in the file."""

    @cached_property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", ""))

    def own(self, name: str) -> Any:
        """A value of the architecture: own("block_count") is llama.block_count."""
        return self.metadata.get(f"{self.architecture}.{name}")

    def kind(self, name: str) -> str:
        return self.kinds.get(f"{self.architecture}.{name}", "")

    def number(self, name: str, default: int = 0) -> int:
        found = self.own(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else default

    @property
    def name(self) -> str:
        return one_line(str(self.metadata.get("general.name", "")))

    @property
    def licence(self) -> str:
        return one_line(str(self.metadata.get("general.license", "")))

    @property
    def template(self) -> str:
        return str(self.metadata.get("tokenizer.chat_template", ""))

    @property
    def context_tokens(self) -> int:
        return self.number("context_length")

    @cached_property
    def parameters(self) -> int:
        return sum(tensor.values for tensor in self.tensors)

    @cached_property
    def weight_bytes(self) -> int:
        return sum(tensor.size_bytes for tensor in self.tensors)

    @property
    def vocabulary(self) -> int:
        tokens = self.metadata.get("tokenizer.ggml.tokens")
        return tokens.count if isinstance(tokens, LongArray) else 0

    @cached_property
    def quantisation(self) -> str:
        """What the file says; else the format most of its weights have."""
        said = FILE_TYPES.get(self.metadata.get("general.file_type", -1))
        if said:
            return said
        sizes: dict[int, int] = {}
        for tensor in self.tensors:
            sizes[tensor.format_id] = sizes.get(tensor.format_id, 0) + tensor.values
        return FORMATS[max(sizes, key=sizes.__getitem__)].name if sizes else ""

    @property
    def tool_style(self) -> str:
        """How the template wants tool calls written: a name, "generic", or "" for no tools."""
        for mark, style in TOOL_MARKS:
            if mark in self.template:
                return style
        return "generic" if "tools" in self.template else ""

    @property
    def is_embedder(self) -> bool:
        return self.own("pooling_type") is not None or "bert" in self.architecture

    @property
    def is_projector(self) -> bool:
        """The part of a vision or audio model that lies in a file of its own (mmproj)."""
        return self.architecture == "clip" or self.metadata.get("general.type") == "mmproj"
