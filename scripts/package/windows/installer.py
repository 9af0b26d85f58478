"""Makes setup.exe: NSIS packs the tree and adds what Windows needs to know about it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.say import SetupFailed
from scripts.package import product
from scripts.package.windows import places

SCRIPT = places.PARTS / "setup.nsi"
KB = 1024
LISTED = "Path = "
UNINSTALLER = "uninstall.exe"


def build(tree: Path, into: Path) -> Path:
    program = shutil.which("makensis") or shutil.which(r"C:\Program Files (x86)\NSIS\makensis.exe")
    if program is None:
        raise SetupFailed("makensis is missing: apt-get install nsis")
    into.parent.mkdir(parents=True, exist_ok=True)
    facts = {
        "VERSION": product.VERSION,
        "NUMBERS": ".".join((*product.VERSION.split("."), "0", "0")[:4]),
        "PUBLISHER": product.PUBLISHER,
        "FILES": str(tree / "*"),
        "ICON": str(places.WORK / "moat.ico"),
        "SETUP": str(into),
        "SIZE_KB": str(size_bytes(tree) // KB),
        "COMPRESSION": "zlib" if os.environ.get("QUICK") else "/SOLID lzma",
    }
    if sys.platform != "win32":
        # Debian's NSIS has a stub for 64 bits, needed by Wine without 32 bits; the original lacks
        # it.
        facts["TARGET"] = "amd64-unicode"
    command = [program, "-V2", "-WX", *(f"-D{name}={text}" for name, text in facts.items())]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(product.moment())}
    packing = LongCommand(
        "packing setup.exe",
        [*command, str(SCRIPT)],
        lambda _line: None,
        environment=environment,
    )
    follow(packing)
    return into


def size_bytes(tree: Path) -> int:
    return sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())


def check(setup: Path, tree: Path) -> None:
    """Raises `SetupFailed` unless exactly the files of the tree are packed."""
    listing = subprocess.run(
        ["7z", "l", "-slt", "-ba", str(setup)], capture_output=True, text=True, check=True
    ).stdout
    files = {p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()}
    if differing := packed(listing) ^ files:
        raise SetupFailed(f"{setup.name} does not hold the tree: {sorted(differing)[:10]}")


def packed(listing: str) -> set[str]:
    """Returns the files to be installed, from 7-Zip's listing."""
    lines = (line for line in listing.splitlines() if line.startswith(LISTED))
    paths = {line.removeprefix(LISTED).replace("\\", "/") for line in lines}
    return {path for path in paths if not path.startswith("$") and path != UNINSTALLER}
