"""moat chat: a question and its answer, or a conversation, in a terminal."""

import argparse
import asyncio
import json
import os
import re
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.errors import AppError, BadRequest, LinkLost
from server.events import Failed, TextDelta
from server.face import client
from server.face.client import Question, RunningServer
from server.face.core import About, FileText, ServerStatus
from server.face.models import ModelCard
from server.system import paths
from server.system.limits import printable

RESET = "\x1b[0m"
# Each can be read on a dark and on a light background: yellow cannot.
BOLD, DIM, ITALIC, UNDERLINED, CODE, MARK = "1", "2", "3", "4", "36", "35"
_UNDECIDED = re.compile(r" *(#{1,6}|`{1,2}|~{1,2}|[-*+]|\d{1,9}[.)]?|>)?")
"""The beginning of a line that may still become something else."""
_HEADING = re.compile(r" {0,3}#{1,6} ")
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_BULLET = re.compile(r"( *)([-*+]) ")
_NUMBER = re.compile(r"( *)(\d{1,9}[.)]) ")
_QUOTE = re.compile(r" *>")


class Markdown:
    """Call `feed` with each piece of an answer, then `end`; print what they return.

    The text must be free of control characters: what comes back holds only ours.
    """

    def __init__(self) -> None:
        self._begun: str | None = ""
        """A line so far, until it is clear what it is; None after that."""
        self._fence = ""
        """The mark that ends the block of code that we are in."""
        self._line: tuple[str, ...] = ()
        self._inline: dict[str, str] = {}
        """What is open within the line: its mark, and the style for it."""
        self._run = ""
        """Marks of one kind that may go on."""
        self._before = " "
        self._style = ""

    def feed(self, piece: str) -> str:
        return "".join(map(self._take, piece))

    def end(self) -> str:
        rest = self._decide() + self._resolve(" ")
        return rest + (RESET if self._style else "")

    def _take(self, letter: str) -> str:
        if letter == "\n":
            return self._end_line()
        if self._begun is None:
            return self._write(letter)
        self._begun += letter
        if self._fence or _FENCE.match(self._begun) or _UNDECIDED.fullmatch(self._begun):
            return self._in_code() if self._fence else ""
        return self._decide()

    def _in_code(self) -> str:
        """A line of code waits only while it may be the mark that ends the block."""
        assert self._begun is not None
        if self._fence.startswith(self._begun.strip()) or self._closes(self._begun):
            return ""
        return self._decide()

    def _closes(self, line: str) -> bool:
        marks = line.strip()
        return marks.startswith(self._fence) and not marks.strip(self._fence[:1])

    def _end_line(self) -> str:
        begun = self._begun or ""
        if self._fence and self._closes(begun):
            self._fence = ""
            out = ""
        elif not self._fence and (fence := _FENCE.match(begun)):
            self._fence = fence[1]
            out = self._styled((DIM,), begun[fence.end() :].strip())
        else:
            out = self._decide() + self._resolve(" ")
        self._line, self._inline, self._begun, self._before = (), {}, "", " "
        return out + self._turn(()) + "\n"

    def _decide(self) -> str:
        """Writes the beginning of the line as what it turned out to be."""
        begun, self._begun = self._begun or "", None
        if self._fence:
            self._line = (CODE,)
            return self._turn(self._line) + begun
        if heading := _HEADING.match(begun):
            self._line = (BOLD, UNDERLINED)
            return self._write(begun[heading.end() :])
        if bullet := _BULLET.match(begun):
            lead = bullet[1] + self._styled((MARK,), "•") + " "
            return lead + self._write(begun[bullet.end() :])
        if number := _NUMBER.match(begun):
            lead = number[1] + self._styled((MARK,), number[2]) + " "
            return lead + self._write(begun[number.end() :])
        if quote := _QUOTE.match(begun):
            self._line = (DIM,)
            return self._styled((DIM,), "│") + self._write(begun[quote.end() :])
        return self._write(begun)

    def _write(self, text: str) -> str:
        return text if self._fence else "".join(map(self._write_letter, text))

    def _write_letter(self, letter: str) -> str:
        if letter in "*`" and (not self._run or self._run[0] == letter) and self._before != "\\":
            self._run += letter
            return ""
        out = self._resolve(letter) + self._turn((*self._line, *self._inline.values())) + letter
        self._before = letter
        return out

    def _resolve(self, after: str) -> str:
        """Marks that have come to their end open or close something, or are only text."""
        marks, self._run = self._run, ""
        if not marks:
            return ""
        if marks[0] == "`":
            return self._open_or_close(marks, CODE)
        if any(mark[0] == "`" for mark in self._inline) or len(marks) > 3:
            return self._as_text(marks)
        may_close = marks in self._inline and not self._before.isspace()
        may_open = not after.isspace() and not self._before.isalnum()
        if not may_close and not (may_open and marks not in self._inline):
            return self._as_text(marks)
        return self._open_or_close(marks, {1: ITALIC, 2: BOLD}.get(len(marks), f"{BOLD};{ITALIC}"))

    def _open_or_close(self, marks: str, style: str) -> str:
        open_code = next((mark for mark in self._inline if mark[0] == "`"), "")
        if open_code and marks != open_code:
            return self._as_text(marks)
        if self._inline.pop(marks, None) is None:
            self._inline[marks] = style
        self._before = " "
        return ""

    def _as_text(self, marks: str) -> str:
        self._before = marks[-1]
        return self._turn((*self._line, *self._inline.values())) + marks

    def _styled(self, style: tuple[str, ...], text: str) -> str:
        return self._turn(style) + text + self._turn(()) if text else ""

    def _turn(self, style: tuple[str, ...]) -> str:
        """What the terminal must be sent to write in that style from here on."""
        wanted = f"\x1b[{';'.join(style)}m" if style else ""
        if wanted == self._style:
            return ""
        before, self._style = self._style, wanted
        return (RESET if before else "") + wanted


