"""The command line of `moat`."""

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
    for command in COMMANDS:
        command.add_to(commands)
    _describe(commands)
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


def _describe(commands: Any) -> None:
    """Begins each command's help with its line in the list of commands."""
    for listed in commands._choices_actions:
        parser = commands.choices[listed.dest]
        if not parser.description:
            parser.description = f"{listed.help[:1].upper()}{listed.help[1:]}."
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)
