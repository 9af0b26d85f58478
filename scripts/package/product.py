"""The packaged product: its names, its version, its build time, and the folders used."""

import os
import platform
import subprocess

from scripts.bootstrap.places import ROOT
from server import VERSION as VERSION

NAME = "moat"
TITLE = "Moat"
IDENTIFIER = "app.moat.Moat"
SUMMARY = "Local copilot in your tray that runs language models"
PUBLISHER = "The Moat authors"
LICENCE = "Apache-2.0"
ICON = ROOT / "resources" / "icons" / "moat.svg"
COMMON = ROOT / "packaging" / "common"
LINUX = ROOT / "packaging" / "linux"
WORK = ROOT / "build" / "package"
FROZEN = WORK / "frozen" / NAME
FINISHED = ROOT / "dist"


def moment() -> int:
    """Returns the build time in seconds since 1970: SOURCE_DATE_EPOCH, else the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode == 0 and asked.stdout.strip():
        return int(asked.stdout)
    return int((ROOT / "CHANGELOG.md").stat().st_mtime)


def machine() -> str:
    """Returns x86_64 or aarch64, under whatever name the system knows it."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)
