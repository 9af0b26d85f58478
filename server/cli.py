"""The command line of `moat`."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from server import VERSION
from server.errors import AppError
from server.system.limits import printable

INTERRUPTED = 130
COMMANDS = {
    "serve": ("serve",),
    "chat": ("chat",),
    "running": ("ps", "load", "unload", "logs", "quit"),
    "models": ("models",),
    "graphics": ("graphics",),
    "plugins": ("plugins",),
    "allow": ("allow",),
    "keys": ("keys",),
    "licenses": ("licenses",),
    "doctor": ("doctor",),
    "completion": ("completion",),
}
"""The modules of server/commands, and the commands that each of them adds."""
NEEDS_ALL = "completion"
"""It lists the words of every other command."""


def main(arguments: Sequence[str] | None = None) -> int:
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        # Models and file names use characters that not every terminal knows.
        out.reconfigure(errors="replace")
    try:
        try:
            return _run(arguments)
        finally:
            if out:  # a Windows program without a console has none
                out.flush()
    except AppError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it. Python would try to flush the rest at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return 1


def _run(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog="moat",
        description="A local copilot: your models, your machine. Without a command: the window.",
        epilog="Exit status: 0 done, 1 it failed and says why, 2 it was not understood, 3 Moat is "
        "not running (ps, load, unload, logs), 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"moat {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    asked = sys.argv[1:] if arguments is None else arguments
    for module in modules_of(asked[0] if asked else ""):
        module.add_to(commands)
    _describe(commands)
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


def modules_of(command: str) -> list[Any]:
    """Returns only the module of the command, since all together take a second; else all."""
    names = [name for name, adds in COMMANDS.items() if command in adds and command != NEEDS_ALL]
    return [import_module(f"server.commands.{name}") for name in names or COMMANDS]


def _describe(commands: Any) -> None:
    """Begins each command's help with its line in the list of commands."""
    for listed in commands._choices_actions:
        parser = commands.choices[listed.dest]
        if not parser.description:
            parser.description = f"{listed.help[:1].upper()}{listed.help[1:]}."
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)
