"""The first start of a Moat that pip installed: the engine comes now, with the same progress.

The index has no compiled engine. Compiling it while pip installs would take minutes in silence, so
it is made when it is needed for the first time, in an environment of its own in the user's cache.
"""

import os
import sys
from collections.abc import Sequence

from scripts.bootstrap import __main__ as setup
from scripts.bootstrap import places
from server.system.backends import ENGINE_FOLDER

COMPUTING = frozenset({"serve", "chat"})
ELSEWHERE = ("--engine", "-h", "--help")
"""Who asks for help, or has an engine elsewhere, does not wait for one here."""


def prepare(given: Sequence[str]) -> int:
    """Makes the engine if this command needs it. Returns the exit status, 0 to go on."""
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
    """From here on the engine is found, by this process and by those it starts."""
    if places.SITE.is_dir():
        os.environ[ENGINE_FOLDER] = str(places.SITE)
        sys.path.append(str(places.SITE))
