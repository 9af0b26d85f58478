"""Moat as pip installs it. This folder is the program's root, like that of a clone.

`app` and `server` are common names, so they are inside this package instead of beside it.
"""

import sys
from pathlib import Path


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from scripts.bootstrap import installed  # noqa: PLC0415

    if failed := installed.prepare(sys.argv[1:]):
        return failed
    from app.__main__ import main as start  # noqa: PLC0415

    return start()
