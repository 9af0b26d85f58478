"""Makes the engine at the first start of a Moat that pip installed, and shows the progress.

The package index has no compiled engine. Compiling it while pip installs would take minutes without
any output. So it is made when it is first needed, in its own environment in the user's cache.
"""

import os
import sys
from collections.abc import Sequence

from scripts.bootstrap import __main__ as setup
from scripts.bootstrap import places
from server.system.backends import ENGINE_FOLDER

COMPUTING = frozenset({"serve", "chat"})
ELSEWHERE = ("--engine", "-h", "--help")
"""Options with which no engine is needed here: help, or an engine on another machine."""


def prepare(given: Sequence[str]) -> int:
    """Makes the engine if this command needs it. Returns the exit status; 0 means to go on."""
    failed = setup.make_ready("engine") if needs_engine(given) else 0
    join()
    return failed


def needs_engine(given: Sequence[str]) -> bool:
    if any(word.partition("=")[0] in ELSEWHERE for word in given):
        return False
    if given[:1] == ["serve"] and os.environ.get("MOAT_ENGINES"):
        return False
    opens_window = not [word for word in given if word != "--hidden"]
    return opens_window or given[0] in COMPUTING


def join() -> None:
    """Makes the engine importable in this process and in those that it starts."""
    if places.SITE.is_dir():
        os.environ[ENGINE_FOLDER] = str(places.SITE)
        sys.path.append(str(places.SITE))
