"""The commands of the terminal."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from server import VERSION
from server.commands import (
    allow,
    chat,
    completion,
    doctor,
    graphics,
    keys,
    licenses,
    models,
    plugins,
    running,
    serve,
)
from server.errors import AppError
from server.system.limits import printable

INTERRUPTED = 130
COMMANDS = (
    *(serve, chat, running, models, graphics, plugins),
    *(allow, keys, licenses, doctor, completion),
)


def main(arguments: Sequence[str] | None = None) -> int:
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        # Models and file names use letters that not every terminal knows.
        out.reconfigure(errors="replace")
    try:
        try:
            return _run(arguments)
        finally:
            if out:  # a program of Windows without a console has none
                out.flush()
    except AppError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads what we say has seen enough; Python would try the rest again at its end.
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
    for command in COMMANDS:
        command.add_to(commands)
    _describe(commands)
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


def _describe(commands: Any) -> None:
    """Begins the help of each command with what the list of commands says about it."""
    for listed in commands._choices_actions:
        parser = commands.choices[listed.dest]
        if not parser.description:
            parser.description = f"{listed.help[:1].upper()}{listed.help[1:]}."
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)
