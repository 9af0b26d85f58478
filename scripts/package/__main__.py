"""Makes the .deb, the portable archive, the bill of materials and the checksums.

python -m scripts.package
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.bootstrap.say import say
from scripts.package import archive, bill, deb, freeze, product, sums
from scripts.package.told import told
from server.system import licenses


def main() -> int:
    if sys.platform != "linux":
        say("This makes the packages for Linux; see docs/packaging.md for the other systems.")
        return 1
    return told(build)


def build() -> list[Path]:
    frozen = freeze.freeze()
    components = licenses.read(frozen / freeze.LICENCES)
    product.FINISHED.mkdir(exist_ok=True)
    name = f"{product.NAME}-{product.VERSION}-linux-{product.machine()}.cdx.json"
    materials = product.FINISHED / name
    bill.write(materials, components)
    with ThreadPoolExecutor() as side:
        # Both are compressed for minutes, the archive on one core only.
        package = side.submit(deb.build, frozen, components)
        portable = archive.build(frozen)
        made = [package.result(), portable, materials]
    return [*made, sums.write(made, product.FINISHED)]


if __name__ == "__main__":
    sys.exit(main())
