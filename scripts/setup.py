"""Makes this clone ready to run: python scripts/setup.py [--for run|test|package]."""

import os
import runpy
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
OLDEST = (3, 11)

if __name__ == "__main__":
    # Old versions of Python must get as far as this message, so this file has no newer syntax.
    if sys.version_info < OLDEST:
        sys.exit("Moat needs Python 3.11 or newer; this is Python " + sys.version.split()[0] + ".")
    sys.path[0] = ROOT
    runpy.run_module("scripts.bootstrap", run_name="__main__")
