"""Starts Moat like the command moat: python -m moat_copilot."""

import sys

from moat_copilot import main

if __name__ == "__main__":
    sys.exit(main())
