"""The curated list is sound, and what it recommends fits the machine."""

import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

from server.face.models import Device, Machine, Pace, Setup
from server.models import catalogue, names
from tests.kit.fake_shelf import rate

GB = 1 << 30


def test_every_entry_is_whole_and_its_names_are_safe():
    entries = catalogue.read().models
    assert len(entries) >= 12
    assert len({entry.repo for entry in entries}) == len(entries)
    for entry in entries:
        assert names.repo(entry.repo)
        assert names.file(entry.file)
        assert entry.licence
        assert 0.3 < entry.size_bytes / entry.parameters < 1.2
        assert bool(entry.projector) == bool(entry.projector_bytes) == ("vision" in entry.uses)
        assert entry.header.context_tokens >= 2048
    uses = {use for entry in entries for use in entry.uses}
    assert uses == {"chat", "tools", "thinking", "vision", "embeddings"}


@pytest.mark.parametrize(
    "family", ["Qwen3.5", "Qwen3.6", "Gemma 4", "gpt-oss", "Granite 4", "Ministral 3", "LFM2.5"]
)
def test_the_families_of_today_are_in_it(family: str):
    """Those whose chat templates `tests/data` has, and what they can do there."""
    found = [entry for entry in catalogue.read().models if entry.title.startswith(family)]
    assert found
    assert all({"chat", "tools"} <= {*entry.uses} for entry in found)


def test_an_exact_size_is_told_from_one_that_is_computed():
    entries = {entry.title: entry for entry in catalogue.read().models}
    computed = entries["Gemma 4 31B"]
    assert computed.size_bytes == int(30_700_000_000 * 4.77 / 8)
    assert (computed.is_about, entries["Qwen3.5 4B"].is_about) == (True, False)
    machine = Machine(64 * GB, 56 * GB, 16)
    offered = {one.title: one for one in catalogue.suggest(machine, Setup())}
    assert (offered["Gemma 4 31B"].is_about, offered["Qwen3.5 4B"].is_about) == (True, False)
    with pytest.raises(ValidationError, match="neither the size nor the bits"):
        catalogue.CatalogueEntry.model_validate(
            computed.model_dump() | {"size_bytes": 0, "bits_per_weight": 0}
        )


def test_the_projector_that_comes_along_is_counted():
    """It is downloaded with the model and lies in memory beside it."""
    entries = {entry.title: entry for entry in catalogue.read().models}
    seeing = entries["Gemma 4 E4B"]
    machine = Machine(64 * GB, 56 * GB, 16)
    offered = {one.title: one for one in catalogue.suggest(machine, Setup())}["Gemma 4 E4B"]
    assert offered.size_bytes == seeing.size_bytes + seeing.projector_bytes
    blind = seeing.model_copy(update={"projector_bytes": 0})
    more = seeing.fit(machine, Setup()).memory.program - blind.fit(machine, Setup()).memory.program
    assert more == seeing.projector_bytes


def test_lists_of_a_head_survive_being_kept():
    """Heads that differ by layer came back from the file as a list, and were not counted."""
    kept = catalogue.CatalogueEntry.model_validate_json(
        next(one for one in catalogue.read().models if one.title == "Gemma 4 12B").model_dump_json()
    )
    assert kept.header.own("attention.head_count_kv") == (8, 8, 8, 8, 8, 1) * 8


def test_a_file_renamed_in_capitals_only_is_still_the_installed_one():
    suggested = catalogue.suggest(
        Machine(64 * GB, 56 * GB, 16), Setup(), {"GPT-OSS-20b-mxfp4.gguf"}
    )
    assert [one.title for one in suggested if one.installed] == ["gpt-oss 20B"]


@pytest.mark.parametrize(
    ("machine", "title"),
    [
        (Machine(4 * GB, 2 * GB, 4), "Qwen3.5 0.8B"),
        (Machine(16 * GB, 11 * GB, 8), "Qwen3.5 4B"),
        (Machine(64 * GB, 56 * GB, 16), "Qwen3.6 35B A3B"),
    ],
)
def test_one_is_recommended_and_it_fits(machine: Machine, title: str):
    suggested = catalogue.suggest(machine, Setup())
    (best,) = [one for one in suggested if one.recommended]
    assert best.title == title
    assert best.fit.verdict != "does not fit"


def test_a_graphics_card_lifts_the_choice():
    card = Device("A card", "CUDA", 15 * GB, 16 * GB)
    machine = Machine(32 * GB, 24 * GB, 8, (card,), engine_uses_gpu=True)
    (best,) = [one for one in catalogue.suggest(machine, Setup()) if one.recommended]
    assert best.parameters > 10_000_000_000


@pytest.mark.parametrize(
    ("memory", "bytes_per_s", "title", "why"),
    [
        (64, 1e9, "Qwen3.5 0.8B", r"Qwen3 1.7B is more capable, but would write about 0\.\d"),
        (64, 3e10, "Qwen3.6 35B A3B", "the most capable that fits"),
        (256, 3e10, "gpt-oss 120B", "No model in this list is more capable"),
    ],
)
def test_the_speed_of_the_machine_decides_and_it_says_so(
    memory: int, bytes_per_s: float, title: str, why: str
) -> None:
    """Memory for almost all of them, or for all, and a processor of another speed."""
    pace = Pace((rate("Q4_K", bytes_per_s, 5e10), rate("Q8_0", bytes_per_s, 5e10)))
    machine = Machine(memory * GB, (memory - 8) * GB, 8, pace=pace)
    (best,) = [one for one in catalogue.suggest(machine, Setup()) if one.recommended]
    assert best.title == title
    assert re.search(why, best.why)


def test_a_real_speed_takes_the_place_of_a_predicted_one() -> None:
    pace = Pace((rate("Q4_K", 1e9, 5e10),))
    machine = Machine(64 * GB, 56 * GB, 8, pace=pace)
    fast = lambda file, fit: replace(fit, writes=20.0) if "Qwen3-4B" in file else fit  # noqa: E731
    (best,) = [one for one in catalogue.suggest(machine, Setup(), as_used=fast) if one.recommended]
    assert (best.title, best.fit.writes) == ("Qwen3 4B", 20.0)


def test_nothing_is_recommended_where_nothing_fits():
    machine = Machine(GB, GB // 8, 1)
    suggested = catalogue.suggest(machine, Setup(), {"Qwen3-0.6B-Q8_0.gguf"})
    assert not any(one.recommended for one in suggested)
    assert [one.title for one in suggested if one.installed] == ["Qwen3 0.6B"]
