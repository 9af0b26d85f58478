"""Makes Moat.app in a .dmg, its bill of materials and its checksum.

python -m scripts.package.macos
"""

import sys
from pathlib import Path

from scripts.bootstrap.say import say
from scripts.package import bill, freeze, pictures, product, sums
from scripts.package.macos import bundle, disk_image
from scripts.package.told import told
from server.system import licenses


def main() -> int:
    if sys.platform != "darwin":
        say("Moat.app can only be made on a Mac; see packaging/macos/README.md.")
        return 1
    return told(build)


def build() -> list[Path]:
    product.WORK.mkdir(parents=True, exist_ok=True)
    pictures.write_icns(bundle.ICON)
    frozen = freeze.freeze()
    app = bundle.complete()
    bundle.sign(app)
    name = f"{product.NAME}-{product.VERSION}-macos-{product.machine()}"
    image = disk_image.build(app, product.FINISHED / f"{name}.dmg")
    if not disk_image.notarise(image):
        say("The image is not notarised: macOS asks before it opens it for the first time.")
    materials = product.FINISHED / f"{name}.cdx.json"
    bill.write(materials, licenses.read(frozen / freeze.LICENCES))
    made = [image, materials]
    return [*made, sums.write(made, product.FINISHED)]


if __name__ == "__main__":
    sys.exit(main())
