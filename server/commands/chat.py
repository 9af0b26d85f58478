"""moat chat: one question and its answer, in a terminal."""

import argparse
import asyncio
import signal
import sys
from contextlib import aclosing, suppress
from typing import Any

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.errors import AppError
from server.events import Failed, TextDelta
from server.face.core import About
from server.system import paths
from server.system.limits import printable


def add_to(commands: Any) -> None:
    one = commands.add_parser("chat", help="ask once and print the answer")
    one.add_argument("text", help="what to ask; - reads it from standard input")
    one.add_argument("--model", help="a model's name, or the path of a GGUF file")
    one.add_argument("--system", default="", help="a system prompt")
    one.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    text = sys.stdin.read() if options.text == "-" else options.text
    return asyncio.run(chat(text, options.system, options.model))


async def chat(text: str, system: str, model: str | None) -> int:
    """Streams the answer to standard output; 130 when interrupted, 1 when it failed."""
    task = asyncio.current_task()
    assert task
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    core = Core(paths.find())
    await core.open(downloads=False)
    try:
        if model:
            core.choose_model(model)
        return await _answer(core, text, system)
    except AppError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except asyncio.CancelledError:
        return 130
    finally:
        await core.close()


async def _answer(core: Core, text: str, system: str) -> int:
    messages = (Message("system", system), Message("user", text))[not system :]
    async with aclosing(
        core.answer_chat(ChatRequest(messages), About("moat chat", "terminal"))
    ) as run:
        async for event in run:
            match event:
                case TextDelta(piece):
                    sys.stdout.write(printable(piece))
                    sys.stdout.flush()
                case Failed(error):
                    sys.stderr.write(f"\n{printable(str(error))}\n")
                    return 1
                case _:
                    pass
    sys.stdout.write("\n")
    return 0
