import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FIRST = "import scripts.bootstrap.__main__, scripts.bootstrap.recipe, scripts.bootstrap.lock"
TRYING = "import sys, scripts.bootstrap.smoke; sys.exit('msgpack' in sys.modules)"


def test_set_up_needs_nothing_but_python() -> None:
    """It runs before anything is installed, and takes some modules of the server along."""
    subprocess.run([sys.executable, "-S", "-c", FIRST], cwd=ROOT, check=True)


def test_the_engine_is_tried_out_with_what_it_brings_alone() -> None:
    subprocess.run([sys.executable, "-c", TRYING], cwd=ROOT, check=True)
