"""The engine's libraries: the version of llama.cpp in them, and added graphics support."""

import ctypes
import importlib.util
import os
import re
import secrets
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

NAMES = (
    "libggml-base.so.[0-9]",
    "libggml-base.[0-9].dylib",
    "libggml-base.so",
    "libggml-base.dylib",
    "*ggml-base.dll",
)
"""Versioned names come first: other libraries link to these, so no second copy is opened."""
UNKNOWN = "unknown"


def library_folder() -> Path | None:
    """Finds the folder of the engine's libraries without starting it; None without an engine."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or not found.submodule_search_locations:
        return None
    named = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(named or Path(found.submodule_search_locations[0]) / "lib")


def ggml_version(libraries: Path) -> str:
    """Returns ggml's version and llama.cpp's commit; empty if the library names neither."""
    try:
        file = next(file for name in NAMES for file in sorted(libraries.glob(name)))
        opened = ctypes.CDLL(str(file))
    except (StopIteration, OSError):
        return ""
    version, commit = (_text_from(opened, name) for name in ("ggml_version", "ggml_commit"))
    return f"{version} ({commit})" if version and commit else version or commit


def _text_from(library: Any, name: str) -> str:
    try:
        function = getattr(library, name)
    except AttributeError:
        return ""
    function.restype = ctypes.c_char_p
    text = (function() or b"").decode(errors="replace")
    return "" if text == UNKNOWN else text


ENGINE_FOLDER = "MOAT_ENGINE"
"""The variable with the folder of an engine that is apart from the program's packages."""

VARIABLE = "MOAT_BACKENDS"
"""The variable with the folder of added backends, for workers."""

FOLDER = "backends"
FILE = re.compile(r"(?:lib)?ggml-(?!base|cpu)(\w+)(?:-[\w.]+)?\.(?:so|dylib|dll)")


ENGINE = re.compile(r"-(\d+\.\d+\.\d+)\.(?:so|dylib|dll)$")


def point(chosen: str, data: Path) -> None:
    """Points workers to the backends folder of the settings, or else to the usual one."""
    os.environ[VARIABLE] = chosen or str(data / FOLDER)


def begin() -> None:
    """Marks a start of the server: backends that were only too slow last time are tried again."""
    os.environ[START] = secrets.token_hex(8)


def folder() -> Path | None:
    given = os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else None


def found(inside: Path | None) -> dict[str, Path]:
    """Returns backend files by kind (cuda, vulkan, hip …), from the folder or one folder deeper."""
    if inside is None or not inside.is_dir():
        return {}
    paths = sorted(inside.glob("[!.]*/*")) + sorted(inside.iterdir())
    named = ((FILE.fullmatch(path.name), path) for path in paths)
    return {match.group(1): path for match, path in named if match}


def made_for(library: Path) -> str:
    """Returns the engine version in the file's name. Other versions may differ in memory layout."""
    found_name = ENGINE.search(library.name)
    return found_name.group(1) if found_name else ""


def engine_version() -> str:
    """Returns the version that added libraries must match; empty if it is unknown."""
    try:
        return metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        return ""


def is_present(kind: str) -> bool:
    """Whether there is a library of this kind that this engine may open."""
    shipped = library_folder()
    if shipped is not None and kind in found(shipped):
        return True
    added = found(folder()).get(kind)
    return added is not None and made_for(added) in ("", engine_version())


NO_CARD = "it finds no card that it can use"
KINDS = frozenset({"cuda", "vulkan", "hip", "sycl", "opencl"})
TRY_AGAIN = "MOAT_TRY_CARDS_AGAIN"
"""The variable that makes the engine forget which backends have failed."""
START = "MOAT_START"
"""The variable that identifies the server's start to a worker."""
FORCED = "GGML_VK_VISIBLE_DEVICES"
"""Selects devices by hand, even Mesa's lavapipe, which computes on the processor."""
NODES = ("/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd")
VENDORS = "/sys/class/drm/renderD*/device/vendor"
CARD_MAKERS = frozenset({"0x10de", "0x1002"})
DRIVERS = (
    "/proc/driver/nvidia/version",
    "/usr/share/vulkan/icd.d/*.json",
    "/usr/local/share/vulkan/icd.d/*.json",
    "/etc/vulkan/icd.d/*.json",
)
CHOSEN_DRIVERS = (FORCED, "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES")
"""Variables by which a person selects devices, or drivers in unusual places."""


def may_have_card(kind: str) -> bool:
    """Whether the machine may have a card for this backend.

    Only Vulkan comes with packages by default. Support for other cards was added for a reason.
    """
    if sys.platform != "linux" or kind != "vulkan":
        return True
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return False
    return bool(os.environ.get(FORCED)) or bool(_matching(NODES))


def has_card() -> bool:
    """Whether this machine has a card of NVIDIA or AMD, judged by its driver's files.

    Other cards only draw pictures: those of virtual machines, or inside the processor.
    """
    if _matching(NODES[1:2]):
        return True
    vendors = [path.read_text().strip() for path in _matching((VENDORS,))]
    return any(vendor in CARD_MAKERS for vendor in vendors)


def driver_mark() -> str:
    """Returns a text that changes with the cards and their drivers."""
    nodes = map(str, _matching(NODES))
    kernel = [path.read_text(errors="replace") for path in _matching(DRIVERS[:1])]
    found = [f"{path} {path.stat().st_mtime_ns}" for path in _matching(DRIVERS[1:])]
    return "\n".join(
        [*nodes, *kernel, *found, *(os.environ.get(name, "") for name in CHOSEN_DRIVERS)]
    )


def _matching(patterns: tuple[str, ...]) -> list[Path]:
    root = Path("/")
    return sorted(path for pattern in patterns for path in root.glob(pattern[1:]))
