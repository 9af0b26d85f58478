"""The parsed header of a GGUF file: metadata about the model, and the layout of its tensors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from server.system.limits import one_line


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A tensor format: values are stored in blocks of `block` values and `block_bytes` bytes."""

    name: str
    block: int
    block_bytes: int

    def size(self, values: int) -> int:
        """Returns the bytes for this many values, which must fill whole blocks."""
        return values // self.block * self.block_bytes


FORMATS: dict[int, NumberFormat] = {
    number: NumberFormat(name, block, block_bytes)
    for number, name, block, block_bytes in (
        (0, "F32", 1, 4), (1, "F16", 1, 2), (2, "Q4_0", 32, 18), (3, "Q4_1", 32, 20),
        (6, "Q5_0", 32, 22), (7, "Q5_1", 32, 24), (8, "Q8_0", 32, 34), (9, "Q8_1", 32, 36),
        (10, "Q2_K", 256, 84), (11, "Q3_K", 256, 110), (12, "Q4_K", 256, 144),
        (13, "Q5_K", 256, 176), (14, "Q6_K", 256, 210), (15, "Q8_K", 256, 292),
        (16, "IQ2_XXS", 256, 66), (17, "IQ2_XS", 256, 74), (18, "IQ3_XXS", 256, 98),
        (19, "IQ1_S", 256, 50), (20, "IQ4_NL", 32, 18), (21, "IQ3_S", 256, 110),
        (22, "IQ2_S", 256, 82), (23, "IQ4_XS", 256, 136), (24, "I8", 1, 1), (25, "I16", 1, 2),
        (26, "I32", 1, 4), (27, "I64", 1, 8), (28, "F64", 1, 8), (29, "IQ1_M", 256, 56),
        (30, "BF16", 1, 2), (34, "TQ1_0", 256, 54), (35, "TQ2_0", 256, 66),
        (39, "MXFP4", 32, 17), (40, "NVFP4", 64, 36), (41, "Q1_0", 128, 18), (42, "Q2_0", 64, 18),
    )
}  # fmt: skip
FILE_TYPES: dict[int, str] = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
"""The names of quantisations by the number in `general.file_type`."""


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
"""Strings that reveal which tool call style a chat template uses. The first match wins."""


@dataclass(frozen=True, slots=True)
class LongArray:
    """The type and length of an array that is too long to keep."""

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
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        return FORMATS[self.format_id].size(self.values)


@dataclass(frozen=True)
class Header:
    """The header of a model: one file's, or that of all files of a split model."""

    metadata: Mapping[str, Any]
    tensors: tuple[Tensor, ...] = ()
    file_bytes: int = 0
    shards: int = 1
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The GGUF type of each scalar value, by key."""
    version: int = 3

    @cached_property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", ""))

    def own(self, name: str) -> Any:
        """Returns a value of the architecture: own("block_count") reads llama.block_count."""
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
        """The quantisation that the file names, or else the format of most of its weights."""
        said = FILE_TYPES.get(self.metadata.get("general.file_type", -1))
        if said:
            return said
        sizes: dict[int, int] = {}
        for tensor in self.tensors:
            sizes[tensor.format_id] = sizes.get(tensor.format_id, 0) + tensor.values
        return FORMATS[max(sizes, key=sizes.__getitem__)].name if sizes else ""

    @property
    def tool_style(self) -> str:
        """The template's style for tool calls: a name, "generic", or "" if it has no tools."""
        for mark, style in TOOL_MARKS:
            if mark in self.template:
                return style
        return "generic" if "tools" in self.template else ""

    @property
    def is_embedder(self) -> bool:
        return self.own("pooling_type") is not None or "bert" in self.architecture

    @property
    def is_projector(self) -> bool:
        """Whether the file is the vision or audio part (mmproj) of a model in another file."""
        return self.architecture == "clip" or self.metadata.get("general.type") == "mmproj"
