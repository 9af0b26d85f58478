"""What the frozen program passes on to programs it starts, itself among them."""

import json
import os
import subprocess
import sys

from scripts.package import product

SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def left_of(**given: str) -> dict[str, str]:
    code = (product.COMMON / "start.py").read_text(encoding="utf-8") + SHOW
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **given},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_other_programs_do_not_get_our_libraries() -> None:
    assert "LD_LIBRARY_PATH" not in left_of(LD_LIBRARY_PATH="/usr/lib/moat")
    own = left_of(LD_LIBRARY_PATH="/usr/lib/moat", LD_LIBRARY_PATH_ORIG="/opt/theirs")
    assert own["LD_LIBRARY_PATH"] == "/opt/theirs"
    assert "LD_LIBRARY_PATH_ORIG" not in own


def test_our_other_roles_start_afresh_and_point_the_linker_again() -> None:
    found = left_of(_PYI_ARCHIVE_FILE="/usr/lib/moat/moat", _PYI_PARENT_PROCESS_LEVEL="-1")
    assert not [name for name in found if name.startswith("_PYI_")]
