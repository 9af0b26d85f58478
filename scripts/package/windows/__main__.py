"""Makes setup.exe for Windows, its bill of materials and its checksum.

python -m scripts.package.windows
"""

import shutil
import sys
from pathlib import Path

from scripts.bootstrap import system
from scripts.package import product, sums
from scripts.package.told import told
from scripts.package.windows import check, installer, materials, places, tree

TOOLS = {
    "x86_64-w64-mingw32-g++-posix": "g++-mingw-w64-x86-64-posix",
    "makensis": "nsis",
    "osslsigncode": "osslsigncode",
    "cmake": "cmake",
    "ninja": "ninja-build",
    "7z": "p7zip-full",
}


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
    sys.exit(told(build))
