"""Runs mypy for each system that Moat supports, with the stubs of the PySide6 version pinned for
it.

The versions are those in pyproject.toml. The set-up fetches their stubs with `--fetch`, so that
checks need no network afterwards.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import platformdirs
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
STUBS = ROOT / "build" / "stubs"
CACHES = ROOT / "build" / "mypy"
KEPT = platformdirs.user_cache_path("moat", appauthor=False) / "mypy"
"""The kept caches of mypy from other clones. A new clone begins with them."""
PACKAGES = ("server", "app", "scripts")
QT = "PySide6-Essentials"
OLDEST_GLIBC, NEWEST_GLIBC = 17, 36  # 2.36 is the one of Debian 12, the oldest system supported.


@dataclass(frozen=True)
class System:
    name: str
    sys_platform: str
    machine: str
    python: str
    """Together, the systems cover every supported Python version."""

    @property
    def wheel_tags(self) -> Iterator[str]:
        """The platform tags in the names of wheels that run on this system."""
        if self.sys_platform == "linux":
            for minor in range(OLDEST_GLIBC, NEWEST_GLIBC + 1):
                yield f"manylinux_2_{minor}_{self.machine}"
        else:
            yield "win_amd64" if self.sys_platform == "win32" else f"macosx_14_0_{self.machine}"

    @property
    def qt(self) -> str:
        """The version of PySide6 that is pinned for this system."""
        there = {
            "sys_platform": self.sys_platform,
            "platform_machine": self.machine,
            "python_version": self.python,
        }
        (version,) = (
            pin.specifier for pin in qt_pins() if not pin.marker or pin.marker.evaluate(there)
        )
        return str(version).removeprefix("==")


SYSTEMS = (
    System("linux-arm", "linux", "aarch64", "3.11"),
    System("linux-x86", "linux", "x86_64", "3.13"),
    System("windows", "win32", "AMD64", "3.12"),
    System("macos", "darwin", "arm64", "3.12"),
)


def qt_pins() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    window = map(Requirement, project["optional-dependencies"]["window"])
    return [requirement for requirement in window if requirement.name == QT]


def stubs_for(system: System) -> Path | None:
    """Returns the folder with the stubs of that system's PySide6; None if they are the installed
    ones.

    The modules that Moat uses have the same stubs in the wheels of every system.
    """
    if system.qt == _installed():
        return None
    folder = STUBS / system.qt
    if not folder.exists():
        _fetch(system, folder)
    return folder


def _installed() -> str:
    try:
        return metadata.version(QT)
    except metadata.PackageNotFoundError:
        return ""


def _fetch(system: System, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        wheels, draft = Path(scratch, "wheels"), Path(scratch, "stubs")
        platforms = [f"--platform={tag}" for tag in system.wheel_tags]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        which = [*platforms, f"--python-version={system.python}", "--only-binary=:all:"]
        subprocess.run([*pip, *which, f"--dest={wheels}", f"{QT}=={system.qt}"], check=True)
        for wheel in wheels.glob("*.whl"):
            _unpack(wheel, draft)
        if not folder.exists():  # Another check may have been faster.
            draft.rename(folder)


def _unpack(wheel: Path, into: Path) -> None:
    """Unpacks the files that mypy reads, without libraries."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith((".py", ".pyi", "/py.typed")):
                archive.extract(name, into)


def run_mypy(system: System, stubs: Path | None, sources: Sequence[str] = ()) -> int:
    """Runs mypy as if on that system. Without `sources` it checks what pyproject.toml names."""
    environment = dict(os.environ)
    if stubs:
        # The folder is searched like one of installed packages, and before the real one.
        environment["PYTHONPATH"] = str(stubs)
    options = [f"--platform={system.sys_platform}", f"--python-version={system.python}"]
    cache, kept = CACHES / system.name, KEPT / f"{system.name}.tar"
    is_first = not sources and not cache.exists()
    if is_first and is_usable(kept):
        _begin_with(kept, cache)
    command = [sys.executable, "-P", "-m", "mypy", *options, f"--cache-dir={cache}", *sources]
    sys.stdout.write(f"{system.name}, Python {system.python}, PySide6 {system.qt}: ")
    sys.stdout.flush()
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if is_first and code == 0:
        _keep(cache, kept)
    return code


def is_usable(kept: Path) -> bool:
    """Whether all files that are checked were written after the kept cache.

    mypy considers a file unchanged if its path, size and modification second are the same;
    otherwise it compares the content. With this condition, files of another clone are always
    compared.
    """
    checked = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    written = min(path.stat().st_mtime for path in (*checked, Path(sys.prefix, "pyvenv.cfg")))
    return kept.exists() and int(kept.stat().st_mtime) < int(written)


def _begin_with(kept: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent) as scratch:
        try:
            with tarfile.open(kept) as archive:
                # Python before 3.11.4, as in Debian 12, has no filters.
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(scratch)
            Path(scratch, cache.name).rename(cache)
        except (OSError, tarfile.TarError):
            return  # It is missing or incomplete: mypy starts without it.


def _keep(cache: Path, kept: Path) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            draft = Path(scratch, kept.name)
            with tarfile.open(draft, "w") as archive:
                archive.add(cache, cache.name)
            draft.replace(kept)
    except OSError as error:  # The disk is full or read-only: the next clone starts anew.
        sys.stdout.write(f"What mypy found out is not kept for other clones: {error}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="check_types", description=__doc__)
    options.add_argument("--fetch", action="store_true", help="only fetch the stubs")
    only_fetch: bool = options.parse_args(arguments).fetch
    stubs = {system: stubs_for(system) for system in SYSTEMS}
    return 0 if only_fetch else max(run_mypy(system, stubs[system]) for system in SYSTEMS)


if __name__ == "__main__":
    sys.exit(main())
