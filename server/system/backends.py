"""The engine's libraries: which llama.cpp is inside, and support for graphics cards added later."""

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
"""Listed first: the others link to them, and a process that has them open opens no second copy."""
UNKNOWN = "unknown"


def library_folder() -> Path | None:
    """Finds the folder of the engine's libraries without starting it."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or not found.submodule_search_locations:
        return None
    named = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(named or Path(found.submodule_search_locations[0]) / "lib")


def ggml_version(libraries: Path) -> str:
    """Returns the version of ggml and the commit of llama.cpp; empty if the library has none."""
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
"""Names the folder of an engine that lies apart from the program's other packages."""

VARIABLE = "MOAT_BACKENDS"
"""Tells a worker which folder to look into."""

FOLDER = "backends"
FILE = re.compile(r"(?:lib)?ggml-(?!base|cpu)(\w+)(?:-[\w.]+)?\.(?:so|dylib|dll)")


ENGINE = re.compile(r"-(\d+\.\d+\.\d+)\.(?:so|dylib|dll)$")


def point(chosen: str, data: Path) -> None:
    """Lets workers look into the folder of the settings, or into the usual one."""
    os.environ[VARIABLE] = chosen or str(data / FOLDER)


def begin() -> None:
    """Marks a start of the server: what was only too slow in the last one is tried again."""
    os.environ[START] = secrets.token_hex(8)


def folder() -> Path | None:
    given = os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else None


def found(inside: Path | None) -> dict[str, Path]:
    """Returns backends by their kind: cuda, vulkan, hip … They lie there or one folder deeper."""
    if inside is None or not inside.is_dir():
        return {}
    paths = sorted(inside.glob("[!.]*/*")) + sorted(inside.iterdir())
    named = ((FILE.fullmatch(path.name), path) for path in paths)
    return {match.group(1): path for match, path in named if match}


def made_for(library: Path) -> str:
    """Returns the engine's version in the file's name: others may differ in memory layout."""
    found_name = ENGINE.search(library.name)
    return found_name.group(1) if found_name else ""


def engine_version() -> str:
    """Returns the version that added libraries must be made for; empty if it is not known."""
    try:
        return metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        return ""


def is_present(kind: str) -> bool:
    """Whether a library of this kind is here that this engine may open."""
    shipped = library_folder()
    if shipped is not None and kind in found(shipped):
        return True
    added = found(folder()).get(kind)
    return added is not None and made_for(added) in ("", engine_version())


NO_CARD = "it finds no card that it can use"
KINDS = frozenset({"cuda", "vulkan", "hip", "sycl", "opencl"})
TRY_AGAIN = "MOAT_TRY_CARDS_AGAIN"
"""Tells the engine to forget which of them failed."""
START = "MOAT_START"
"""Tells a worker which start of the server it belongs to."""
FORCED = "GGML_VK_VISIBLE_DEVICES"
"""Names devices by hand, also one that is no card: Mesa's lavapipe computes on the processor."""
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
"""Variables by which a person names devices, and drivers in other places."""


def may_have_card(kind: str) -> bool:
    """Whether a look at the machine leaves a card possible.

    Only Vulkan is put into packages unasked; who has support for other cards has a reason.
    """
    if sys.platform != "linux" or kind != "vulkan":
        return True
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return False
    return bool(os.environ.get(FORCED)) or bool(_matching(NODES))


def has_card() -> bool:
    """Whether a card of NVIDIA's or AMD's is in this machine, by the files of its driver.

    Others draw pictures: a virtual machine's, or one inside the processor.
    """
    if _matching(NODES[1:2]):
        return True
    vendors = [path.read_text().strip() for path in _matching((VENDORS,))]
    return any(vendor in CARD_MAKERS for vendor in vendors)


def driver_mark() -> str:
    """Changes with the cards and with their drivers."""
    nodes = map(str, _matching(NODES))
    kernel = [path.read_text(errors="replace") for path in _matching(DRIVERS[:1])]
    found = [f"{path} {path.stat().st_mtime_ns}" for path in _matching(DRIVERS[1:])]
    return "\n".join(
        [*nodes, *kernel, *found, *(os.environ.get(name, "") for name in CHOSEN_DRIVERS)]
    )


def _matching(patterns: tuple[str, ...]) -> list[Path]:
    root = Path("/")
    return sorted(path for pattern in patterns for path in root.glob(pattern[1:]))
