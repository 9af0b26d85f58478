"""python -m scripts.package.windows: setup.exe for Windows, its bill of materials, its checksum."""

import shutil
import sys
import time
from pathlib import Path

from scripts.bootstrap import system
from scripts.bootstrap.say import SetupFailed, duration, say
from scripts.package import product, sums
from scripts.package.windows import check, installer, materials, places, tree

TOOLS = {
    "x86_64-w64-mingw32-g++-posix": "g++-mingw-w64-x86-64-posix",
    "makensis": "nsis",
    "osslsigncode": "osslsigncode",
    "cmake": "cmake",
    "ninja": "ninja-build",
    "7z": "p7zip-full",
}
MB = 1_000_000


def main() -> int:
    began = time.monotonic()
    try:
        made = build()
    except SetupFailed as failure:
        say(f"\nThe package could not be made: {failure}")
        return 1
    for path in made:
        say(f"package: {path.relative_to(Path.cwd())}  {path.stat().st_size / MB:.1f} MB")
    say(f"packaged after {duration(time.monotonic() - began)}")
    return 0


def build() -> list[Path]:
    if sys.platform == "linux":
        missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
        system.provide(missing, "tools for the package")
    check.check(tree.build())
    setup = installer.build(places.TREE, places.SETUP)
    installer.check(setup, places.TREE)
    made = [setup, materials.BILL]
    return [*made, sums.write(made, product.FINISHED)]


if __name__ == "__main__":
    sys.exit(main())
