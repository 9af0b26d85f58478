"""Reports the result of making a package: the failure, or the files, their sizes and the time."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from scripts.bootstrap.say import SetupFailed, duration, say
from server.sizes import MB


def told(build: Callable[[], list[Path]]) -> int:
    """Runs `build`, reports its result and returns the exit status."""
    began = time.monotonic()
    try:
        made = build()
    except (SetupFailed, subprocess.CalledProcessError) as failure:
        say(f"\nThe package could not be made: {failure}")
        return 1
    for path in made:
        say(f"package: {path.relative_to(Path.cwd())}  {path.stat().st_size / MB:.1f} MB")
    say(f"packaged after {duration(time.monotonic() - began)}")
    return 0