PROMPT = "> "
HELP = """\
/model [NAME]    talk to another model; without a name: which there are
/system [TEXT]   set the system prompt; without a text: remove it
/file PATH       take a file along with the next question
/new             forget what was said
/help            this list
/quit            leave, as Ctrl-D does; Ctrl-C stops an answer"""


class Speaker(Protocol):
    """Who answers: the Moat that runs, or else this process."""

    def answer(self, messages: list[Message], model: str) -> AsyncGenerator[str, None]: ...
    async def read(self, path: str) -> FileText: ...
    async def models(self) -> tuple[ModelCard, ...]: ...


class Running:
    def __init__(self, server: RunningServer) -> None:
        self._server = server

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[str, None]:
        status: ServerStatus = await self._server.value("server")
        if status.phase != "ready":
            raise AppError(status.reason or "Moat runs, but it does not serve now.")
        said = [{"role": message.role, "content": message.content} for message in messages]
        body = {"messages": said, "stream": True} | ({"model": model} if model else {})
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "moat chat",
            "Authorization": f"Bearer {await self._server.command('access_key')}",
        }
        question = Question("POST", "/v1/chat/completions", headers, json.dumps(body))
        async with aclosing(client.stream(status.address, question)) as events:
            async for sent in events:
                if sent.data == "[DONE]":
                    return
                yield _text_of(json.loads(sent.data))
        raise LinkLost

    async def read(self, path: str) -> FileText:
        found: FileText = await self._server.command("read_document", path=path)
        return found

    async def models(self) -> tuple[ModelCard, ...]:
        found: tuple[ModelCard, ...] = await self._server.value("models.cards")
        return found


def _text_of(chunk: dict[str, Any]) -> str:
    if "error" in chunk:
        raise AppError(chunk["error"]["message"])
    return "".join(choice["delta"].get("content") or "" for choice in chunk["choices"])


