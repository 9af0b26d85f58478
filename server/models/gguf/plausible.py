"""Checks whether a header is plausible: finds contradictions between sizes, counts and shapes."""

import re
from collections.abc import Callable, Iterator

from server.models.gguf.header import Header, LongArray
from server.sentences import Sentence

MAX_LAYERS = 2048
MAX_WIDTH = 1 << 20
MAX_CONTEXT = 1 << 28
MAX_VOCABULARY = 1 << 22
ARCHITECTURE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
NO_MODELS = {
    "adapter": Sentence("an adapter for one"),
    "imatrix": Sentence("a matrix of importance"),
}
LAYER = re.compile(r"(?:^|\.)blk\.\d{1,6}\.")
BLOCK = re.compile(r"^blk\.(\d+)\.(.+)$")
WHOLE_NUMBERS = {
    "block_count": MAX_LAYERS,
    "context_length": MAX_CONTEXT,
    "embedding_length": MAX_WIDTH,
    "feed_forward_length": 1 << 24,
    "attention.head_count": 4096,
    "attention.head_count_kv": 4096,
    "attention.key_length": 1 << 16,
    "attention.value_length": 1 << 16,
    "rope.dimension_count": 1 << 16,
    "expert_count": 4096,
    "expert_used_count": 4096,
    "vocab_size": MAX_VOCABULARY,
}
MAY_BE_ZERO = {
    "expert_count", "expert_used_count", "rope.dimension_count", "feed_forward_length",
    "attention.head_count", "attention.head_count_kv", "vocab_size",
}  # fmt: skip
FRACTIONS = {
    "attention.layer_norm_rms_epsilon": 1.0,
    "attention.layer_norm_epsilon": 1.0,
    "rope.freq_base": 1e12,
    "rope.scaling.factor": 1e6,
}
TEXTS = (
    "general.architecture", "general.name", "general.license", "general.type",
    "tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.chat_template",
)  # fmt: skip
TOKEN_IDS = ("bos", "eos", "eot", "eom", "unknown", "separator", "padding", "mask")
TOKEN_LISTS = {"tokens": "string", "scores": "float32", "token_type": "int32", "merges": "string"}
EVEN = {"llama", "qwen2", "qwen3", "qwen2moe", "qwen3moe", "gemma", "gemma2", "gemma3", "granite"}
"""Architectures whose layers have the same tensors, with the header's heads and widths."""
TOP_TENSORS = {
    "token_embd.weight", "output.weight", "output.bias", "output_norm.weight",
    "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
}  # fmt: skip
NEEDED_IN_BLOCK = {"ffn_norm.weight", "attn_norm.weight", "attn_output.weight"}


def defect(header: Header) -> str:
    """Returns the first contradiction found, or ""."""
    return next((text for check in CHECKS for text in check(header)), "")


def missing(header: Header) -> str:
    """Returns what a complete file lacks, or "". Partly downloaded files are not checked for it."""
    if not header.tensors:
        return Sentence("it holds no tensors")
    has_layers = any(LAYER.search(tensor.name) for tensor in header.tensors)
    return "" if has_layers or header.is_projector else Sentence("it has no layers")


def _texts(header: Header) -> Iterator[str]:
    for key in TEXTS:
        if not isinstance(header.metadata.get(key, ""), str):
            yield Sentence("{0} is not text", key)
    if not header.architecture:
        yield Sentence("it does not say which architecture the model has")
    elif isinstance(header.metadata["general.architecture"], str) and not ARCHITECTURE.fullmatch(
        header.architecture
    ):
        yield Sentence("the name of its architecture has characters not allowed")
    if (kind := header.metadata.get("general.type")) in NO_MODELS:
        yield Sentence("it is not a model but {0}", NO_MODELS[kind])


def _numbers(header: Header) -> Iterator[str]:
    for name, most in WHOLE_NUMBERS.items():
        found = header.own(name)
        for value in found if isinstance(found, tuple) else (found,):
            if value is None:
                continue
            if not isinstance(value, int) or header.kind(name) not in ("uint32", ""):
                yield Sentence("{0} is not a whole number", name)
            elif not (0 if name in MAY_BE_ZERO else 1) <= value <= most:
                yield f"{name} is {value}"
    for name, limit in FRACTIONS.items():
        value = header.own(name)
        if value is not None and not (isinstance(value, float) and 0 < value <= limit):
            yield f"{name} is {value}"


def _required(header: Header) -> Iterator[str]:
    if header.is_projector or not header.tensors:
        return
    for name in ("block_count", "context_length", "embedding_length"):
        if header.own(name) is None:
            yield Sentence("{0}.{1} is missing", header.architecture, name)
    if header.vocabulary > MAX_VOCABULARY:
        yield Sentence("its vocabulary has {0} tokens", header.vocabulary)


