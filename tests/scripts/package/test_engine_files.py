"""Which libraries of the engine's wheel are shipped, and that each is there once."""

from pathlib import Path

from scripts.package import engine_files

LINUX = [
    "libllama.so", "libllama.so.0", "libllama.so.0.5.0", "libllama-common.so",
    "libggml.so", "libggml.so.0", "libggml.so.0.25.3", "libggml-base.so", "libggml-base.so.0",
    "libggml-cpu-armv8.2_2.so", "libggml-cpu-armv8.2_2.so.0", "libggml-cpu-armv8.2_2.so.0.25.3",
    "libggml-cpu-haswell.so", "cmake", "llama.pc",
]  # fmt: skip


def test_names_that_are_opened_or_linked_against_are_kept() -> None:
    assert engine_files.wanted(LINUX) == [
        "libggml-base.so", "libggml-base.so.0", "libggml-cpu-armv8.2_2.so",
        "libggml-cpu-haswell.so", "libggml.so", "libggml.so.0", "libllama.so", "libllama.so.0",
    ]  # fmt: skip


def test_a_mac_and_windows_are_understood_too() -> None:
    mac = ["libllama.dylib", "libllama.0.dylib", "libllama.0.5.0.dylib", "ggml-metal.metal"]
    assert engine_files.wanted(mac) == ["ggml-metal.metal", "libllama.0.dylib", "libllama.dylib"]
    assert engine_files.wanted(["llama.dll", "ggml-base.dll", "llama.lib"]) == [
        "ggml-base.dll",
        "llama.dll",
    ]


def test_the_same_file_under_two_names_becomes_a_link(tmp_path: Path) -> None:
    for name, content in (("a.so", b"1"), ("a.so.0", b"1"), ("b.so", b"1"), ("b.so.0", b"2")):
        (tmp_path / name).write_bytes(content)
    engine_files.link_duplicates(tmp_path)
    assert (tmp_path / "a.so").readlink() == Path("a.so.0")
    assert not (tmp_path / "b.so").is_symlink()
