"""What is frozen and what is not."""

from pathlib import Path

import pytest

from scripts.bootstrap.places import ROOT
from scripts.package import contents


@pytest.mark.parametrize(
    "path",
    [
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/translations/qtbase_fr.qm",
        "llama_cpp/lib/libllama.so",
        "libggml-cpu.so.0",
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "libvulkan.so.1",
        "plugins/files/__pycache__/x.pyc",
        "aiohttp-3.14.5.dist-info/direct_url.json",
    ],
)
def test_these_stay_out(path: str) -> None:
    assert not contents.is_wanted(path)


@pytest.mark.parametrize(
    "path",
    [
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "llama_cpp/engine/libggml-cpu-haswell.so",
        "resources/window.qss",
        "libicudata.so.73",
        "aiohttp-3.14.5.dist-info/METADATA",
        "keyring-25.7.0.dist-info/entry_points.txt",
    ],
)
def test_these_are_needed(path: str) -> None:
    assert contents.is_wanted(path)


def test_a_plugin_finds_all_of_the_standard_library_but_its_windows_and_tests() -> None:
    found = contents.hidden_modules()
    assert {"statistics", "csv", "sqlite3", "zoneinfo"} <= set(found)
    assert not {"tkinter", "test", "idlelib"} & set(found)
    assert "keyring" in found


def test_every_command_goes_along() -> None:
    files = (ROOT / "server" / "commands").glob("*.py")
    adding = {file.stem for file in files if "def add_to(" in file.read_text("utf-8")}
    assert {f"server.commands.{name}" for name in adding} <= set(contents.hidden_modules())


def test_the_starter_goes_where_the_program_looks_for_it() -> None:
    targets = {target for path, target in contents.data_files() if path.endswith(".gguf")}
    assert targets == {"resources/models"}


def test_every_file_beside_the_code_goes_along() -> None:
    found = dict(contents.data_files())
    assert [path for path in found if not Path(path).exists()] == []
    targets = {Path(path).name: target for path, target in found.items()}
    assert targets["schema.graphql"] == "server/protocols/copilotkit"


def test_only_pythons_own_libraries_are_stripped() -> None:
    assert contents.is_stripped("libpython3.11.so.1.0")
    assert contents.is_stripped("python3.11/lib-dynload/_json.so")
    assert not contents.is_stripped("numpy.libs/libopenblas.so")


@pytest.mark.parametrize("kind", ["BINARY", "SYMLINK"])
def test_on_macos_each_library_of_the_engine_is_linked_to_where_the_others_look(kind: str) -> None:
    """PyInstaller makes them look in the top folder; what it puts there itself differs."""
    engine = [
        ("llama_cpp/engine/libggml.0.dylib", "/work/engine/libggml.0.dylib", "BINARY"),
        ("llama_cpp/engine/libllama.dylib", "/work/engine/libllama.dylib", "BINARY"),
    ]
    others = [("libssl.3.dylib", "/lib/libssl.3.dylib", "BINARY")]
    found = [*engine, ("libggml.0.dylib", "llama_cpp/engine/libggml.0.dylib", kind), *others]
    assert contents.shipped(found, "darwin") == [
        ("llama_cpp/lib/libggml.0.dylib", "/work/engine/libggml.0.dylib", "BINARY"),
        ("llama_cpp/lib/libllama.dylib", "/work/engine/libllama.dylib", "BINARY"),
        *others,
        ("libggml.0.dylib", "llama_cpp/lib/libggml.0.dylib", "SYMLINK"),
        ("libllama.dylib", "llama_cpp/lib/libllama.dylib", "SYMLINK"),
    ]


def test_on_linux_the_libraries_of_the_engine_find_each_other_in_their_folder() -> None:
    found = [
        ("llama_cpp/engine/libggml.so.0", "/work/engine/libggml.so.0", "BINARY"),
        ("libggml.so.0", "/work/engine/libggml.so.0", "BINARY"),
    ]
    assert contents.shipped(found, "linux") == [
        ("llama_cpp/lib/libggml.so.0", "/work/engine/libggml.so.0", "BINARY")
    ]
