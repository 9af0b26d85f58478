"""What is frozen and what is not."""

import pytest

from scripts.package import contents


@pytest.mark.parametrize(
    "path",
    [
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/translations/qtbase_fr.qm",
        "llama_cpp/lib/libllama.so",
        "libggml-cpu.so.0",
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


def test_the_starter_goes_where_the_program_looks_for_it() -> None:
    targets = {target for path, target in contents.data_files() if path.endswith(".gguf")}
    assert targets == {"resources/models"}


def test_only_pythons_own_libraries_are_stripped() -> None:
    assert contents.is_stripped("libpython3.11.so.1.0")
    assert contents.is_stripped("python3.11/lib-dynload/_json.so")
    assert not contents.is_stripped("numpy.libs/libopenblas.so")
