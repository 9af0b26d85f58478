"""Memory from the header, against figures llama.cpp itself reports and a worker that runs."""

from pathlib import Path

import psutil
import pytest

from server.chat import ChatRequest, Message
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.face.models import KvType, Machine, Setup
from server.models import catalogue
from server.models.gguf.files import check
from server.models.gguf.header import Header
from server.models.gguf.parse import parse
from server.models.machine import Surveyor
from server.models.memory import cache_bytes, compute_bytes, layout_of, memory_of
from tests.kit.gguf_files import Shape, head, metadata_of, tensors_of

MB = 1 << 20
MACHINE = Machine(1 << 34, 1 << 33)


def test_the_cache_is_what_llama_cpp_reports(starter_model: Path):
    """llama_kv_cache: 180, 720, 382.5 and 202.5 MiB for these."""
    layout = layout_of(check(starter_model))
    figures = {
        ("f16", 1): 180.0,
        ("f16", 4): 720.0,
        ("q8_0", 4): 382.5,
        ("q4_0", 4): 202.5,
    }
    kinds: list[tuple[KvType, int]] = [("f16", 1), ("f16", 4), ("q8_0", 4), ("q4_0", 4)]
    for kind, slots in kinds:
        assert cache_bytes(layout, Setup(8192, slots, kind)) / MB == figures[kind, slots]


def test_the_working_space_is_close_to_what_llama_cpp_reports(starter_model: Path):
    """sched_reserve: 99.38, 166.38 and 41.60 MiB, with a row of logits for every token."""
    layout = layout_of(check(starter_model))
    for tokens, batch, reported in [(2048, 512, 99.38), (8192, 512, 166.38), (8192, 128, 41.60)]:
        setup = Setup(tokens, 1, gpu_layers=0, batch_tokens=batch)
        assert compute_bytes(layout, setup, batch) / MB == pytest.approx(reported, rel=0.05)


def header(**own: object) -> Header:
    metadata = metadata_of(Shape(width=1024, layers=4, heads=16, key_heads=4))
    metadata |= {f"llama.{key}".replace("__", "."): value for key, value in own.items()}
    return Header(metadata)


def test_heads_that_differ_by_layer_and_layers_without_attention_count_as_they_are():
    plain = cache_bytes(layout_of(header()), Setup(1024, 1))
    some = layout_of(header(attention__head_count_kv=(4, 0, 4, 0)))
    assert cache_bytes(some, Setup(1024, 1)) == plain // 2
    every_second = layout_of(header(full_attention_interval=2))
    assert cache_bytes(every_second, Setup(1024, 1)) == plain // 2


def test_small_heads_of_near_layers_and_shared_caches_count_as_llama_cpp_reports():
    """Gemma 4 E2B at 2048 cells, llama_kv_cache: 12.00 MiB of 3 layers, 24.00 MiB of 12 near ones.

    The last 20 of its 35 layers use the cache of earlier ones.
    """
    entries = {entry.title: entry for entry in catalogue.read().models}
    layout = layout_of(entries["Gemma 4 E2B"].header)
    assert sum(1 for one in layout.cache_widths if one == 1024) == 3
    assert sum(1 for one in layout.cache_widths if one == 512) == 12
    assert cache_bytes(layout, Setup(2048, 1)) / MB == 36.0


@pytest.mark.parametrize(("title", "per_token"), [("Qwen3.5 2B", 12_288), ("Qwen3.6 27B", 65_536)])
def test_a_hybrid_keeps_a_cache_in_every_fourth_layer_only(title: str, per_token: int):
    """The bytes per token that the list of llama.cpp's own app has for them."""
    entries = {entry.title: entry for entry in catalogue.read().models}
    layout = layout_of(entries[title].header)
    more, less = (cache_bytes(layout, Setup(tokens, 1)) for tokens in (2048, 1024))
    assert (more - less) / 1024 == per_token


def test_a_recurrent_state_is_counted_for_each_conversation():
    layout = layout_of(header(ssm__inner_size=2048, ssm__state_size=16, ssm__conv_kernel=4))
    one, two = (cache_bytes(layout, Setup(256, slots)) for slots in (1, 2))
    assert two == 2 * one
    assert layout.state_bytes == 4 * 4 * (2048 * 16 + 3 * 2048)


def test_weights_the_processor_reorders_are_there_twice_but_needed_once(starter_model: Path):
    found = check(starter_model)
    arm = Machine(1 << 34, 1 << 33, features=("asimddp",))
    setup = Setup(2048, 1, gpu_layers=0)
    memory = memory_of(found, found.weight_bytes, setup, arm)
    assert memory.repacked / MB == pytest.approx(28.69, abs=0.1)
    assert memory_of(found, found.weight_bytes, setup, MACHINE).repacked == 0


Q4_1, Q8_0, Q2_K, Q4_K = 3, 8, 10, 12
HASWELL = ("avx2",)
SKYLAKE = (*HASWELL, "avx512f")
SAPPHIRE_RAPIDS = (*SKYLAKE, "amx_int8")
GRAVITON = ("asimddp",)


@pytest.mark.parametrize(
    ("weights", "reorders"),
    [
        (Q2_K, [SKYLAKE, SAPPHIRE_RAPIDS]),
        (Q4_1, [SAPPHIRE_RAPIDS]),
        (Q4_K, [HASWELL, SKYLAKE, SAPPHIRE_RAPIDS, GRAVITON]),
        (Q8_0, [SAPPHIRE_RAPIDS, GRAVITON]),
    ],
)
def test_each_processor_reorders_its_own_formats(weights: int, reorders: list[tuple[str, ...]]):
    shape = Shape(width=256, heads=4, forward=512, weights=weights)
    found = parse(bytes(head(metadata_of(shape), tensors_of(shape)).data), 1 << 40, "a.gguf")
    kinds = [(), HASWELL, SKYLAKE, SAPPHIRE_RAPIDS, GRAVITON]
    copied = [
        kind
        for kind in kinds
        if memory_of(
            found, 1 << 20, Setup(256, 1, gpu_layers=0), Machine(1, 1, features=kind)
        ).repacked
    ]
    assert copied == reorders


@pytest.mark.parametrize(("tokens", "slots", "kind"), [(4096, 2, "f16"), (8192, 4, "q8_0")])
async def test_the_estimate_is_close_to_what_a_worker_takes(
    starter_model: Path, tokens: int, slots: int, kind: KvType
):
    """Within a tenth, or within 256 MB."""
    found = check(starter_model)
    machine = Surveyor().machine()
    estimate = memory_of(found, found.weight_bytes, Setup(tokens, slots, kind, 0), machine)
    options = EngineOptions(context_tokens=tokens, slots=slots, kv_type=kind)
    worker = WorkerProcess(starter_model, options)
    try:
        ask = ChatRequest((Message("user", "one two " * 250),), max_tokens=1)
        async for _ in worker.generate(ask):
            pass
        process = psutil.Process(worker.pid)
        family = [process, *process.children(recursive=True)]
        measured = sum(one.memory_info().rss for one in family)
    finally:
        await worker.close()
    assert abs(estimate.resident - measured) <= max(0.1 * measured, 256 * MB)
