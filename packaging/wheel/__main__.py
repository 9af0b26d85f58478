"""python -m moat_copilot: the same as the command moat."""

import sys

from moat_copilot import main

if __name__ == "__main__":
    sys.exit(main())
