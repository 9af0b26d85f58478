"""Verdicts with their reasons, contexts and layers that fit, and ladders that lead down."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from server.face.models import Device, Machine, Setup
from server.models.fit import RememberedSetups, explain, judge, ladder, settle, without_card
from server.models.gguf.header import Header
from server.models.gguf.parse import parse
from server.models.memory import memory_of
from tests.kit.gguf_files import Q4_K, Q6_K, Shape, head, metadata_of, tensors_of

GB = 10**9
EIGHT_B = Shape(4096, 36, 32, 8, 12288, 1000, 40960, Q4_K, Q6_K, "qwen3", 128)
LAPTOP = Machine(16 * GB, 10 * GB, 8)
WIDE = Setup(131072, 8)
CARD = Device("A card", "CUDA", 23 * GB, 24 * GB)


def header(shape: Shape = EIGHT_B) -> Header:
    return parse(bytes(head(metadata_of(shape), tensors_of(shape)).data), 1 << 40, "a.gguf")


EIGHT = header()


def test_a_model_that_fits_says_how_much_it_takes():
    fit = judge(EIGHT, Setup(8192, 1), LAPTOP)
    assert fit.verdict == "runs well"
    assert fit.why.startswith("It takes ")
    assert "10.0 GB free" in fit.why
    assert fit.layers == 36


def test_what_is_free_now_decides_not_what_is_built_in():
    fit = judge(EIGHT, Setup(8192, 1), replace(LAPTOP, free_bytes=3 * GB))
    assert fit.verdict == "does not fit"
    assert "close other programs" in fit.why


def test_too_large_for_the_machine_is_told_apart_from_too_little_free():
    small = Machine(4 * GB, 3 * GB, 8)
    assert "4.0 GB in all" in judge(EIGHT, Setup(8192, 1), small).why


@pytest.mark.parametrize(
    ("free_gb", "least", "most"), [(24, 20_000, 40_960), (9, 2048, 16_384), (5, 2048, 2048)]
)
def test_the_context_follows_the_free_memory(free_gb: int, least: int, most: int):
    setup = settle(EIGHT, Setup(slots=1), Machine(32 * GB, free_gb * GB))
    assert least <= setup.context_tokens <= most
    assert setup.context_tokens % 256 == 0


def test_layers_go_to_the_card_as_far_as_they_fit():
    whole = Machine(32 * GB, 24 * GB, 8, (CARD,), engine_uses_gpu=True)
    assert settle(EIGHT, Setup(8192, 1), whole).gpu_layers == 37
    small = replace(CARD, free_bytes=4 * GB)
    part = settle(EIGHT, Setup(8192, 1), replace(whole, devices=(small,)))
    assert 0 < part.gpu_layers < 37
    assert memory_of(EIGHT, EIGHT.weight_bytes, part, whole).gpu <= 4 * GB
    none = replace(CARD, free_bytes=GB // 2)
    assert settle(EIGHT, Setup(8192, 1), replace(whole, devices=(none,))).gpu_layers == 0


def test_other_programs_on_the_card_are_subtracted():
    busy = Machine(32 * GB, 24 * GB, 8, (replace(CARD, free_bytes=2 * GB),), engine_uses_gpu=True)
    fit = judge(EIGHT, Setup(8192, 1, gpu_layers=37), busy)
    assert fit.verdict == "does not fit"
    assert "fewer layers" in fit.why


def test_a_split_that_one_card_cannot_take_is_named():
    two = (CARD, replace(CARD, name="Small", free_bytes=2 * GB))
    machine = Machine(32 * GB, 24 * GB, 8, two, engine_uses_gpu=True)
    even = judge(EIGHT, Setup(8192, 1, gpu_layers=37, gpu_split=(1.0, 1.0)), machine)
    assert even.verdict == "does not fit"
    assert even.why.startswith("Small (number 2) lacks ")
    mostly = Setup(8192, 1, gpu_layers=37, gpu_split=(9.0, 1.0))
    assert judge(EIGHT, mostly, machine).verdict == "runs well"


def test_a_card_the_engine_cannot_use_changes_nothing():
    with_card = replace(LAPTOP, devices=(CARD,))
    assert settle(EIGHT, Setup(8192, 1), with_card).gpu_layers == 0


def test_each_rung_takes_less_and_the_last_is_small():
    rungs = list(ladder(EIGHT, Setup(131072, 8, gpu_layers=0), LAPTOP))
    needs = [memory_of(EIGHT, EIGHT.weight_bytes, rung, LAPTOP).needed for rung in rungs]
    assert needs == sorted(needs, reverse=True)
    assert rungs[0].context_tokens == 131072
    assert (rungs[-1].context_tokens, rungs[-1].slots) == (512, 1)


def test_the_ladder_leads_to_a_rung_that_fits_or_none_fits():
    verdicts = [judge(EIGHT, rung, LAPTOP).verdict for rung in ladder(EIGHT, WIDE, LAPTOP)]
    assert verdicts[0] == "does not fit"
    assert verdicts[-1] != "does not fit"
    small = Machine(2 * GB, GB)
    assert {judge(EIGHT, rung, small).verdict for rung in ladder(EIGHT, WIDE, small)} == {
        "does not fit"
    }


def test_what_was_changed_is_one_sentence():
    asked, taken = Setup(32768, 4, "f16", 0), Setup(8192, 2, "q8_0", 0)
    sentence = explain(asked, taken)
    assert "8192 tokens of context instead of 32768" in sentence
    assert "2 answers at the same time instead of 4" in sentence
    assert "q8_0 cache" in sentence
    assert explain(asked, asked) == ""


def test_a_header_without_sizes_gives_no_verdict():
    empty = Header({"general.architecture": "odd"})
    assert judge(empty, Setup(), LAPTOP, GB).verdict == "unknown"


def test_why_the_processor_runs_it_where_a_card_was_expected():
    able = Machine(32 * GB, 24 * GB, 8, (CARD,), engine_uses_gpu=True)
    note = replace(LAPTOP, devices=(CARD,), note="A card is there, but the build cannot use it.")
    every, some, none = Setup(8192, 1), Setup(8192, 1, gpu_layers=20), Setup(8192, 1, gpu_layers=0)
    assert without_card(every, none, note, "") == note.note
    assert "only 23.0 GB free" in without_card(every, none, able, "")
    assert "did not put it on A card" in without_card(every, some, able, "")
    assert without_card(every, none, LAPTOP, "A card").startswith("A card, used before, was not")
    assert "no graphics card" in without_card(some, some, LAPTOP, "")
    assert without_card(every, none, LAPTOP, "") == ""
    assert without_card(none, none, note, "A card") == ""


@cache
def mixture() -> Header:
    """The shape of Qwen3-30B-A3B."""
    return header(
        Shape(2048, 48, 32, 4, 768, 151936, 40960, Q4_K, Q6_K, "qwen3moe", 128, experts=128)
    )


SMALL_CARD = Machine(64 * GB, 48 * GB, 8, (replace(CARD, free_bytes=8 * GB),), engine_uses_gpu=True)


def test_experts_leave_a_small_card_before_layers_do():
    settled = settle(mixture(), Setup(8192, 1), SMALL_CARD)
    assert settled.gpu_layers == 49
    assert 20 < settled.cpu_experts <= 48
    fit = judge(mixture(), Setup(8192, 1), SMALL_CARD)
    assert fit.verdict != "does not fit"
    assert f"experts of {settled.cpu_experts} layers on the processor" in fit.why
    by_hand = settle(mixture(), Setup(8192, 1, cpu_experts=48), SMALL_CARD)
    assert by_hand.cpu_experts == 48
    large = replace(SMALL_CARD, devices=(CARD,))
    assert settle(mixture(), Setup(8192, 1), large).cpu_experts == 0
    assert settle(EIGHT, Setup(8192, 1), SMALL_CARD).cpu_experts == 0
    assert settle(mixture(), Setup(8192, 1), LAPTOP).cpu_experts == 0


def test_what_leaves_the_card_is_what_the_experts_weigh():
    setup = Setup(8192, 1, gpu_layers=49, cpu_experts=0)
    whole, none = (
        memory_of(mixture(), mixture().weight_bytes, replace(setup, cpu_experts=count), SMALL_CARD)
        for count in (0, 999)
    )
    experts = sum(one.size_bytes for one in mixture().tensors if "_exps" in one.name)
    assert experts > 0.85 * mixture().weight_bytes
    assert whole.gpu - none.gpu == none.weights - whole.weights == experts
    assert none.repacked == whole.repacked
    peeked = replace(mixture(), tensors=())
    guessed = memory_of(peeked, mixture().weight_bytes, replace(setup, cpu_experts=48), SMALL_CARD)
    assert abs(guessed.gpu - none.gpu) < 0.1 * mixture().weight_bytes


def test_the_ladder_takes_experts_off_the_card_first():
    asked = Setup(8192, 1, gpu_layers=49, cpu_experts=0)
    steps = list(ladder(mixture(), asked, SMALL_CARD))[:4]
    assert [(one.gpu_layers, one.cpu_experts) for one in steps] == [
        (49, 0),
        (49, 24),
        (49, 48),
        (36, 48),
    ]
    assert "the experts of 48 layers on the processor" in explain(asked, steps[2])


def test_a_cache_that_stays_with_the_processor_leaves_the_card_room():
    setup = Setup(8192, 4, gpu_layers=37)
    whole = Machine(32 * GB, 24 * GB, 8, (CARD,), engine_uses_gpu=True)
    there = memory_of(EIGHT, EIGHT.weight_bytes, setup, whole)
    here = memory_of(EIGHT, EIGHT.weight_bytes, replace(setup, kv_offload=False), whole)
    assert there.gpu - here.gpu == here.cache - there.cache > GB


def test_only_the_chosen_card_counts():
    small = replace(CARD, name="Small", free_bytes=4 * GB)
    both = Machine(32 * GB, 24 * GB, 8, (CARD, small), engine_uses_gpu=True)
    assert settle(EIGHT, Setup(8192, 1, main_gpu=0), both).gpu_layers == 37
    assert settle(EIGHT, Setup(8192, 1, main_gpu=1), both).gpu_layers < 30


ASKED = Setup(32768, 4, gpu_split=(3.0, 1.0))
TAKEN = Setup(8192, 1, "q8_0", 0, gpu_split=(3.0, 1.0))
MACHINE = Machine(16 << 30, 4 << 30)


def test_it_is_recalled_by_the_next_run(tmp_path: Path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x" * 10)
    RememberedSetups(tmp_path / "loads.json").remember(model, ASKED, TAKEN, MACHINE)
    worked = RememberedSetups(tmp_path / "loads.json")
    assert worked.recall(model, ASKED, MACHINE) == TAKEN
    assert worked.recall(model, Setup(16384), MACHINE) is None
    assert worked.recall(model, ASKED, replace(MACHINE, free_bytes=8 << 30)) is None
    assert worked.recall(model, ASKED, replace(MACHINE, memory_bytes=1)) is None
    model.write_bytes(b"y" * 11)
    assert worked.recall(model, ASKED, MACHINE) is None


def test_a_file_that_cannot_be_written_or_read_is_no_trouble(tmp_path: Path):
    model = tmp_path / "m.gguf"
    (tmp_path / "loads.json").write_text('{"m.gguf:0:17179869184:": {"asked": 1}}')
    assert RememberedSetups(tmp_path / "loads.json").recall(model, ASKED, MACHINE) is None
    (tmp_path / "file").touch()
    RememberedSetups(tmp_path / "file" / "loads.json").remember(model, ASKED, TAKEN, MACHINE)


def test_a_card_that_was_used_is_missed(tmp_path: Path):
    worked = RememberedSetups(tmp_path / "loads.json")
    assert worked.last_card(MACHINE) == ""
    card = Device("A card", "CUDA", 1, 2)
    assert worked.last_card(replace(MACHINE, devices=(card,), engine_uses_gpu=True)) == ""
    assert RememberedSetups(tmp_path / "loads.json").last_card(MACHINE) == "A card"


def test_a_card_the_engine_never_used_is_not_missed(tmp_path: Path):
    worked = RememberedSetups(tmp_path / "loads.json")
    worked.last_card(replace(MACHINE, devices=(Device("A card", "CUDA", 1, 2),)))
    assert worked.last_card(MACHINE) == ""
