"""The engine as it is shipped: each library once, from the wheel in the cache."""

import re
import shutil
import zipfile
from pathlib import Path

from scripts.bootstrap.engine import shipped_wheel

FOLDER = "llama_cpp/lib/"
LIBRARY = re.compile(r"(?:lib)?(?:llama|ggml|mtmd)\b.*\.(?:so|dylib|dll)(?:\.\d+)*|.*\.metal")
PLUG = re.compile(r"libggml-(?:cpu-.+|cuda|vulkan|hip|sycl|opencl|rpc)\.so")
"""Matches libraries that are opened by name and never linked against."""
NOT_NEEDED = re.compile(r"libllama-common\b")


def unpack(into: Path) -> list[Path]:
    """Unpacks the libraries, each once: a wheel contains copies instead of links."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    with zipfile.ZipFile(shipped_wheel()) as wheel:
        names = [Path(name).name for name in wheel.namelist() if name.startswith(FOLDER)]
        for name in wanted(names):
            (into / name).write_bytes(wheel.read(FOLDER + name))
    return sorted(into.iterdir())


def wanted(names: list[str]) -> list[str]:
    """Returns the names that the loader needs: the plain one and the one that is linked against."""
    libraries = [name for name in names if LIBRARY.fullmatch(name) and not NOT_NEEDED.match(name)]
    plugs = tuple(f"{name}." for name in libraries if PLUG.fullmatch(name))
    return sorted(
        name
        for name in libraries
        if not (_is_full_version(name, libraries) or name.startswith(plugs))
    )


def _is_full_version(name: str, libraries: list[str]) -> bool:
    """Whether it is libggml.so.0.25.3 beside libggml.so.0, or libggml.0.25.3.dylib beside
    libggml.0.dylib."""
    found = re.fullmatch(r"(.+\.so\.\d+)\.[\d.]+|(.+?\.\d+)\.[\d.]+\.dylib", name)
    if not found:
        return False
    return (found.group(1) or f"{found.group(2)}.dylib") in libraries


def link_duplicates(folder: Path) -> None:
    """Replaces libllama.so by a link to libllama.so.0 if both are the same file."""
    for versioned in folder.glob("*.so.[0-9]*"):
        plain = folder / versioned.name[: versioned.name.rindex(".so.") + 3]
        twice = plain.is_file() and not plain.is_symlink()
        if twice and plain.read_bytes() == versioned.read_bytes():
            plain.unlink()
            plain.symlink_to(versioned.name)
