"""Which support for graphics cards lies in the folder."""

from pathlib import Path

import pytest

from server.system import backends


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.VARIABLE, "")


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("libggml-cuda.so", "cuda"),
        ("libggml-vulkan.dylib", "vulkan"),
        ("ggml-cuda.dll", "cuda"),
        ("ggml-hip-gfx1100.dll", "hip"),
    ],
)
def test_a_backend_is_known_by_its_file(tmp_path: Path, file: str, kind: str) -> None:
    (tmp_path / file).touch()
    assert backends.found(tmp_path) == {kind: tmp_path / file}


@pytest.mark.parametrize(
    "file", ["libggml-cpu-haswell.so", "libggml-base.so", "libcublas.so", "libggml-cuda.so.txt"]
)
def test_other_files_are_none(tmp_path: Path, file: str) -> None:
    (tmp_path / file).touch()
    assert backends.found(tmp_path) == {}


def test_no_folder_holds_nothing(tmp_path: Path) -> None:
    assert backends.found(None) == {}
    assert backends.found(tmp_path / "not there") == {}


def test_workers_are_pointed_at_the_chosen_folder_or_the_usual_one(tmp_path: Path) -> None:
    backends.point("", tmp_path)
    assert backends.folder() == tmp_path / "backends"
    backends.point("/somewhere/else", tmp_path)
    assert backends.folder() == Path("/somewhere/else")


@pytest.mark.parametrize(
    ("file", "version"),
    [("libggml-cuda-0.3.36.so", "0.3.36"), ("libggml-cuda.so", ""), ("ggml-hip-gfx1100.dll", "")],
)
def test_a_file_may_say_for_which_engine_it_is(file: str, version: str) -> None:
    assert backends.made_for(Path(file)) == version


def test_support_may_lie_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path))
    for name in ("cuda-0.0.1", ".cuda-9.9.9"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libggml-cuda-0.0.1.so").touch()
    assert backends.found(tmp_path) == {"cuda": tmp_path / "cuda-0.0.1" / "libggml-cuda-0.0.1.so"}
    assert not backends.is_present("cuda"), "It is for another engine."
    (tmp_path / f"libggml-cuda-{backends.engine_version()}.so").touch()
    assert backends.is_present("cuda")
