"""The .deb: the frozen folder in /usr/lib/moat, with the files that a desktop expects."""

import gzip
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from scripts.bootstrap.say import say
from scripts.package import elf, freeze, notices, pictures, product
from server.system.licenses import Component

TREE = product.WORK / "deb"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MAINTAINER_SCRIPTS = ("prerm", "postrm")
FONTS = "fonts-dejavu-core | fonts-noto-core | fonts-liberation"
FONT_SETTINGS = "fontconfig-config"
OPENED_LATER = ("libxcb-cursor.so.0", "libxkbcommon-x11.so.0", "libdbus-1.so.3")
"""Libraries that Qt opens by name, so that no file lists them."""
ONLY_FOR_CARDS = "libvulkan.so.1"
"""Optional: without it only the support for graphics cards is not loaded."""


def build(frozen: Path, components: list[Component]) -> Path:
    shutil.rmtree(TREE, ignore_errors=True)
    program = TREE / "usr" / "lib" / product.NAME
    shutil.copytree(frozen, program, symlinks=True)
    (TREE / "usr" / "bin").mkdir(parents=True)
    (TREE / "usr" / "bin" / product.NAME).symlink_to(f"../lib/{product.NAME}/{product.NAME}")
    shares(TREE / "usr" / "share")
    unit = f"{product.NAME}.service"
    _fill(unit, TREE / "usr" / "lib" / "systemd" / "user" / unit, {})
    documents(TREE / "usr" / "share" / "doc" / product.NAME, components)
    control(TREE / "DEBIAN", frozen)
    scripts = (f"DEBIAN/{name}" for name in MAINTAINER_SCRIPTS)
    freeze.settle(TREE, f"usr/lib/{product.NAME}/{product.NAME}", *scripts)
    return _pack()


def shares(folder: Path) -> None:
    """Writes the menu entry, the icons, the metadata for software centres and the manual."""
    facts = {"VERSION": product.VERSION, "DATE": _day()}
    metainfo = f"{product.IDENTIFIER}.metainfo.xml"
    _fill(f"{product.NAME}.desktop", folder / "applications" / f"{product.NAME}.desktop", facts)
    _fill(metainfo, folder / "metainfo" / metainfo, facts)
    _fill("overrides", folder / "lintian" / "overrides" / product.NAME, facts)
    manual = folder / "man" / "man1" / f"{product.NAME}.1.gz"
    manual.parent.mkdir(parents=True)
    manual.write_bytes(_zipped(filled(_template(f"{product.NAME}.1"), facts)))
    pictures.write_pngs(folder / "icons" / "hicolor")


def documents(folder: Path, components: list[Component]) -> None:
    folder.mkdir(parents=True)
    (folder / "copyright").write_text(copyright_file(components), encoding="utf-8")
    (folder / "changelog.gz").write_bytes(_zipped(changelog()))


def copyright_file(components: list[Component]) -> str:
    """Returns Moat's licence in Debian's machine-readable form, and a list of all components."""
    ours = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {product.TITLE}\n\nFiles: *\nCopyright: 2026 {product.PUBLISHER}\n"
        f"License: {product.LICENCE}\n\nLicense: {product.LICENCE}\n"
        " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n\n"
    )
    listed = "".join(
        f" {one.title}: {one.licence}\n" for one in components if one.kind != "program"
    )
    return (
        f"{ours}Comment:\n The package contains the following works of others.\n"
        f" `moat licenses NAME` shows the text of each licence.\n .\n{listed}"
    )


def changelog() -> str:
    moment = format_datetime(datetime.fromtimestamp(product.moment(), UTC))
    return (
        f"{product.NAME} ({product.VERSION}) stable; urgency=medium\n\n"
        f"  * Release {product.VERSION}.\n\n -- {_maintainer()}  {moment}\n"
    )


def control(folder: Path, frozen: Path) -> None:
    folder.mkdir()
    size = sum(path.lstat().st_size for path in (TREE / "usr").rglob("*") if not path.is_dir())
    facts = {
        "VERSION": product.VERSION,
        "ARCHITECTURE": ARCHITECTURES[product.machine()],
        "SIZE": str(size // 1024),
        "DEPENDS": ", ".join(depends(frozen)),
    }
    _fill("control", folder / "control", facts)
    (folder / "md5sums").write_text(_sums(), encoding="utf-8")
    for name in MAINTAINER_SCRIPTS:
        _fill(name, folder / name, {})


def depends(frozen: Path) -> list[str]:
    wanted = elf.wants(frozen)
    libraries = {*wanted.libraries, *OPENED_LATER} - {ONLY_FOR_CARDS}
    found = elf.packages(libraries, notices.owners())
    return [f"libc6 (>= {wanted.glibc})", *found, FONT_SETTINGS, FONTS]


def filled(template: str, facts: Mapping[str, str]) -> str:
    for name, value in facts.items():
        template = template.replace(f"@{name}@", value)
    return template


def _fill(name: str, target: Path, facts: Mapping[str, str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(filled(_template(name), facts), encoding="utf-8")


def _template(name: str) -> str:
    return (product.LINUX / name).read_text(encoding="utf-8")


def _maintainer() -> str:
    lines = _template("control").splitlines()
    return next(line for line in lines if line.startswith("Maintainer: ")).partition(": ")[2]


def _day() -> str:
    return datetime.fromtimestamp(product.moment(), UTC).strftime("%Y-%m-%d")


def _zipped(text: str) -> bytes:
    return gzip.compress(text.encode(), 9, mtime=0)


def _sums() -> str:
    paths = sorted(path for path in (TREE / "usr").rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  "
        f"{path.relative_to(TREE)}\n"
        for path in paths
        if not path.is_symlink()
    )


def _pack() -> Path:
    packing = ("-Zgzip", "-z1") if os.environ.get("QUICK") else ("-Zxz", "-z6")
    architecture = ARCHITECTURES[product.machine()]
    target = product.FINISHED / f"{product.NAME}_{product.VERSION}_{architecture}.deb"
    say(f"package: packing {target.name}")
    command = ["dpkg-deb", "--root-owner-group", *packing, "--build"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(product.moment())}
    subprocess.run(
        [*command, str(TREE), str(target)], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    return target
