"""The commands of the terminal: moat serve | chat | models | plugins | doctor | licenses | quit."""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from server import VERSION, doctor, licenses, models_cli, plugins_cli, quit_cli
from server.serve import ServeOptions, serve
from server.terminal import chat


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    run: int = options.run(options)
    return run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moat",
        description="A local copilot: your models, your machine. Without a command: the window.",
    )
    parser.add_argument("--version", action="version", version=f"moat {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("serve", help="serve on localhost without a window")
    one.add_argument("--port", type=_port, help="listen here (default: the setting, 7777)")
    one.add_argument("--model", help="a model's name, or the path of a GGUF file")
    one.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    one.set_defaults(run=_serve)

    one = commands.add_parser("chat", help="ask once and print the answer")
    one.add_argument("text", help="what to ask; - reads it from standard input")
    one.add_argument("--model", help="a model's name, or the path of a GGUF file")
    one.add_argument("--system", default="", help="a system prompt")
    one.set_defaults(run=_chat)

    models_cli.add_to(commands)

    plugins_cli.add_commands(commands.add_parser("plugins", help="what Moat can reach and do"))

    one = commands.add_parser("licenses", help="what is inside Moat, and by whose leave")
    one.add_argument("name", nargs="?", help="show the text of this one")
    one.set_defaults(run=lambda options: licenses.main(options.name))

    one = commands.add_parser("quit", help="end the Moat that is running, its window too")
    one.set_defaults(run=lambda _options: quit_cli.main())

    one = commands.add_parser("doctor", help="what was found on this machine, and what to do")
    one.set_defaults(run=lambda _options: doctor.main())
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not (port == 0 or 1024 <= port <= 65535):
        raise argparse.ArgumentTypeError("a port is 1024 to 65535, or 0 for any free one")
    return port


def _serve(options: argparse.Namespace) -> int:
    chosen = ServeOptions(options.port, options.model, is_child=options.child)
    return asyncio.run(serve(chosen))


def _chat(options: argparse.Namespace) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    return asyncio.run(chat(text, options.system, options.model))
