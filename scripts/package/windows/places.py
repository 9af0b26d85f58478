"""The folders of the Windows package: its parts, its cache, and the tree that is put together."""

from scripts.bootstrap import places
from scripts.package import product

PARTS = places.ROOT / "packaging" / "windows"
REQUIREMENTS = PARTS / "requirements.txt"
CACHE = places.wheel_cache().parent / "windows"
WORK = product.WORK / "windows"
TREE = WORK / "tree"
"""The installed files, laid out as on the disk."""
REPORT = WORK / "contents.json"
SETUP = product.FINISHED / f"moat-{product.VERSION}-windows-x64-setup.exe"

PYTHON = TREE / "python"
PACKAGES = TREE / "packages"
PROGRAM = TREE / "program"
MODELS = TREE / "resources" / "models"
"""Beside the program's .exe, where `server.models.library` looks for models."""
