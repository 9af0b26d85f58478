"""Which variant of the processor's backend is used, and what happens to one that fails."""

import io
from pathlib import Path

import pytest

from server.engine.worker.load import backends
from server.engine.worker.load.backends import LoadedBackends, Variant
from server.system import backends as folders

FAST = Variant("fast", Path("libggml-cpu-fast.so"), 9)
PLAIN = Variant("plain", Path("libggml-cpu-plain.so"), 1)


def test_the_best_is_taken_when_nothing_speaks_against_it() -> None:
    assert backends.choose([FAST, PLAIN], lambda _variant: None) == (FAST, {})


def test_one_that_failed_gives_way_to_the_next() -> None:
    chosen, reasons = backends.choose(
        [FAST, PLAIN], lambda variant: "it died" if variant is FAST else None
    )
    assert (chosen, reasons) == (PLAIN, {"fast": "it died"})


def test_the_plainest_is_taken_in_any_case() -> None:
    chosen, reasons = backends.choose([FAST, PLAIN], lambda _variant: "no")
    assert chosen is PLAIN
    assert set(reasons) == {"fast", "plain"}


def test_an_engine_for_one_processor_has_no_variants(tmp_path: Path) -> None:
    assert backends.choose(backends.variants(tmp_path), lambda _variant: None) == (None, {})


def test_a_file_that_is_no_library_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "libggml-cpu-broken.so").write_text("not a library")
    assert backends.variants(tmp_path) == []


def test_a_backend_that_does_not_fit_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libggml-cuda.so").write_text("not a library")
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path))
    loaded = backends.load()
    assert loaded.added == ()
    assert "libggml-cuda.so" in loaded.refused["cuda"]


def test_a_backend_of_another_engine_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libggml-cuda-0.0.1.so").write_text("a library of long ago")
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path))
    assert "is made for engine 0.0.1; this one is" in backends.load().refused["cuda"]


def test_the_log_says_what_was_chosen() -> None:
    log = io.StringIO()
    backends.tell(LoadedBackends("armv8.2_2", ("vulkan",), {"armv8.6_1": "it died"}), log)
    assert log.getvalue().splitlines() == [
        "info: the processor's backend is armv8.2_2",
        "info: the backend vulkan was added",
        "warning: the backend armv8.6_1 is not used: it died",
    ]


def test_what_was_shipped_counts_only_where_a_card_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped, added = tmp_path / "shipped", tmp_path / "added"
    for folder, name in ((shipped, "libggml-vulkan.so"), (added, "libggml-cuda-0.3.36.so")):
        folder.mkdir()
        (folder / name).touch()
    monkeypatch.setenv(folders.VARIABLE, str(added))
    monkeypatch.setattr(folders, "may_have_card", lambda _kind: False)
    assert set(backends._cards(shipped)) == {"cuda"}
    monkeypatch.setattr(folders, "may_have_card", lambda _kind: True)
    assert set(backends._cards(shipped)) == {"cuda", "vulkan"}
    assert set(backends._cards(None)) == {"cuda"}
    monkeypatch.setenv(backends.TRIED_CARD, "vulkan")
    assert set(backends._cards(shipped)) == {"vulkan"}
