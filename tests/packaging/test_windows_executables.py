"""Real programs for Windows come with pip: it starts scripts with them."""

from pathlib import Path

import pytest
from pip._vendor import distlib

from scripts.package.windows import portable_executable
from scripts.package.windows.portable_executable import AMD64, CONSOLE, GUI, NotExecutable

FOLDER = Path(distlib.__file__).parent


@pytest.mark.parametrize(("name", "subsystem"), [("t64.exe", CONSOLE), ("w64.exe", GUI)])
def test_the_kind_and_the_needs_of_a_program_are_read(name: str, subsystem: int) -> None:
    found = portable_executable.read((FOLDER / name).read_bytes())
    assert (found.machine, found.subsystem) == (AMD64, subsystem)
    assert "kernel32.dll" in found.imports
    assert all(library.endswith(".dll") for library in found.imports)


def test_a_program_for_32_bits_is_refused() -> None:
    with pytest.raises(NotExecutable):
        portable_executable.read((FOLDER / "t32.exe").read_bytes())


@pytest.mark.parametrize("data", [b"", b"MZ", b"\x7fELF" + b"\0" * 100, b"MZ" + b"\0" * 100])
def test_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(NotExecutable):
        portable_executable.read(data)
