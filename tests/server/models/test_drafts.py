"""A draft model counts in the estimate: its weights, and a cache of its own."""

from pathlib import Path
from typing import Any

import pytest

from server.face.models import Device, Machine, Setup
from server.models import memory
from server.models.fit import judge, settle
from server.models.gguf.files import Headers, check
from server.models.memory import cache_bytes, layout_of, memory_of
from tests.kit.gguf_files import Shape, write_model

GB = 1 << 30
LAPTOP = Machine(16 * GB, 8 * GB)
MAIN = Shape(width=2048, layers=16, heads=16, key_heads=8, forward=4096, context=32768)
SMALL = Shape(width=512, layers=8, heads=8, key_heads=4, forward=1024, context=32768)
SETUP = Setup(8192, 4, gpu_layers=0)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    write_model(tmp_path / "main.gguf", MAIN)
    return tmp_path / "main.gguf"


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    write_model(tmp_path / "small.gguf", SMALL)
    return tmp_path / "small.gguf"


def test_it_takes_its_weights_and_a_cache_for_every_slot(main: Path, draft: Path):
    header = check(main)
    alone = memory_of(header, header.weight_bytes, SETUP, LAPTOP)
    both = memory_of(header, header.weight_bytes, memory.add_draft(SETUP, draft, Headers()), LAPTOP)
    assert both.cache - alone.cache == cache_bytes(layout_of(check(draft)), SETUP)
    assert both.program - alone.program >= draft.stat().st_size
    assert both.compute > alone.compute


def test_on_a_card_it_takes_the_card(main: Path, draft: Path):
    header = check(main)
    card = Device("A card", "CUDA", 16 * GB, 16 * GB)
    machine = Machine(16 * GB, 8 * GB, devices=(card,), engine_uses_gpu=True)
    alone = judge(header, Setup(8192, 4, gpu_layers=17), machine).memory
    wanted = memory.add_draft(Setup(8192, 4, gpu_layers=17), draft, Headers())
    both = judge(header, wanted, machine).memory
    assert both.gpu - alone.gpu > draft.stat().st_size + cache_bytes(layout_of(check(draft)), SETUP)
    assert both.cache == alone.cache


def test_it_leaves_less_context_to_choose(main: Path, draft: Path):
    header, machine = check(main), LAPTOP
    alone = settle(header, Setup(slots=4, gpu_layers=0), machine)
    wanted = memory.add_draft(Setup(slots=4, gpu_layers=0), draft, Headers())
    assert settle(header, wanted, machine).context_tokens < alone.context_tokens


def test_one_that_cannot_be_read_adds_nothing(tmp_path: Path):
    (tmp_path / "text.gguf").write_text("no model")
    assert memory.add_draft(SETUP, tmp_path / "text.gguf", Headers()) == SETUP
    assert memory.add_draft(SETUP, tmp_path / "missing.gguf", Headers()) == SETUP
    assert memory.add_draft(SETUP, None, Headers()) == SETUP


@pytest.mark.parametrize(
    "odd", [{"llama.block_count": 500_000}, {"llama.attention.head_count": ["a"]}]
)
def test_one_that_makes_no_sense_adds_nothing(tmp_path: Path, odd: dict[str, Any]):
    write_model(tmp_path / "odd.gguf", SMALL, **odd)
    assert memory.add_draft(SETUP, tmp_path / "odd.gguf", Headers()) == SETUP
