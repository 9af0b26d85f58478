import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FIRST = "import scripts.bootstrap.__main__, scripts.bootstrap.recipe, scripts.bootstrap.lock"
TRYING = """
import sys
ENGINE = ("llama_cpp", "numpy", "jinja2", "typing_extensions")
before = set(sys.modules)
import scripts.bootstrap.smoke
found = {name.partition(".")[0] for name in set(sys.modules) - before}
known = {*sys.stdlib_module_names, "scripts", "server", *ENGINE}
print(sorted(found - known))
"""


def test_set_up_needs_nothing_but_python() -> None:
    """It runs before anything is installed, and takes some modules of the server along."""
    subprocess.run([sys.executable, "-S", "-c", FIRST], cwd=ROOT, check=True)


def test_the_engine_is_tried_out_with_what_it_brings_alone() -> None:
    command = [sys.executable, "-c", TRYING]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
