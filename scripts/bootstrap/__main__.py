"""Sets up this clone, or only what has changed: python -m scripts.bootstrap [--for PURPOSE]."""

import argparse
import json
import signal
import sys
import time
from functools import partial
from typing import Any

from scripts.bootstrap import engine, environment, places, system
from scripts.bootstrap.lock import held
from scripts.bootstrap.say import SetupFailed, duration, say
from server.system import hardware

BUSY = "another set-up is under way, waiting"
ENDINGS = ("SIGTERM", "SIGHUP")
EXTRAS = {"run": (), "test": ("dev",), "package": ("package",)}


def main() -> int:
    options = argparse.ArgumentParser(prog="setup.py", description="Makes this clone ready to run.")
    options.add_argument(
        "--for",
        dest="purpose",
        choices=("run", "test", "package"),
        default="run",
        help="'test' adds what the tests and checks need, 'package' what makes an installer",
    )
    options.add_argument("--check", action="store_true", help="only say whether all is done")
    chosen = options.parse_args()
    purpose: str = chosen.purpose
    if chosen.check and not is_ready(purpose):
        say("Something has changed since the last set-up.")
        return 1
    return make_ready(purpose)


def make_ready(purpose: str) -> int:
    """Sets everything up, unless it is ready already. Returns the exit status."""
    began = time.monotonic()
    if is_ready(purpose):
        return 0
    before = interruptible()
    try:
        with held(places.LOCK, BUSY):
            if is_ready(purpose):
                return 0
            remember(purpose, whole=prepare(purpose))
    except SetupFailed as failure:
        say(f"\nSet-up stopped: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\nSet-up interrupted; run it again to go on.")
        return 130
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    say(f"ready after {duration(time.monotonic() - began)}")
    return 0


def interruptible() -> dict[int, Any]:
    """Makes termination signals raise `KeyboardInterrupt`, so that started processes are ended.

    A closed terminal counts as well, unless SIGHUP was ignored before. Returns the earlier
    handlers.
    """
    numbers = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    asked = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, signal.default_int_handler) for number in asked}


def prepare(purpose: str) -> bool:
    """Installs everything for the purpose. Returns False if the window's packages are missing."""
    system.provide(system.missing_for_build(), "tools for the set-up")
    if purpose == "engine":
        environment.make()
        engine.install(environment.install_starter(), purpose)
        return True
    system.provide(system.missing_for_window(), "libraries for the window")
    if purpose == "test":
        system.provide(system.missing_for_tests(), "tools for the tests")
    if purpose == "package":
        system.provide(system.missing_for_package(), "tools for the package")
    environment.make()
    meanwhile = partial(environment.packages_installed_meanwhile, "window", *EXTRAS[purpose])
    engine.install(environment.install_starter(), purpose, meanwhile)
    environment.compile_program()
    whole = install_packages(purpose)
    if purpose == "test":
        environment.fetch_stubs()
    return whole


def install_packages(purpose: str) -> bool:
    """Installs the packages. Returns False if it had to leave out those of the window."""
    try:
        environment.install_packages("window", *EXTRAS[purpose])
    except SetupFailed:
        install_without_window(purpose)
        return False
    return True


def install_without_window(purpose: str) -> None:
    """Installs the other packages. The window's may not fit this machine, or the network failed:
    the next set-up tries them again."""
    if purpose in known().get("windowless", []):
        say("The window still lacks its packages; all else is ready.")
        return
    say("Trying again without the window: its packages may not fit this machine.")
    environment.install_packages(*EXTRAS[purpose])


def state() -> str:
    cpu = hardware.read()
    python = (environment.python_version(), sys.base_prefix)
    return places.fingerprint(str(places.ROOT), *python, cpu.model, *cpu.features)


def is_ready(purpose: str) -> bool:
    """Whether this exact set-up was done before. It usually was, and the check is quick."""
    return purpose in done_before()


def done_before() -> list[str]:
    """Returns the purposes for which this exact set-up was already done."""
    purposes: list[str] = known().get("purposes", [])
    return purposes


def known() -> dict[str, Any]:
    """Returns the notes of earlier set-ups; empty if anything has changed since."""
    if not places.PYTHON.exists():
        return {}
    try:
        found: dict[str, Any] = json.loads(places.STAMP.read_text(encoding="utf-8"))
        is_same = found["state"] == state()
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return found if is_same else {}


def remember(purpose: str, *, whole: bool = True) -> None:
    """Notes what was done. If it is not whole, the next set-up tries the window's packages."""
    added = ["run", "test"] if purpose == "test" else [purpose]
    kind = "purposes" if whole else "windowless"
    noted = {"state": state(), "purposes": [], **known()}
    noted[kind] = sorted({*noted.get(kind, []), *added})
    draft = places.STAMP.with_suffix(".part")
    draft.write_text(json.dumps(noted), encoding="utf-8")
    draft.replace(places.STAMP)


if __name__ == "__main__":
    sys.exit(main())
