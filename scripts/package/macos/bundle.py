"""The .app: its Info.plist, and the signing of its parts, innermost first."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.bootstrap.places import ROOT
from scripts.package import freeze, product

PARTS = ROOT / "packaging" / "macos"
ENTITLEMENTS = PARTS / "entitlements.plist"
APP = product.FROZEN.parent / f"{product.TITLE}.app"
ICON = product.WORK / "moat.icns"
OLDEST_SYSTEM = "14.0"
"""The oldest macOS for numpy's wheel. Qt runs on 13, and the engine is built for any."""
IDENTITY = "MOAT_SIGN_IDENTITY"
"""The variable with the name of a Developer ID certificate in the keychain. Without it the
signature is only valid locally."""
LOCAL = "-"
MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def facts() -> dict[str, Any]:
    """Returns the arguments for PyInstaller's BUNDLE."""
    return {
        "name": APP.name,
        "icon": str(ICON),
        "bundle_identifier": product.IDENTIFIER,
        "version": product.VERSION,
        "info_plist": {
            "CFBundleDisplayName": product.TITLE,
            "LSUIElement": True,  # an icon in the menu bar, not in the Dock
            "LSMinimumSystemVersion": OLDEST_SYSTEM,
            "NSHighResolutionCapable": True,
            "NSHumanReadableCopyright": f"{product.PUBLISHER}, {product.LICENCE}",
        },
    }


def complete() -> Path:
    """Adds the files that were made after freezing to the bundle."""
    target = APP / "Contents" / "Resources" / "resources"
    for name in (freeze.LICENCES.name, "updates.json"):
        made = product.FROZEN / "resources" / name
        if made.is_file():
            shutil.copyfile(made, target / name)
    return APP


def sign(app: Path) -> None:
    for path in [*code(app), app]:
        subprocess.run(signing(path), check=True)
    subprocess.run(["codesign", "--verify", "--deep", "--strict", str(app)], check=True)


def signing(path: Path) -> list[str]:
    """Returns the command to sign. Apple's notary requires the hardened runtime and a timestamp."""
    identity = os.environ.get(IDENTITY) or LOCAL
    official = () if identity == LOCAL else ("--options", "runtime", "--timestamp")
    wanted = ("--entitlements", str(ENTITLEMENTS)) if path.suffix == ".app" else ()
    return ["codesign", "--force", "--sign", identity, *official, *wanted, str(path)]


def code(app: Path) -> Iterator[Path]:
    """Yields every native file once, the deepest first: a signature covers the files inside."""
    found = [path for path in app.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(found, key=lambda one: -len(one.parts)):
        with path.open("rb") as file:
            if file.read(4) in MACH_O:
                yield path
