"""The curated list is sound, and what it recommends fits the machine."""

import pytest

from server.face.models import Device, Machine, Setup
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


def test_nothing_is_recommended_where_nothing_fits():
    machine = Machine(GB, GB // 8, 1)
    suggested = catalogue.suggest(machine, Setup(), {"Qwen3-0.6B-Q8_0.gguf"})
    assert not any(one.recommended for one in suggested)
    assert [one.title for one in suggested if one.installed] == ["Qwen3 0.6B"]
