"""python -m scripts.bootstrap [--for PURPOSE]: all of set-up, or only what changed since."""

import argparse
import json
import signal
import sys
import time

from scripts.bootstrap import engine, environment, places, system
from scripts.bootstrap.say import SetupFailed, duration, say
from server import processor

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
    began = time.monotonic()
    if is_ready(purpose):
        return 0
    if chosen.check:
        say("Something has changed since the last set-up.")
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        prepare(purpose)
    except SetupFailed as failure:
        say(f"\nSet-up stopped: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\nSet-up interrupted; run it again to go on.")
        return 130
    remember(purpose)
    say(f"ready after {duration(time.monotonic() - began)}")
    return 0


def prepare(purpose: str) -> None:
    system.provide(system.missing_for_build(), "tools for the set-up")
    system.provide(system.missing_for_window(), "libraries for the window")
    if purpose == "test":
        system.provide(system.missing_for_tests(), "tools for the tests")
    if purpose == "package":
        system.provide(system.missing_for_package(), "tools for the package")
    environment.make()
    engine.install(environment.install_starter(), purpose)
    install_packages("window", *EXTRAS[purpose])


def install_packages(*extras: str) -> None:
    try:
        environment.install_packages(*extras)
    except SetupFailed:
        say("Trying again without the window: its packages may not fit this machine.")
        environment.install_packages(*extras[1:])


def state() -> str:
    cpu = processor.read()
    return places.fingerprint(str(places.ROOT), cpu.model, *cpu.features)


def is_ready(purpose: str) -> bool:
    """True where the same set-up has been done before: the usual case, and a quick one."""
    return purpose in done_before()


def done_before() -> list[str]:
    """What this very set-up was already done for."""
    if not (places.PYTHON.exists() and places.STAMP.exists()):
        return []
    known = json.loads(places.STAMP.read_text(encoding="utf-8"))
    purposes: list[str] = known["purposes"] if known["state"] == state() else []
    return purposes


def remember(purpose: str) -> None:
    added = ["run", "test"] if purpose == "test" else [purpose]
    purposes = sorted({*done_before(), *added})
    text = json.dumps({"state": state(), "purposes": purposes})
    places.STAMP.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
