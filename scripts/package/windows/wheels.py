"""The wheels for Windows: fetched by their pinned hashes, unpacked without unused files."""

import hashlib
import re
import shutil
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from scripts.bootstrap.follow import LongCommand, follow
from scripts.package import contents
from scripts.package.windows import places

TARGET = (
    *("--platform", "win_amd64", "--python-version", "3.12", "--implementation", "cp"),
    *("--abi", "cp312", "--abi", "abi3", "--abi", "none", "--only-binary=:all:"),
)
PINNED = re.compile(r"^([\w.-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", re.M)
QT_LIBRARIES = ("Core", "Gui", "Widgets", "Network", "Svg")
QT_FILES = (
    *(f"PySide6/Qt6{name}.dll" for name in QT_LIBRARIES),
    *(f"PySide6/Qt{name}.pyd" for name in QT_LIBRARIES),
    "PySide6/__init__.py",
    "PySide6/_config.py",
    "PySide6/_git_pyside_version.py",
    "PySide6/pyside6.abi3.dll",
    "PySide6/*140*.dll",
    "PySide6/support/*",
    "PySide6/plugins/platforms/qwindows.dll",
    "PySide6/plugins/styles/*.dll",
    "PySide6/plugins/iconengines/qsvgicon.dll",
    "PySide6/plugins/imageformats/q[gis]*.dll",
    "PySide6/plugins/imageformats/q[jw]*.dll",
)
LEFT_OUT = (
    "*/tests/*", "*.pyi", "*.lib", "*.h", "*.pdb", "*/include/*", "*.data/*",
    "numpy/f2py/*", "numpy/_pyinstaller/*", "numpy/distutils/*", "numpy/typing/tests/*",
    "shiboken6/*.exe", "pypdf/_codecs/tests/*",
)  # fmt: skip


def fetch() -> list[Path]:
    """Returns all wheels of the list. They are fetched once and then taken from the cache."""
    listing = places.REQUIREMENTS.read_text(encoding="utf-8")
    folder = places.CACHE / f"wheels-{hashlib.sha256(listing.encode()).hexdigest()[:16]}"
    if not folder.exists():
        draft = folder.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        follow(LongCommand("fetching the wheels for Windows", _download(draft), lambda _line: None))
        draft.replace(folder)
    return sorted(folder.glob("*.whl"))


def _download(into: Path) -> list[str]:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
    exactly = ("--no-deps", "--require-hashes", "--requirement", str(places.REQUIREMENTS))
    return [*pip, *TARGET, *exactly, "--dest", str(into)]


def pinned(listing: str) -> dict[str, str]:
    """Returns the names and versions in the list."""
    return {name.lower(): version for name, version, _hash in PINNED.findall(listing)}


def unpack(wheel: Path, into: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if is_wanted(name):
                archive.extract(name, into)


def is_wanted(name: str) -> bool:
    if name.endswith("/"):
        return False
    if name.startswith("PySide6/translations/"):
        return PurePosixPath(name).name in contents.KEPT_TRANSLATIONS
    if name.startswith("PySide6/"):
        return any(fnmatch(name, pattern) for pattern in QT_FILES)
    return not any(fnmatch(name, pattern) for pattern in LEFT_OUT)
