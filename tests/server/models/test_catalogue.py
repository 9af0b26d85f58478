"""The curated list is sound, and what it recommends fits the machine."""

import re
from dataclasses import replace

import pytest

from server.face.models import Device, Machine, Pace, Rate, Setup
from server.models import catalogue, names

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
    uses = {use for entry in entries for use in entry.uses}
    assert uses == {"chat", "tools", "thinking", "vision", "embeddings"}


@pytest.mark.parametrize(
    ("machine", "title"),
    [
        (Machine(4 * GB, 2 * GB, 4), "Qwen3 0.6B"),
        (Machine(16 * GB, 11 * GB, 8), "Qwen3 4B"),
        (Machine(64 * GB, 56 * GB, 16), "Qwen3 30B A3B"),
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
    ("bytes_per_s", "title", "why"),
    [
        (1e9, "Qwen3 0.6B", r"Qwen3 1.7B is more able, but would write about 0\.\d tokens"),
        (3e10, "Qwen3 30B A3B", "No model of this list is more able"),
    ],
)
def test_the_speed_of_the_machine_decides_and_it_says_so(
    bytes_per_s: float, title: str, why: str
) -> None:
    """Memory for all of them, and a processor of another speed."""
    pace = Pace((Rate("Q4_K", bytes_per_s, 5e10), Rate("Q8_0", bytes_per_s, 5e10)))
    machine = Machine(64 * GB, 56 * GB, 8, pace=pace)
    (best,) = [one for one in catalogue.suggest(machine, Setup()) if one.recommended]
    assert best.title == title
    assert re.search(why, best.why)


def test_a_real_speed_takes_the_place_of_a_predicted_one() -> None:
    pace = Pace((Rate("Q4_K", 1e9, 5e10),))
    machine = Machine(64 * GB, 56 * GB, 8, pace=pace)
    fast = lambda file, fit: replace(fit, writes=20.0) if "4B" in file else fit  # noqa: E731
    (best,) = [one for one in catalogue.suggest(machine, Setup(), as_used=fast) if one.recommended]
    assert (best.title, best.fit.writes) == ("Qwen3 4B", 20.0)


def test_nothing_is_recommended_where_nothing_fits():
    machine = Machine(GB, GB // 8, 1)
    suggested = catalogue.suggest(machine, Setup(), {"Qwen3-0.6B-Q8_0.gguf"})
    assert not any(one.recommended for one in suggested)
    assert [one.title for one in suggested if one.installed] == ["Qwen3 0.6B"]