def _vocabulary(header: Header) -> Iterator[str]:
    if header.metadata.get("tokenizer.ggml.tokens") is None:
        return
    count = header.vocabulary
    for name, kind in TOKEN_LISTS.items():
        found = header.metadata.get(f"tokenizer.ggml.{name}")
        if found is None:
            continue
        if not isinstance(found, LongArray) or found.kind != kind:
            yield Sentence("tokenizer.ggml.{0} is not a list of {1}", name, kind)
        elif found.count != count and name != "merges":
            yield Sentence(
                "tokenizer.ggml.{0} has {1} entries for {2} tokens", name, found.count, count
            )
    for name in TOKEN_IDS:
        token = header.metadata.get(f"tokenizer.ggml.{name}_token_id", 0)
        if not isinstance(token, int) or not (0 <= token < count or token == 0xFFFFFFFF):
            yield Sentence(
                "tokenizer.ggml.{0}_token_id is {1}, but there are {2} tokens", name, token, count
            )


def _embedding(header: Header) -> Iterator[str]:
    shapes = {tensor.name: tensor.shape for tensor in header.tensors}
    width = header.number("embedding_length")
    table = shapes.get("token_embd.weight")
    if table is not None:
        if width and table[0] != width:
            yield Sentence(
                "the token table is {0} wide, embedding_length says {1}", table[0], width
            )
        if header.vocabulary and table[1:] != (header.vocabulary,):
            yield Sentence("the token table has shape {0} for {1} tokens", table, header.vocabulary)
    elif header.tensors and not header.is_projector:
        yield Sentence("the token table (token_embd.weight) is missing")
    norm = shapes.get("output_norm.weight")
    if norm is not None and width and norm != (width,):
        yield Sentence("the tensor output_norm.weight has shape {0} instead of ({1},)", norm, width)


def _blocks(header: Header) -> Iterator[str]:
    found = {int(m[1]) for tensor in header.tensors if (m := BLOCK.match(tensor.name))}
    if not found or header.is_projector:
        return
    said = header.number("block_count")
    least = said - header.number("nextn_predict_layers")
    if max(found) >= said or not set(range(least)) <= found:
        yield Sentence("it says it has {0} layers, but holds tensors of {1}", said, len(found))


def _even_blocks(header: Header) -> Iterator[str]:
    """Applies stricter rules to architectures that are known to be regular."""
    if header.architecture not in EVEN or not header.tensors:
        return
    for name in ("attention.head_count", "feed_forward_length"):
        if not header.own(name):
            yield Sentence("{0}.{1} is missing", header.architecture, name)
    layers: dict[int, dict[str, tuple[int, ...]]] = {}
    for tensor in header.tensors:
        match = BLOCK.match(tensor.name)
        if match:
            layers.setdefault(int(match[1]), {})[match[2]] = tensor.shape
        elif tensor.name not in TOP_TENSORS:
            yield Sentence(
                "the tensor {0} has no place in a {1} model", tensor.name, header.architecture
            )
    if not layers:
        yield Sentence("it has no layers")
        return
    first = layers.get(0, {})
    missing = NEEDED_IN_BLOCK - set(first)
    if missing:
        yield Sentence("the tensor blk.0.{0} is missing", min(missing))
    yield from _differences(first, layers)
    yield from _attention(header, first)


def _differences(
    first: dict[str, tuple[int, ...]], layers: dict[int, dict[str, tuple[int, ...]]]
) -> Iterator[str]:
    for number, layer in layers.items():
        for name in set(first) ^ set(layer):
            yield Sentence("the tensor blk.{0}.{1} is missing or has no place", number, name)
        for name, shape in layer.items():
            if first.get(name) != shape:
                yield Sentence(
                    "the tensor blk.{0}.{1} has shape {2} unlike in layer 0", number, name, shape
                )


def _attention(header: Header, layer: dict[str, tuple[int, ...]]) -> Iterator[str]:
    width, heads = header.number("embedding_length"), header.number("attention.head_count")
    if not heads:
        return
    groups = header.number("attention.head_count_kv", heads)
    key = header.number("attention.key_length", width // heads)
    value = header.number("attention.value_length", key)
    forward = header.number("feed_forward_length")
    expected = {
        "attn_norm.weight": (width,),
        "ffn_norm.weight": (width,),
        "attn_q.weight": (width, heads * key),
        "attn_k.weight": (width, groups * key),
        "attn_v.weight": (width, groups * value),
        "attn_output.weight": (heads * value, width),
        "ffn_gate.weight": (width, forward),
        "ffn_up.weight": (width, forward),
        "ffn_down.weight": (forward, width),
    }
    if not groups or heads % groups:
        yield Sentence("{0} attention heads cannot share {1} key heads", heads, groups)
    turned = header.number("rope.dimension_count", key)
    if turned > key or turned % 2:
        yield Sentence("rope.dimension_count is {0} for heads of {1}", turned, key)
    for name, shape in expected.items():
        if layer.get(name, shape) != shape:
            yield Sentence(
                "the tensor blk.0.{0} has shape {1} instead of {2}", name, layer[name], shape
            )


CHECKS: tuple[Callable[[Header], Iterator[str]], ...] = (
    _texts, _numbers, _required, _vocabulary, _embedding, _blocks, _even_blocks,
)  # fmt: skip
