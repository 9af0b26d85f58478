"""The folders of the Windows package: its parts, what is fetched once, what is put together."""

from scripts.bootstrap import places
from scripts.package import product

PARTS = places.ROOT / "packaging" / "windows"
REQUIREMENTS = PARTS / "requirements.txt"
CACHE = places.wheel_cache().parent / "windows"
WORK = product.WORK / "windows"
TREE = WORK / "tree"
"""What is installed, as it will lie on the disk."""
REPORT = WORK / "contents.json"
SETUP = product.FINISHED / f"moat-{product.VERSION}-windows-x64-setup.exe"

PYTHON = TREE / "python"
PACKAGES = TREE / "packages"
PROGRAM = TREE / "program"
MODELS = TREE / "resources" / "models"
"""Beside the program's .exe, where `server.models.library` looks."""