class Alone:
    """Loads the model itself, which takes as long as that takes."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._chosen = ""

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[str, None]:
        if model and model != self._chosen:
            self._core.choose_model(model)
            self._chosen = model
        about = About("moat chat", "terminal")
        async with aclosing(self._core.answer_chat(ChatRequest(tuple(messages)), about)) as run:
            async for event in run:
                match event:
                    case TextDelta(piece):
                        yield piece
                    case Failed(error):
                        raise error
                    case _:
                        pass

    async def read(self, path: str) -> FileText:
        return await self._core.read_document(path)

    async def models(self) -> tuple[ModelCard, ...]:
        return self._core.models.cards.get()


def add_to(commands: Any) -> None:
    parser = commands.add_parser("chat", help="ask once, or talk; a running Moat answers")
    parser.add_argument(
        "text",
        nargs="?",
        help="what to ask; - reads it from standard input; left out: a conversation",
    )
    parser.add_argument("--model", default="", help="a model's name, or the path of a GGUF file")
    parser.add_argument("--system", default="", help="a system prompt")
    parser.add_argument(
        "--file", action="append", default=[], metavar="PATH", help="take a file along"
    )
    parser.add_argument("--json", action="store_true", help="the whole answer as JSON, at its end")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    text = _question(options)
    with asyncio.Runner() as runner, _speaker(runner, options.model) as speaker:
        talk = Conversation(speaker, runner, options.model, options.system)
        for path in options.file:
            talk.take_along(path)
        return talk.go_on() if text is None else _ask_once(talk, text, as_json=options.json)


def _question(options: argparse.Namespace) -> str | None:
    """What is asked once: the argument, or all that a pipe brings. None: a conversation."""
    if options.text is None and options.json:
        raise BadRequest('--json needs a question: moat chat --json "…"', "text")
    if options.text is None:
        return None
    text: str = sys.stdin.read() if options.text == "-" else options.text
    if not text.strip():
        raise BadRequest("The question is empty.", "text")
    return text


@contextmanager
def _speaker(runner: asyncio.Runner, model: str) -> Iterator[Speaker]:
    """A file that was named is loaded here: the Moat that runs may not know it."""
    places = paths.find()
    running = runner.run(client.find(places.control))
    if running is not None and not Path(model).is_file():
        yield Running(running)
        return
    core = Core(places)
    runner.run(core.open(downloads=False))
    try:
        yield Alone(core)
    finally:
        runner.run(core.close())


def _ask_once(talk: "Conversation", text: str, *, as_json: bool) -> int:
    if as_json:
        answer = talk.ask(text, _unseen)
        sys.stdout.write(json.dumps({"answer": answer}, ensure_ascii=False))
    else:
        with _shown() as show:
            talk.ask(text, show)
    sys.stdout.write("\n")
    return 0


def _write(piece: str) -> None:
    sys.stdout.write(printable(piece))
    sys.stdout.flush()


@contextmanager
def _shown() -> Iterator[Callable[[str], None]]:
    """Writes an answer as it comes: in colour on a terminal, as it is into a file or a pipe."""
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    if is_plain or not sys.stdout.isatty():
        yield _write
        return
    markdown = Markdown()

    def show(piece: str) -> None:
        sys.stdout.write(markdown.feed(printable(piece)))
        sys.stdout.flush()

    try:
        yield show
    finally:
        sys.stdout.write(markdown.end())
        sys.stdout.flush()


def _unseen(_piece: str) -> None:
    return


class Conversation:
    """What was said so far, and what a line that begins with / changes about it."""

    def __init__(
        self, speaker: Speaker, runner: asyncio.Runner, model: str = "", system: str = ""
    ) -> None:
        self._speaker = speaker
        self._runner = runner
        self._model = model
        self._system = system
        self._said: list[Message] = []
        self._files: list[FileText] = []
        self._commands: dict[str, Callable[[str], None]] = {
            "/model": self._choose_model,
            "/system": self._set_system,
            "/file": self._attach,
            "/new": self._forget,
            "/help": lambda _rest: _tell(HELP),
        }

    def ask(self, text: str, show: Callable[[str], None]) -> str:
        """The whole answer; an interrupted one is kept as far as it came."""
        question = Message("user", "".join(map(_quoted, self._files)) + text)
        system = [Message("system", self._system)] if self._system else []
        pieces: list[str] = []

        async def listen() -> None:
            messages = [*system, *self._said, question]
            async with aclosing(self._speaker.answer(messages, self._model)) as answer:
                async for piece in answer:
                    pieces.append(piece)
                    show(piece)

        try:
            self._runner.run(listen())
        finally:
            if pieces:
                self._said += [question, Message("assistant", "".join(pieces))]
                self._files.clear()
        return "".join(pieces)

    def go_on(self) -> int:
        """Until the person leaves."""
        _edit_lines(sorted([*self._commands, "/quit"]))
        _tell("Ctrl-C stops an answer, Ctrl-D leaves, /help lists what else there is.")
        while True:
            try:
                line = input(PROMPT).strip()
            except EOFError:
                _tell("")
                return 0
            except KeyboardInterrupt:
                _tell("")
                continue
            if line == "/quit":
                return 0
            if line:
                self._take(line)

    def _take(self, line: str) -> None:
        is_command = line.startswith("/")
        try:
            if is_command:
                word, _, rest = line.partition(" ")
                self._commands.get(word, _unknown)(rest.strip())
            else:
                with _shown() as show:
                    self.ask(line, show)
                _tell("")
        except AppError as error:
            # The answer may have begun: then it ends on the line before.
            sys.stderr.write(f"{'' if is_command else chr(10)}{printable(str(error))}\n")
            sys.stderr.flush()
        except KeyboardInterrupt:
            _tell(" …")

    def _choose_model(self, name: str) -> None:
        models = self._runner.run(self._speaker.models())
        if not name:
            _tell("\n".join(card.name + "  (loaded)" * card.loaded for card in models))
            return
        if name not in {card.name for card in models} and not Path(name).expanduser().is_file():
            raise BadRequest(f"There is no model named {name}. /model lists them.", "model")
        self._model = name
        _tell(f"The next answer comes from {name}.")

    def _set_system(self, text: str) -> None:
        self._system = text
        _tell("The system prompt is set." if text else "There is no system prompt now.")

    def _forget(self, _rest: str) -> None:
        self._said.clear()
        self._files.clear()
        _tell("This is a new conversation.")

    def _attach(self, path: str) -> None:
        self.take_along(path)
        _tell(f"{self._files[-1].name} goes along with the next question.")

    def take_along(self, path: str) -> None:
        if not path:
            raise BadRequest("/file needs the path of a file.", "path")
        whole = str(Path(_unquoted(path)).expanduser().resolve())
        self._files.append(self._runner.run(self._speaker.read(whole)))


def _unquoted(path: str) -> str:
    """A file that is dropped on a terminal comes in quotes, or with backslashes before spaces."""
    if Path(path).expanduser().exists():
        return path
    if sys.platform == "win32":
        return path.strip('"')
    try:
        words = shlex.split(path)
    except ValueError:
        return path
    return words[0] if len(words) == 1 else path


def _quoted(file: FileText) -> str:
    return f"{file.name}:\n\n{file.text}\n\n"


def _unknown(_rest: str) -> None:
    raise BadRequest("There is no such command. /help lists them.", "command")


def _tell(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def _edit_lines(words: list[str]) -> None:
    """Arrow keys bring earlier questions back, Tab completes commands, where the system can."""
    if sys.platform != "win32":  # Windows edits lines itself.
        try:
            import readline  # noqa: PLC0415
        except ImportError:
            return
        readline.set_completer_delims(" ")
        readline.set_completer(
            lambda begun, at: [*(word for word in words if word.startswith(begun)), None][at]
        )
        readline.parse_and_bind("tab: complete")
