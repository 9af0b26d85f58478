"""Writes projectors (mmproj files) for tests: real architectures, small, with random weights."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.kit.gguf_files import F32, Shape, Tensors, head, metadata_of, tensors_of

ALIGNMENT = 32
PATCH = {"mlp": 8, "gemma3": 8, "idefics3": 8, "qwen2vl_merger": 14}
LAYERS = 2
WORDS = ["Ċ", "ĊĊ", "<fake_token_around_image>", "<global-img>"]
"""Texts that some projectors put between the parts of an image. Ċ is a line break."""
Sizes = list[tuple[str, tuple[int, ...]]]


def write_projector(
    path: Path, kind: str = "mlp", *, width: int = 576, side: int = 64, inner: int = 64
) -> Path:
    """Writes a projector. `width` is that of the model, `side` that of the picture in pixels."""
    sizes = [*_encoder(kind, side, inner), *_ends(kind, width, inner)]
    tensors = [(name, size, F32) for name, size in sizes]
    return write_filled(path, _metadata(kind, width, side, inner), tensors)


def write_reader(path: Path, architecture: str, width: int = 64) -> Path:
    """Writes a small language model with random weights whose output depends on what it reads."""
    shape = Shape(width, architecture=architecture, context=2048)
    biases = [
        (f"blk.{number}.attn_{name}.bias", (size,), F32)
        for number in range(shape.layers)
        for name, size in (("q", width), ("k", width // 2), ("v", width // 2))
    ]
    planar = architecture == "qwen2vl"
    more = {"qwen2vl.rope.dimension_sections": [4, 2, 2, 0]} if planar else {}
    tensors = [*tensors_of(shape), *(biases if planar else [])]
    metadata = metadata_of(shape, **more)
    metadata["tokenizer.ggml.tokens"][-len(WORDS) :] = WORDS
    return write_filled(path, metadata, tensors)


def write_filled(path: Path, metadata: dict[str, Any], tensors: Tensors) -> Path:
    source = np.random.default_rng(7)
    with path.open("wb") as file:
        file.write(head(metadata, tensors).data)
        for name, shape, _ in tensors:
            file.write(bytes(-file.tell() % ALIGNMENT))
            is_norm = name.endswith((".weight",)) and ("norm" in name or "ln" in name)
            values = np.ones(shape) if is_norm else source.normal(0, 0.2, shape)
            file.write(values.astype("<f4").tobytes())
        file.write(bytes(-file.tell() % ALIGNMENT))
    return path


def _metadata(kind: str, width: int, side: int, inner: int) -> dict[str, Any]:
    vision = {
        "embedding_length": inner,
        "attention.head_count": 4,
        "feed_forward_length": 2 * inner,
        "block_count": LAYERS,
        "projection_dim": width,
        "attention.layer_norm_epsilon": 1e-5,
        "image_size": side,
        "patch_size": PATCH[kind],
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "projector.scale_factor": 2,
        "preproc_image_size": 2 * side,
    }
    return {
        "general.architecture": "clip",
        "general.type": "mmproj",
        "general.name": "Eyes",
        "clip.has_vision_encoder": True,
        "clip.projector_type": kind,
        "clip.use_gelu": True,
        **{f"clip.vision.{name}": value for name, value in vision.items()},
    }


def _encoder(kind: str, side: int, inner: int) -> Sizes:
    patch = PATCH[kind]
    sizes: Sizes = [("v.patch_embd.weight", (patch, patch, 3, inner))]
    if kind == "qwen2vl_merger":
        sizes.append(("v.patch_embd.weight.1", (patch, patch, 3, inner)))
    else:
        sizes.append(("v.position_embd.weight", (inner, (side // patch) ** 2)))
    for number in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            sizes += _affine(f"v.blk.{number}.{name}", inner, inner)
        sizes += _affine(f"v.blk.{number}.ffn_up", inner, 2 * inner)
        sizes += _affine(f"v.blk.{number}.ffn_down", 2 * inner, inner)
        for name in ("ln1", "ln2"):
            sizes += [(f"v.blk.{number}.{name}.{end}", (inner,)) for end in ("weight", "bias")]
    return [*sizes, ("v.post_ln.weight", (inner,)), ("v.post_ln.bias", (inner,))]


def _ends(kind: str, width: int, inner: int) -> Sizes:
    if kind == "gemma3":
        return [
            ("mm.input_projection.weight", (width, inner)),
            ("mm.soft_emb_norm.weight", (inner,)),
        ]
    if kind == "idefics3":
        return [("mm.model.fc.weight", (4 * inner, width))]
    joined = 4 * inner if kind == "qwen2vl_merger" else inner
    return [*_affine("mm.0", joined, width), *_affine("mm.2", width, width)]


def _affine(name: str, inner: int, outer: int) -> Sizes:
    return [(f"{name}.weight", (inner, outer)), (f"{name}.bias", (outer,))]
