"""Estimates a model's memory from its header: weights, cache, working space, draft model."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from server.face.models import KvType, Machine, Memory, Setup
from server.models.gguf.files import Headers
from server.models.gguf.header import FORMATS, Header, Tensor
from server.models.gguf.plausible import defect
from server.models.repository import size_of
from server.settings import ModelSettings
from server.sizes import MIB

KV_BYTES: dict[KvType, float] = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
PROGRAM_BYTES = 85 * MIB
"""Memory of the worker itself and of the child process that renders templates."""
TOKEN_BYTES = 300
"""Bytes that llama.cpp keeps for each token of the vocabulary."""
CELLS = 256
"""The cache grows in steps of this many tokens."""
CARD_BYTES = 600 * MIB
"""Memory that the driver and its libraries take on a card for each program that uses it."""
BLOCK = re.compile(r"blk\.(\d+)\.")
EXPERTS = re.compile(r"blk\.(\d+)\.ffn_(?:up|down|gate|gate_up)_(?:ch)?exps\.")
"""The tensors of a mixture's experts, with the pattern of llama.cpp's own option."""
REPACKED = {
    "asimddp": {"Q1_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_NL", "MXFP4"},
    "avx2": {"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"},
    "avx512f": {"Q2_K"},
    "amx_int8": {"Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_XS"},
}
"""The formats that llama.cpp repacks per processor feature (repack.cpp, amx/common.h)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The sizes of a model that determine its memory."""

    layers: int
    width: int
    heads: int
    cache_widths: tuple[int, ...]
    """For each layer, the number of key and value elements that one token takes."""
    state_bytes: int
    """Bytes of recurrent state per conversation, in models that have one."""
    forward: int
    vocabulary: int
    context_tokens: int


def layout_of(header: Header) -> Layout:
    layers = max(1, header.number("block_count", 1))
    width = header.number("embedding_length")
    heads = max(_per_layer(header, "attention.head_count", layers, 1))
    widths = _cache_widths(header, layers, width // max(1, heads), heads)
    return Layout(
        layers,
        width,
        heads,
        widths,
        _state_bytes(header, layers, widths.count(0)),
        max(_per_layer(header, "feed_forward_length", layers, 4 * width)),
        header.vocabulary or header.number("vocab_size") or 128_000,
        header.context_tokens or 4096,
    )


def _cache_widths(header: Header, layers: int, head: int, heads: int) -> tuple[int, ...]:
    """Returns the number of key and value elements of a token in each layer.

    Layers with a sliding window may have smaller heads. They keep all cells, which is llama.cpp's
    default. The last layers may share the cache of earlier ones.
    """
    key = header.number("attention.key_length", head)
    value = header.number("attention.value_length", key)
    near_key = header.number("attention.key_length_swa", key)
    near_value = header.number("attention.value_length_swa", value)
    groups = _per_layer(header, "attention.head_count_kv", layers, heads)
    interval = header.number("full_attention_interval", 1) or 1
    pattern = header.own("attention.sliding_window_pattern")
    near = pattern if isinstance(pattern, tuple) else ()
    own = layers - header.number("attention.shared_kv_layers")
    widths = []
    for number, count in enumerate(groups):
        is_near = number < len(near) and bool(near[number])
        both = near_key + near_value if is_near else key + value
        attends = (number + 1) % interval == 0 and number < own
        widths.append(count * both if attends else 0)
    return tuple(widths)


def _per_layer(header: Header, name: str, layers: int, default: int) -> tuple[int, ...]:
    found = header.own(name)
    if isinstance(found, tuple) and found:
        return (found * layers)[:layers]
    return (found if isinstance(found, int) else default,) * layers


def _state_bytes(header: Header, layers: int, without_attention: int) -> int:
    inner, state = header.number("ssm.inner_size"), header.number("ssm.state_size")
    if not inner:
        return 0
    kernel = header.number("ssm.conv_kernel", 4)
    groups = header.number("ssm.group_count")
    one = inner * state + max(0, kernel - 1) * (inner + 2 * groups * state)
    return 4 * one * (without_attention or layers)


def cache_bytes(layout: Layout, setup: Setup, layers: slice = slice(None)) -> int:
    """Returns the bytes of all slots' keys and values, padded as in llama.cpp, and of states."""
    cells = -(-setup.context_tokens // CELLS) * CELLS * setup.slots
    numbers = sum(layout.cache_widths[layers])
    share = len(layout.cache_widths[layers]) / layout.layers
    return int(cells * numbers * KV_BYTES[setup.kv_type] + layout.state_bytes * setup.slots * share)


def compute_bytes(layout: Layout, setup: Setup, rows: int) -> int:
    """Returns the largest of three peaks: attention, feed-forward, the logits of `rows` tokens."""
    batch = min(setup.batch_tokens, max(1, setup.context_tokens))
    stream = 4 * batch * layout.width
    cells = -(-setup.context_tokens // CELLS) * CELLS
    attention = cells * batch * (6 if uses_flash(setup) else 4 * (layout.heads + 1))
    forward = 8 * batch * layout.forward
    return max(attention + 6 * stream, forward + 4 * stream, 4 * rows * layout.vocabulary)


def conversion_bytes(layout: Layout, setup: Setup) -> int:
    """Returns the processor's extra scratch space: attention scores in the format of the values."""
    batch = min(setup.batch_tokens, max(1, setup.context_tokens))
    cells = -(-setup.context_tokens // CELLS) * CELLS
    scores = 0 if uses_flash(setup) else 2 * cells * layout.heads
    return batch * (scores + max(layout.width, layout.forward))


def uses_flash(setup: Setup) -> bool:
    """Whether flash attention is used. If the user leaves it open, the worker decides like this."""
    if setup.flash_attention is not None:
        return setup.flash_attention
    return setup.kv_type != "f16" or setup.gpu_layers != 0


def memory_of(header: Header, weight_bytes: int, setup: Setup, machine: Machine) -> Memory:
    """Estimates all memory: exactly if the header has tensors, else from the file's size."""
    layout = layout_of(header)
    on_gpu = min(max(setup.gpu_layers, 0), layout.layers + 1) if machine.engine_uses_gpu else 0
    placed = min(on_gpu, layout.layers)
    split = layout.layers - placed
    program = PROGRAM_BYTES + TOKEN_BYTES * layout.vocabulary * (2 if setup.draft_bytes else 1)
    program += 0 if on_gpu else setup.projector_bytes + setup.draft_bytes
    draft_cache, draft_compute = _draft_space(setup)
    gpu = 0
    gpu_weights = _gpu_weights(header, weight_bytes, on_gpu, layout)
    apart = expert_bytes(header, weight_bytes, slice(split, setup.cpu_experts)) if on_gpu else 0
    gpu_weights -= apart
    on_card = slice(split, None) if setup.kv_offload else slice(layout.layers, None)
    if on_gpu:
        gpu = CARD_BYTES + gpu_weights + cache_bytes(layout, setup, on_card)
        gpu += compute_bytes(layout, setup, setup.batch_tokens) + setup.projector_bytes
        gpu += setup.draft_bytes + draft_cache + draft_compute
        draft_cache = draft_compute = 0
    repacked, covered = _repacked(header, weight_bytes, machine.features)
    # Experts on the processor are used as they are in the file.
    left = max(0.0, 1 - (gpu_weights + apart) / max(1, weight_bytes))
    return Memory(
        weights=max(0, weight_bytes - gpu_weights),
        repacked=int(repacked * left),
        cache=cache_bytes(layout, setup, slice(0, on_card.start if on_gpu else None)) + draft_cache,
        compute=compute_bytes(layout, setup, setup.slots)
        + (conversion_bytes(layout, setup) if split else 0)
        + draft_compute,
        program=program,
        gpu=gpu,
        reclaimable=int(covered * left),
    )


def _draft_space(setup: Setup) -> tuple[int, int]:
    """Returns the cache and working space of the draft model, which follows every slot."""
    if not setup.draft_bytes:
        return 0, 0
    layout = Layout(1, 0, setup.draft_heads, (setup.draft_width,), 0, 0, 0, 0)
    working = compute_bytes(layout, setup, 1) + conversion_bytes(layout, setup)
    return cache_bytes(layout, setup), working


def _gpu_weights(header: Header, weight_bytes: int, on_gpu: int, layout: Layout) -> int:
    """Returns the bytes on the card: the last layers, then all but a separate token table."""
    if not on_gpu:
        return 0
    whole = on_gpu > layout.layers
    if not header.tensors:
        table = weight_bytes // (layout.layers + 2)
        each = max(0, weight_bytes - 2 * table) // layout.layers
        return each * min(on_gpu, layout.layers) + (table if whole else 0)
    first = layout.layers - min(on_gpu, layout.layers)
    has_output = any(tensor.name == "output.weight" for tensor in header.tensors)
    found = 0
    for tensor in header.tensors:
        match = BLOCK.match(tensor.name)
        if match:
            found += tensor.size_bytes * (int(match[1]) >= first)
        elif whole and (tensor.name != "token_embd.weight" or not has_output):
            found += tensor.size_bytes
    return found


def expert_bytes(header: Header, weight_bytes: int, layers: slice) -> int:
    """Returns the bytes of these layers' experts; 0 if the model is not a mixture of experts."""
    count = layout_of(header).layers
    chosen = range(count)[layers] if (layers.stop or 0) > 0 else range(0)
    if not header.number("expert_count"):
        return 0
    if not header.tensors:
        return int(len(chosen) / count * _expert_share(header) * weight_bytes)
    matches = ((EXPERTS.match(tensor.name), tensor.size_bytes) for tensor in header.tensors)
    return sum(size for match, size in matches if match and int(match[1]) in chosen)


def _expert_share(header: Header) -> float:
    """Estimates the experts' share of all weights from the sizes in the metadata."""
    layout = layout_of(header)
    forward = header.number("expert_feed_forward_length", layout.forward)
    experts = layout.layers * header.number("expert_count") * 3 * layout.width * forward
    others = layout.layers * 4 * layout.width**2 + 2 * layout.vocabulary * layout.width
    return experts / (experts + others)


def _repacked(header: Header, weight_bytes: int, features: tuple[str, ...]) -> tuple[int, int]:
    """Returns the bytes of the repacked copy, and how many bytes of the file it replaces."""
    formats = _repacked_formats(features)
    if not header.tensors:
        said = header.quantisation.split("_")[0]
        covered = weight_bytes if formats and said in {"Q4", "Q5", "Q6", "Q8", "IQ4"} else 0
        return covered, covered
    names = {tensor.name for tensor in header.tensors}
    copied = [tensor for tensor in header.tensors if _is_repacked(tensor, formats)]
    covered = sum(tensor.size_bytes for tensor in copied)
    # If output and token table are the same tensor, it is needed as it is and repacked as well.
    tied = [tensor for tensor in header.tensors if tensor.name == "token_embd.weight"]
    twice = 0
    if "output.weight" not in names:
        twice = sum(t.size_bytes for t in tied if FORMATS[t.format_id].name in formats)
    return covered + twice, covered


def _is_repacked(tensor: Tensor, formats: frozenset[str]) -> bool:
    rows = tensor.shape[1] if len(tensor.shape) > 1 else 0
    named = tensor.name.endswith(".weight") and tensor.name != "token_embd.weight"
    return named and rows > 1 and rows % 8 == 0 and FORMATS[tensor.format_id].name in formats


@lru_cache
def _repacked_formats(features: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(REPACKED.get(feature, ()) for feature in features))


def largest_context(
    layout: Layout, setup: Setup, fits: Callable[[Setup], bool], smallest: int
) -> int:
    """Returns the largest context that fits, in steps of 256 tokens, up to the trained context."""
    low, high = 0, max(1, layout.context_tokens // CELLS)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(replace(setup, context_tokens=middle * CELLS)):
            low = middle
        else:
            high = middle - 1
    return min(layout.context_tokens, max(smallest, low * CELLS))


def draft_path(settings: ModelSettings) -> Path | None:
    """Returns the draft model's file; None if speculation is off, as it then takes no memory."""
    return Path(settings.draft_model) if settings.speculate and settings.draft_model else None


def add_draft(setup: Setup, draft: Path | None, headers: Headers) -> Setup:
    """Adds the draft model to the setup, unless there is no readable one."""
    header = headers.peek(draft) if draft is not None else None
    if header is None or defect(header):
        return setup
    layout = layout_of(header)
    return replace(
        setup,
        draft_bytes=size_of([str(draft)]),
        draft_width=sum(layout.cache_widths),
        draft_heads=layout.heads,
    )
