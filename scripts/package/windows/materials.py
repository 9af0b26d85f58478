"""Lists the components inside: for `moat licenses`, and as the bill of materials."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path

from scripts.package import bill, notices, product
from scripts.package.windows import embedded, engine, places, wheels
from server.system import licenses
from server.system.licenses import Component

BILL = product.FINISHED / f"{product.NAME}-{product.VERSION}-windows-x64.cdx.json"
QT = "pyside6-essentials"
RUNTIME_NOTICE = Path("/usr/share/doc/gcc-mingw-w64-x86-64-posix-runtime/copyright")
RUNTIME_NOTE = (
    "libstdc++ and libgcc are under the GNU General Public License, version 3, with the GCC\n"
    "Runtime Library Exception: programs of any licence may be shipped with them. winpthreads is\n"
    "under the MIT licence.\n\n"
)
INSTALLER_NOTE = "Made with NSIS, under the zlib licence: https://nsis.sourceforge.io/License\n"


def write() -> None:
    found = sorted(everything(), key=lambda one: one.name.lower())
    listing = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False)
    (places.PROGRAM / "resources" / "licenses.json").write_text(listing, encoding="utf-8")
    product.FINISHED.mkdir(exist_ok=True)
    bill.write(BILL, found)


def everything() -> Iterable[Component]:
    yield Component(product.NAME, product.VERSION, product.LICENCE, "program")
    for package in metadata.distributions(path=[str(places.PACKAGES)]):
        if package.metadata["Name"].replace("_", "-").lower() not in (QT, "shiboken6"):
            yield licenses.described(package)
    qt = wheels.pinned(places.REQUIREMENTS.read_text(encoding="utf-8"))[QT]
    for one in notices.by_hand():
        if one.kind != "runtime":
            yield replace(one, version=qt) if one.name.startswith("Qt") else one
    text = (places.PYTHON / "LICENSE.txt").read_text(encoding="utf-8")
    yield Component("Python", embedded.PYTHON_VERSION, "PSF-2.0", "runtime", text)
    yield Component("NSIS", "3", "Zlib", "runtime", INSTALLER_NOTE)
    if sys.platform != "win32":
        yield compilers_runtime()


def compilers_runtime() -> Component:
    told = RUNTIME_NOTICE.read_text("utf-8") if RUNTIME_NOTICE.is_file() else ""
    licence = "GPL-3.0-or-later WITH GCC-exception-3.1"
    version = engine.compiler_version()
    return Component("mingw-w64 runtime", version, licence, "runtime", RUNTIME_NOTE + told)
