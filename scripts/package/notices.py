"""The licences of everything in the frozen folder: packages, the engine, Qt, system libraries."""

import functools
import json
import platform
import re
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from server.system import licenses
from server.system.licenses import Component

IN_LINKER_FOLDER = re.compile(r"(?:/usr)?/lib/(?:[\w-]+-linux-gnu/)?[^/]+\.so(?:\.[^/]*)?$")
DEBIAN_DOCS = Path("/usr/share/doc")
NAMED = re.compile(r"^License:\s*(\S.*)$", re.MULTILINE)


def write(path: Path, frozen: Path, modules: Iterable[str]) -> None:
    listing = [asdict(one) for one in everything(frozen, modules)]
    path.write_text(json.dumps(listing, indent=1, ensure_ascii=False), encoding="utf-8")


def everything(frozen: Path, modules: Iterable[str]) -> list[Component]:
    known = {one.name: one for one in licenses.packages()}
    inside = {*_packages(modules), licenses.PROGRAM} - set(licenses.QT_PACKAGES)
    packages = [
        known.get(name) or licenses.described(metadata.distribution(name))
        for name in sorted(inside)
    ]
    return [*packages, *by_hand(), *system_libraries(frozen)]


def _packages(modules: Iterable[str]) -> Iterator[str]:
    """Yields the installed packages that contain these modules."""
    owners = metadata.packages_distributions()
    for module in modules:
        yield from (metadata.metadata(name)["Name"] for name in owners.get(module, [])[:1])


def by_hand() -> list[Component]:
    """Returns components that no package manager describes."""
    return [
        *licenses.by_hand(),
        Component("Python", platform.python_version(), "PSF-2.0", "runtime", _python()),
        Component(
            "PyInstaller's start-up program",
            metadata.version("pyinstaller"),
            "GPL-2.0-or-later WITH Bootloader-exception",
            "runtime",
            BOOTLOADER_NOTE,
        ),
    ]


def system_libraries(frozen: Path) -> list[Component]:
    """Returns the libraries that were copied from the system, as Debian describes them."""
    known = owners()
    found = {
        known[path.name]
        for path in frozen.iterdir()
        if ".so" in path.name and path.name in known and not path.is_symlink()
    }
    return [_debian(package) for package in sorted(found)]


@functools.cache
def owners() -> dict[str, str]:
    """Maps libraries in the linker's folders to the Debian packages that contain them."""
    lists = sorted(Path("/var/lib/dpkg/info").glob("*.list"))
    return {
        Path(line).name: listing.stem.partition(":")[0]
        for listing in lists
        for line in listing.read_text(errors="replace").splitlines()
        if IN_LINKER_FOLDER.match(line)
    }


def _debian(package: str) -> Component:
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}\n", package],
        capture_output=True,
        text=True,
        check=False,
    )
    version = (asked.stdout.splitlines() or ["unknown"])[0]
    copyright_file = DEBIAN_DOCS / package / "copyright"
    text = copyright_file.read_text(errors="replace") if copyright_file.is_file() else ""
    return Component(package, version, _named(text), "system library", text)


def _named(copyright_text: str) -> str:
    """Returns the licences that a Debian copyright file names, in their order and at most four."""
    names = dict.fromkeys(name.strip() for name in NAMED.findall(copyright_text))
    return " AND ".join(list(names)[:4]) or "see its text"


def _python() -> str:
    path = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    return path.read_text(encoding="utf-8") if path.is_file() else PYTHON_NOTE


PYTHON_NOTE = "Python Software Foundation License, https://docs.python.org/3/license.html\n"
BOOTLOADER_NOTE = (
    "The small program that starts Moat comes from PyInstaller, under the GNU General Public\n"
    "License, version 2 or later, with an exception that allows it in programs of any licence:\n"
    "https://pyinstaller.org/en/stable/license.html\n"
)
