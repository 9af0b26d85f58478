"""The commands of the terminal."""

import argparse
from collections.abc import Sequence

from server import VERSION
from server.commands import chat, doctor, end, licenses, models, plugins, serve

COMMANDS = (serve, chat, models, plugins, licenses, end, doctor)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="moat",
        description="A local copilot: your models, your machine. Without a command: the window.",
    )
    parser.add_argument("--version", action="version", version=f"moat {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run
