"""python -m scripts.package: the .deb, the portable archive, the bill of materials, the sums."""

import sys
import time
from pathlib import Path

from scripts.bootstrap.say import SetupFailed, duration, say
from scripts.package import archive, bill, deb, freeze, product, sums
from server import licenses

MB = 1_000_000


def main() -> int:
    began = time.monotonic()
    if sys.platform != "linux":
        say("This makes the packages for Linux; see docs/packaging.md for the other systems.")
        return 1
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
    frozen = freeze.freeze()
    components = licenses.read(frozen / freeze.LICENCES)
    product.FINISHED.mkdir(exist_ok=True)
    name = f"{product.NAME}-{product.VERSION}-linux-{product.machine()}.cdx.json"
    materials = product.FINISHED / name
    bill.write(materials, components)
    made = [deb.build(frozen, components), archive.build(frozen), materials]
    return [*made, sums.write(made, product.FINISHED)]


if __name__ == "__main__":
    sys.exit(main())
