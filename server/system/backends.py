"""Support for graphics cards that is added later: a folder of ggml backends beside the engine."""

import os
import re
from pathlib import Path

VARIABLE = "MOAT_BACKENDS"
"""Tells a worker which folder to look into."""

FOLDER = "backends"
FILE = re.compile(r"(?:lib)?ggml-(?!base|cpu)(\w+)(?:-[\w.]+)?\.(?:so|dylib|dll)")


ENGINE = re.compile(r"-(\d+\.\d+\.\d+)\.(?:so|dylib|dll)$")


def point(chosen: str, data: Path) -> None:
    """From here on workers look into the folder of the settings, or into the usual one."""
    os.environ[VARIABLE] = chosen or str(data / FOLDER)


def folder() -> Path | None:
    given = os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else None


def found(inside: Path | None) -> dict[str, Path]:
    """Backends by their kind: cuda, vulkan, hip …"""
    if inside is None or not inside.is_dir():
        return {}
    named = ((FILE.fullmatch(path.name), path) for path in sorted(inside.iterdir()))
    return {match.group(1): path for match, path in named if match}


def made_for(library: Path) -> str:
    """The version of the engine in the file's name: another one may not share its memory layout."""
    told = ENGINE.search(library.name)
    return told.group(1) if told else ""
