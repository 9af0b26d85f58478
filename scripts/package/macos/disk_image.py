"""The .dmg: the app beside a link to Applications, notarised by Apple if an account is given."""

import os
import shutil
import subprocess
from pathlib import Path

from scripts.package import product

NOTARY = "MOAT_NOTARY_PROFILE"
"""The variable with the profile name that `xcrun notarytool store-credentials` was given."""


def build(app: Path, into: Path) -> Path:
    staging = product.WORK / "dmg"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    # The system's own tool keeps links and signatures as they are.
    subprocess.run(["ditto", str(app), str(staging / app.name)], check=True)
    (staging / "Applications").symlink_to("/Applications")
    into.parent.mkdir(exist_ok=True)
    into.unlink(missing_ok=True)
    subprocess.run(
        [
            *("hdiutil", "create", "-volname", product.TITLE, "-srcfolder", str(staging)),
            *("-fs", "HFS+", "-format", "UDZO", "-imagekey", "zlib-level=9", str(into)),
        ],
        check=True,
    )
    return into


def notarise(image: Path) -> bool:
    """Notarises the image. Returns False without an account; needs an official signature."""
    profile = os.environ.get(NOTARY)
    if not profile:
        return False
    submit = ("xcrun", "notarytool", "submit", str(image), "--keychain-profile", profile, "--wait")
    subprocess.run(submit, check=True)
    subprocess.run(["xcrun", "stapler", "staple", str(image)], check=True)
    return True
