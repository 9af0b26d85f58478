"""Conversations on disk: found again, bounded, private, and never trusted when damaged."""

import os
from pathlib import Path

import numpy as np
import pytest

from server.engine.worker.decode.batch import Tokens
from server.engine.worker.schedule import prefix
from server.engine.worker.schedule.prefix import HEADER, DiskCache, Kept
from tests.kit.running import until
from tests.kit.worker_client import WorkerClient

LONG = "The board met and talked about revenue, margins and the dividend of the year. " * 45


def tokens(*ids: int) -> Tokens:
    return np.array(ids, np.int32)


def kept(size: int, *ids: int) -> Kept:
    return Kept(tokens(*ids), np.arange(size, dtype=np.uint8))


def test_what_was_stored_is_found_by_the_next_run(tmp_path: Path) -> None:
    DiskCache(tmp_path, 1000).store(kept(100, 1, 2, 3))
    again = DiskCache(tmp_path, 1000)
    (found,) = again.load()
    assert found.tokens.tolist() == [1, 2, 3]
    assert found.state.tolist() == list(range(100))
    assert found.is_whole()
    assert again.holds(tokens(1, 2))
    assert not again.holds(tokens(1, 2, 3, 4))
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_the_oldest_goes_when_the_space_is_used(tmp_path: Path) -> None:
    size = HEADER.size + 4 + 100
    cache = DiskCache(tmp_path, 2 * size)
    for token in (1, 2, 3):
        cache.store(kept(100, token))
    assert [cache.holds(tokens(token)) for token in (1, 2, 3)] == [False, True, True]
    cache.store(kept(5000, 4))
    assert not cache.holds(tokens(4))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_longer_conversation_replaces_its_own_beginning(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    cache.store(kept(10, 1, 2))
    cache.store(kept(15, 1, 2, 3))
    assert len(list(tmp_path.iterdir())) == 1
    assert cache.holds(tokens(1, 2))


@pytest.mark.parametrize("damage", ["cut", "emptied", "other"])
def test_a_damaged_file_is_removed(tmp_path: Path, damage: str) -> None:
    DiskCache(tmp_path, 1000).store(kept(100, 1, 2, 3))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes({"cut": whole[:-1], "emptied": b"", "other": b"x" * len(whole)}[damage])
    assert list(DiskCache(tmp_path, 1000).load()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_changed_state_is_noticed(tmp_path: Path) -> None:
    DiskCache(tmp_path, 1000).store(kept(100, 1, 2, 3))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    (found,) = DiskCache(tmp_path, 1000).load()
    assert not found.is_whole()


def test_a_disk_that_is_full_ends_the_storing_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path, 1000)
    cache.store(kept(10, 1))

    def full(*_anything: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("server.engine.worker.schedule.prefix._write", full)
    cache.store(kept(10, 1, 2))
    assert not cache.holds(tokens(1, 2))
    assert cache.holds(tokens(1)), "the earlier state of the conversation stays"
    cache.store(kept(10, 3))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_lower_limit_holds_at_once_and_the_last_used_stay(tmp_path: Path) -> None:
    size = HEADER.size + 4 + 100
    cache = DiskCache(tmp_path, 3 * size)
    for token in (1, 2, 3):
        cache.store(kept(100, token))
        (path,) = {stored.path for stored in cache._stored if stored.tokens[0] == token}
        os.utime(path, (token, token))
    assert cache.holds(tokens(1))
    again = DiskCache(tmp_path, 2 * size)
    assert [int(found.tokens[0]) for found in again.load()] == [3, 1]
    assert len(list(tmp_path.iterdir())) == 2


def test_what_another_worker_writes_or_drops_meanwhile_is_let_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path, 1000)
    for token in (1, 2):
        cache.store(kept(100, token))
    (tmp_path / "new.draft").write_bytes(b"half")
    old = tmp_path / "old.draft"
    old.write_bytes(b"half")
    os.utime(old, (1, 1))
    read = prefix._read
    gone: list[Path] = []

    def vanishing(path: Path) -> prefix.Kept | None:
        if not gone:
            gone.append(path)
            path.unlink()
        return read(path)

    monkeypatch.setattr(prefix, "_read", vanishing)
    assert len(DiskCache(tmp_path, 1000).load()) == 1
    assert {path.name for path in tmp_path.glob("*.draft")} == {"new.draft"}


def test_a_conversation_survives_a_restart_of_the_worker(
    quick_starter: Path, tmp_path: Path
) -> None:
    options = {
        "slots": 2,
        "context_tokens": 2048,
        "prompt_disk_mb": 200,
        "prompt_folder": str(tmp_path),
    }
    job = {"prompt": LONG, "max_tokens": 12, "sampling": {"temperature": 0.0}}
    first = WorkerClient(quick_starter, **options)
    told = first.generate(**job)
    until(lambda: first.ask("stats")["value"]["stored"] or None)
    first.kill()
    second = WorkerClient(quick_starter, **options)
    again = second.generate(**job)
    second.close()
    assert told.usage["cached_tokens"] == 0
    assert again.usage["cached_tokens"] > 512
    assert again.text == told.text
