"""Provides the engine: from the cache or compiled, then installed and tested before it is used."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from scripts.bootstrap import compiler, places, surplus
from scripts.bootstrap.build import build
from scripts.bootstrap.environment import pip
from scripts.bootstrap.lock import held
from scripts.bootstrap.recipe import Recipe, recipes, shipped
from scripts.bootstrap.say import SetupFailed, say
from scripts.bootstrap.source import PACKAGE
from server.engine.causes import CRASHES
from server.system import hardware

Meanwhile = Callable[[], AbstractContextManager[None]]
REFUSED = "refused.txt"
MARK = places.ENVIRONMENT / "moat-engine.txt"
SMOKE = "scripts.bootstrap.smoke"
HUNG_S = 600
"""In seconds. The trial takes a moment; if it lasts so long even on a busy machine, it hangs."""
WRONG_ANSWER = 3
"""The exit status of the trial if the engine computes wrong results."""


def install(model: Path, purpose: str, meanwhile: Meanwhile = nullcontext) -> None:
    """Installs the engine. `meanwhile` is entered while it has to be compiled."""
    choices = choose()
    if purpose == "package":
        # For a package, any engine that works here will do, so that nothing is compiled twice.
        choices = [choose_shipped(), *choices]
    installed = MARK.read_text(encoding="utf-8") if MARK.exists() else ""
    if installed in [recipe.key for recipe in choices]:
        surplus.drop()
        return
    chosen = first_that_lives(
        choices,
        places.wheel_cache(),
        lambda recipe, folder: put_in_place(wheel_for(recipe, folder, meanwhile)),
        lambda: try_out(model),
    )
    MARK.write_text(chosen.key, encoding="utf-8")
    say(f"engine: {chosen.version}, {chosen.name} build, tried out and working")


def choose() -> list[Recipe]:
    cpu = hardware.read()
    return recipes(places.engine_version(), cpu, _compiler(cpu))


def choose_shipped() -> Recipe:
    cpu = hardware.read()
    return shipped(places.engine_version(), cpu.architecture, _compiler(cpu))


def shipped_wheel() -> Path:
    recipe = choose_shipped()
    return wheel_for(recipe, places.wheel_cache() / recipe.key)


def _compiler(cpu: hardware.Processor) -> compiler.Compiler | None:
    return None if sys.platform == "win32" else compiler.find(prefer_new=cpu.is_x86)


def first_that_lives(
    choices: Iterable[Recipe],
    cache: Path,
    put: Callable[[Recipe, Path], None],
    trial: Callable[[], str | None],
) -> Recipe:
    """Tries recipes from the fastest to the safest. A recipe that failed here before is skipped."""
    reasons = []
    for recipe in choices:
        folder = cache / recipe.key
        refused = folder / REFUSED
        if refused.exists():
            reasons.append(f"  {recipe.name}: {refused.read_text(encoding='utf-8')}")
            continue
        put(recipe, folder)
        reason = trial()
        if reason is None:
            return recipe
        refused.write_text(reason, encoding="utf-8")
        reasons.append(f"  {recipe.name}: {reason}")
        say(f"engine: the {recipe.name} build failed its trial ({reason}); a safer one follows")
    told = "\n".join(reasons)
    advice = "To have them tried again: make clean-cache"
    raise SetupFailed(f"No build of the engine runs on this processor.\n{told}\n{advice}")


def wheel_for(recipe: Recipe, folder: Path, meanwhile: Meanwhile = nullcontext) -> Path:
    with held(folder / "lock", "another clone is compiling the engine, waiting"):
        ready = next(folder.glob("*.whl"), None)
        if ready:
            say(f"engine: compiled before, taken from {folder}")
            return ready
        if recipe.compiler is None and sys.platform != "win32":
            raise SetupFailed(no_compiler())
        say(f"engine: compiling it once ({recipe.name} build)")
        with meanwhile():
            return build(places.PYTHON, recipe, folder, places.PINS)


def no_compiler() -> str:
    command = "xcode-select --install" if sys.platform == "darwin" else "apt-get install g++"
    return f"Moat compiles its engine and found no C++ compiler. Install one: {command}"


def put_in_place(wheel: Path) -> None:
    """Installs the wheel, and only then its requirements, so that those are not reinstalled."""
    MARK.unlink(missing_ok=True)
    replacing = ("--force-reinstall", "--no-deps", "--no-index")
    pip("installing the engine", "install", *replacing, str(wheel))
    surplus.drop()
    if places.IS_INSTALLED:
        return  # Moat has the same requirements, so they are installed
    wanted = f"{PACKAGE}=={places.engine_version()}"
    pip("installing what it needs", "install", "--constraint", str(places.PINS), wanted)


def try_out(model: Path) -> str | None:
    """Runs the engine with a model. Returns why this build cannot be used; None if it works."""
    try:
        trial = subprocess.run(
            [str(places.RUNNER), "-m", SMOKE, str(model)],
            cwd=places.ROOT,
            env={**os.environ, "PYTHONPATH": str(places.SITE)},
            capture_output=True,
            text=True,
            timeout=HUNG_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it gave no answer within {HUNG_S} s"
    return verdict(trial.returncode, trial.stdout + trial.stderr)


def verdict(code: int, output: str) -> str | None:
    """Returns why the build is unusable, which is kept for good. Other failures are raised."""
    if code == 0:
        return None
    if code == WRONG_ANSWER:
        return f"it computes wrong results: {output.strip()}"
    if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
        return "it computes without end"
    if code in CRASHES:
        return f"it crashed with code {code}"
    if code < 0 or code >= 0xC0000000:
        raise SetupFailed(
            f"The trial of the engine was ended from outside (code {code}), perhaps for want of "
            f"memory. Run the set-up again.\n{output}"
        )
    raise SetupFailed(f"The engine could not be tried out:\n{output}")
