"""Moat as pip installs it: this folder is the root of the program, as a clone's is.

`app` and `server` are names that others use, too, so they lie in here and not beside it.
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
