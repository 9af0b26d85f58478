"""Compares the memory estimate with what a worker uses once its context is full.

python -m tests.bench.estimates [NAME …]    resident memory, on the processor
python -m tests.bench.estimates --gpu       memory of the graphics card, all layers on it; a
                                            mixture model too, with its experts on the processor

llama.cpp reserves its working space at once, but touches it only as the context fills. All layers
use the same space, so a large model is measured in two steps: the whole model with a short prompt,
and how much one of its layers grows when its context is filled. The rows marked "full" were filled
completely, and show what the two steps came to. LLAMA_CPP_LIB_PATH names the folder with the GPU
build of the libraries.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from server.chat import ChatRequest, Sampling
from server.engine.base import EngineOptions
from server.engine.process import WorkerProcess
from server.face.models import KvType, Machine, Setup
from server.models import library
from server.models.gguf.files import check
from server.models.machine import Surveyor
from server.models.memory import CARD_BYTES, memory_of
from tests.kit.gguf_files import Q4_0, Q4_K, Q6_K, Q8_0, Shape, write_model

MB = 1 << 20
Q4_1 = 3
CLOSE_ENOUGH = 256 * MB
ALL = 999
SHORT = 2
LENGTH = 2048
SHAPES = {
    "starter": Shape(576, 30, 9, 3, 1536, 49152, 8192, Q4_1, Q4_1),
    "qwen2.5-0.5b": Shape(896, 24, 14, 2, 4864, 151936, 32768, Q4_0, Q8_0, "qwen2"),
    "qwen3-0.6b": Shape(1024, 28, 16, 8, 3072, 151936, 40960, Q8_0, Q8_0, "qwen3", 128),
    "llama3.2-1b": Shape(2048, 16, 32, 8, 8192, 128256, 131072, Q4_K, Q6_K),
    "llama3.2-3b": Shape(3072, 28, 24, 8, 8192, 128256, 131072, Q4_K, Q6_K),
    "qwen3-8b": Shape(4096, 36, 32, 8, 12288, 151936, 40960, Q4_K, Q6_K, "qwen3", 128),
    "qwen3-30b-a3b": Shape(2048, 48, 32, 4, 768, 151936, 40960, Q4_K, Q6_K, "qwen3moe", 128, 128),
}
MIXTURE = "qwen3-30b-a3b"
FULL = "full"


@dataclass(frozen=True)
class Case:
    name: str
    context_tokens: int
    slots: int
    kv_type: KvType
    filled: bool = False
    cpu_experts: int = 0
    """Layers of a mixture model whose experts stay on the processor."""

    @property
    def key(self) -> str:
        return f"{self.name}/{self.context_tokens}/{self.kv_type}"

    @property
    def setup(self) -> Setup:
        return Setup(self.context_tokens, self.slots, self.kv_type, 0)


CASES = (
    Case("starter", 2048, 1, "f16", filled=True),
    Case("starter", 8192, 4, "f16"),
    Case("starter", 8192, 4, "q8_0"),
    Case("qwen2.5-0.5b", 4096, 1, "f16"),
    Case("qwen2.5-0.5b", 16384, 2, "q8_0"),
    Case("qwen3-0.6b", 4096, 2, "f16"),
    Case("qwen3-0.6b", 8192, 2, "q4_0"),
    Case("llama3.2-1b", 4096, 1, "f16"),
    Case("llama3.2-1b", 8192, 4, "q8_0"),
    Case("llama3.2-3b", 4096, 2, "f16"),
    Case("llama3.2-3b", 8192, 2, "q8_0"),
    Case("qwen3-8b", 2048, 1, "f16"),
    Case("qwen3-8b", 4096, 2, "q8_0"),
)
ON_CARD_ONLY = (
    Case(MIXTURE, 4096, 2, "f16"),
    Case(MIXTURE, 4096, 2, "f16", cpu_experts=24),
    Case(MIXTURE, 4096, 2, "f16", cpu_experts=48),
    Case(MIXTURE, 16384, 1, "q8_0", cpu_experts=48),
)


@dataclass(frozen=True)
class Row:
    case: Case
    estimated: int
    measured: int
    parts: str

    @property
    def is_close(self) -> bool:
        return abs(self.estimated - self.measured) <= max(0.1 * self.measured, CLOSE_ENOUGH)

    def __str__(self) -> str:
        case, off = self.case, self.estimated - self.measured
        setup = f"{case.context_tokens} x {case.slots} {case.kv_type}"
        if case.cpu_experts:
            setup += f", experts of {case.cpu_experts} layers on the processor"
        return (
            f"| {case.name} | {setup}{' ' + FULL if case.filled else ''} | "
            f"{self.estimated / MB:.0f} | {self.measured / MB:.0f} | {off / MB:+.0f} | "
            f"{off / self.measured:+.1%} | {'yes' if self.is_close else 'NO'} | {self.parts} |"
        )


async def on_processor(case: Case, path: Path, machine: Machine, folder: Path) -> Row:
    header = check(path)
    memory = memory_of(header, header.weight_bytes, case.setup, machine)
    lengths = (SHORT, case.context_tokens) if case.filled else (SHORT,)
    short, *rest = await _resident(case, path, lengths)
    steps = short + await _growth(case, folder)
    full = rest[0] if rest else steps
    if rest:
        say(f"{case.name}: {full / MB:.0f} MB filled whole, {steps / MB:.0f} in two steps")
    parts = f"weights {memory.weights / MB:.0f}, reordered {memory.repacked / MB:.0f}, cache "
    parts += f"{memory.cache / MB:.0f}, working space {memory.compute / MB:.0f}, "
    parts += f"program {memory.program / MB:.0f}, short {short / MB:.0f}"
    return Row(case, memory.resident, full, parts)


async def _growth(case: Case, folder: Path) -> int:
    """Returns how much more a full context touches than a short one, measured on one layer.

    It grows evenly with the tokens, so two lengths are enough to compute the rest.
    """
    thin = folder / f"{case.name}-thin.gguf"
    if not thin.exists():
        write_model(thin, replace(SHAPES[case.name], layers=1))
    lengths = (SHORT, LENGTH // 2, LENGTH)
    short, half, whole = await _resident(replace(case, slots=1), thin, lengths)
    return whole - short + (whole - half) * (case.context_tokens - LENGTH) // (LENGTH // 2)


async def _resident(case: Case, path: Path, lengths: Sequence[int]) -> list[int]:
    """Returns the memory of the worker and its children after prompts of these lengths."""
    worker = WorkerProcess(path, _options(case))
    found = []
    try:
        for tokens in lengths:
            await _ask(worker, tokens)
            assert worker.pid
            family = [psutil.Process(worker.pid)]
            family += family[0].children(recursive=True)
            found.append(sum(one.memory_info().rss for one in family))
    finally:
        await worker.close()
    return found


async def on_card(case: Case, path: Path, machine: Machine, _folder: Path) -> Row:
    header = check(path)
    layers = header.number("block_count") + 1
    setup = Setup(
        case.context_tokens, case.slots, case.kv_type, layers, cpu_experts=case.cpu_experts
    )
    memory = memory_of(header, header.weight_bytes, setup, machine)
    before = card_bytes()
    worker = WorkerProcess(path, _options(case, ALL))
    try:
        await _ask(worker, min(case.context_tokens, 8192))
        measured = card_bytes() - before
        device = worker.facts.device
    finally:
        await worker.close()
    driver = measured - (memory.gpu - CARD_BYTES)
    parts = f"on {device}, {layers} layers; besides model, cache and working space "
    return Row(case, memory.gpu, measured, f"{parts}{driver / MB:.0f}")


def card_bytes() -> int:
    """Returns what all programs together hold on all cards."""
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sum(int(line) for line in told.split()) * MB


def _options(case: Case, gpu_layers: int = 0) -> EngineOptions:
    return EngineOptions(
        context_tokens=case.context_tokens,
        slots=case.slots,
        kv_type=case.kv_type,
        gpu_layers=gpu_layers,
        cpu_experts=case.cpu_experts,
        prompt_cache_mb=0,
    )


async def _ask(worker: WorkerProcess, tokens: int) -> None:
    """Sends a prompt of about so many tokens, a little less than the room of one conversation."""
    each = len(await worker.tokenize("a b " * 100)) / 200
    sampling = Sampling(temperature=0.0, ignore_eos=True)
    words = max(2, int((tokens - 64) / each))
    ask = ChatRequest(prompt="a b " * (words // 2), sampling=sampling, max_tokens=2)
    async for _ in worker.generate(ask):
        pass


async def measure(cases: list[Case], folder: Path, *, gpu: bool) -> list[Row]:
    machine = await Surveyor().look(anew=gpu)
    if gpu and not machine.engine_uses_gpu:
        sys.exit("The engine of this build, or this machine, has no graphics card to use.")
    one = on_card if gpu else on_processor
    rows: list[Row] = []
    for case in cases:
        path = library.find_starter() if case.name == "starter" else folder / f"{case.name}.gguf"
        if path is None:
            say("The starter model is not installed here and left out.")
            continue
        if not path.exists():
            write_model(path, SHAPES[case.name])
        row = await one(case, path, machine, folder)
        say(str(row))
        rows.append(row)
    return rows


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of MODEL/CONTEXT/KV; without: all")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    known = (*CASES, *ON_CARD_ONLY) if given.gpu else CASES
    cases = [case for case in known if any(part in case.key for part in given.names or [""])]
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(cases, Path(folder), gpu=given.gpu))
    say("\n| model | setup | estimate MB | measured MB | off MB | off | close | parts |")
    say("|---|---|---|---|---|---|---|---|")
    for row in rows:
        say(str(row))
    far = [row for row in rows if not row.is_close]
    say(f"\n{len(rows) - len(far)} of {len(rows)} within a tenth or 256 MB.")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
