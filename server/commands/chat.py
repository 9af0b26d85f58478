"""moat chat: answers a question, or holds a conversation, in a terminal."""

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from server.chat import ChatRequest, Message
from server.commands import say_json
from server.commands.answer_text import DIM, RESET, Lines, Markdown, columns_of, wrap
from server.core.core import Core
from server.errors import AppError, BadRequest, LinkLost
from server.events import Failed, Finished, ReasoningDelta, TextDelta
from server.face import client
from server.face.client import Question, RunningServer
from server.face.core import About, FileText, ModelStatus, ServerStatus
from server.face.models import ModelCard
from server.system import paths
from server.system.limits import printable

try:
    import termios
except ImportError:  # Windows has none: its terminal shows no Ctrl-C
    termios = None  # type: ignore[assignment]

PROMPT = "> "
HELP = """\
/model [NAME]    talk to another model; without a name: which there are
/system [TEXT]   set the system prompt; without a text: remove it
/file PATH       send a file with the next question
/new             forget what was said
/help            this list
/quit            leave, as Ctrl-D does; Ctrl-C stops an answer"""
_HELP_INDENT = 17
CUT = "The answer ends here: it has reached the length limit."
NO_SUCH_MODEL = "There is no model named {}. /model lists them."
NOT_BY_PATH = "The running Moat knows models by name. To talk to a file: moat chat --model PATH"
Part = TextDelta | ReasoningDelta | Finished


class Speaker(Protocol):
    """The source of answers: the running Moat, or else this process."""

    loads_files: bool
    """Whether a model may be the path of a file."""

    def answer(self, messages: list[Message], model: str) -> AsyncGenerator[Part, None]: ...
    async def read(self, path: str) -> FileText: ...
    async def models(self) -> tuple[ModelCard, ...]: ...
    async def default(self) -> ModelStatus: ...


class Running:
    """A speaker that sends questions to the running Moat, which knows its models by name."""

    loads_files = False

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[Part, None]:
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
                chunk = json.loads(sent.data)
                if "error" in chunk:
                    raise AppError(chunk["error"]["message"])
                for choice in chunk["choices"]:
                    for part in _parts(choice):
                        yield part
        raise LinkLost

    async def read(self, path: str) -> FileText:
        found: FileText = await self._server.command("read_document", path=path)
        return found

    async def models(self) -> tuple[ModelCard, ...]:
        found: tuple[ModelCard, ...] = await self._server.value("models.cards")
        return found

    async def default(self) -> ModelStatus:
        found: ModelStatus = await self._server.value("model")
        return found


def _parts(choice: dict[str, Any]) -> Iterator[Part]:
    """Yields what a chunk of the stream adds to the answer."""
    if thought := choice["delta"].get("reasoning_content"):
        yield ReasoningDelta(thought)
    if text := choice["delta"].get("content"):
        yield TextDelta(text)
    if reason := choice.get("finish_reason"):
        yield Finished(reason)


class OwnSpeaker:
    """A speaker that loads the model in this process, which may take a while."""

    loads_files = True

    def __init__(self, core: Core) -> None:
        self._core = core
        self._chosen = ""

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[Part, None]:
        if model and model != self._chosen:
            self._core.choose_model(model)
            self._chosen = model
        about = About("moat chat", "terminal")
        async with aclosing(self._core.answer_chat(ChatRequest(tuple(messages)), about)) as run:
            async for event in run:
                match event:
                    case TextDelta() | ReasoningDelta() | Finished():
                        yield event
                    case Failed(error):
                        raise error
                    case _:
                        pass

    async def read(self, path: str) -> FileText:
        return await self._core.read_document(path)

    async def models(self) -> tuple[ModelCard, ...]:
        return self._core.models.cards.get()

    async def default(self) -> ModelStatus:
        return self._core.model.get()


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
        "--file", action="append", default=[], metavar="PATH", help="send a file with it"
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
    """Returns the question: the argument, or standard input for "-". None means a conversation."""
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
    """Yields the running Moat, or a core in this process if no Moat runs or the model is a file.

    A running Moat may not know that file.
    """
    places = paths.find()
    running = runner.run(client.find(places.control))
    if running is not None and not Path(model).is_file():
        yield Running(running)
        return
    core = Core(places)
    runner.run(core.open(downloads=False))
    try:
        yield OwnSpeaker(core)
    finally:
        runner.run(core.close())


def _ask_once(talk: "Conversation", text: str, *, as_json: bool) -> int:
    if as_json:
        return say_json({"answer": talk.ask(text, lambda _part: None)})
    with _shown() as show:
        talk.ask(text, show)
    _write("\n")
    _complain(CUT if talk.is_cut else "")
    return 0


def _width_of_output() -> int:
    return columns_of(sys.stdout)


class Screen:
    """Prints an answer on a terminal as it arrives: dimmed thoughts, then formatted text."""

    def __init__(self) -> None:
        is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self._answer = Markdown(Lines(_width_of_output), is_coloured=not is_plain)
        self._thought = Lines(_width_of_output)
        self._dim, self._undim = ("", "") if is_plain else (f"\x1b[{DIM}m", RESET)
        self._is_thinking = False

    def show(self, part: TextDelta | ReasoningDelta) -> None:
        text = printable(part.text)
        if isinstance(part, TextDelta):
            _write(self._end_thought() + self._answer.feed(text))
            return
        begin = "" if self._is_thinking else f"{self._dim}Thinking …\n"
        self._is_thinking = True
        _write(begin + self._thought.feed(text))

    def end(self) -> None:
        _write(self._end_thought() + self._answer.end())

    def _end_thought(self) -> str:
        if not self._is_thinking:
            return ""
        self._is_thinking = False
        return f"{self._thought.flush()}{self._undim}\n\n"


@contextmanager
def _shown() -> Iterator[Callable[[Part], None]]:
    """Yields a function that prints an answer as it arrives. Only a terminal gets thoughts."""
    screen = Screen() if sys.stdout.isatty() else None

    def show(part: Part) -> None:
        if isinstance(part, Finished):
            return
        if screen:
            screen.show(part)
        elif isinstance(part, TextDelta):
            _write(printable(part.text))

    try:
        with _keys_unseen():
            yield show
    finally:
        if screen:
            screen.end()


@contextmanager
def _keys_unseen() -> Iterator[None]:
    """Keeps the terminal from showing keys between the words of an answer: Ctrl-C would be "^C".

    What is typed meanwhile is not lost: it stands in the next line to be entered.
    """
    if sys.platform != "win32" and sys.stdin.isatty():
        before = termios.tcgetattr(sys.stdin)
        quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, quiet)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    else:
        yield


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class Conversation:
    """The messages so far, and the commands (lines that begin with /) that change them."""

    def __init__(
        self, speaker: Speaker, runner: asyncio.Runner, model: str = "", system: str = ""
    ) -> None:
        self._speaker = speaker
        self._runner = runner
        self._model = model
        self._system = system
        self._said: list[Message] = []
        self._files: list[FileText] = []
        self.is_cut = False
        """Whether the last answer ended because there was no room for more."""
        self._has_begun = False
        self._commands: dict[str, Callable[[str], None]] = {
            "/model": self._choose_model,
            "/system": self._set_system,
            "/file": self._attach,
            "/new": self._forget,
            "/help": lambda _rest: _tell(HELP, _HELP_INDENT),
        }

    def ask(self, text: str, show: Callable[[Part], None]) -> str:
        """Returns the whole answer. An interrupted answer is kept as far as it came."""
        files = [f"{file.name}:\n\n{file.text}\n\n" for file in self._files]
        question = Message("user", "".join([*files, text]))
        system = [Message("system", self._system)] if self._system else []
        pieces: list[str] = []
        self.is_cut = self._has_begun = False

        async def listen() -> None:
            messages = [*system, *self._said, question]
            async with aclosing(self._speaker.answer(messages, self._model)) as answer:
                async for part in answer:
                    self._has_begun = True
                    show(part)
                    if isinstance(part, TextDelta):
                        pieces.append(part.text)
                    elif isinstance(part, Finished):
                        self.is_cut = part.reason == "length"

        try:
            self._runner.run(listen())
        finally:
            if pieces:
                self._said += [question, Message("assistant", "".join(pieces))]
                self._files.clear()
        return "".join(pieces)

    def go_on(self) -> int:
        """Talks until the person leaves, and returns the exit status."""
        _edit_lines(sorted([*self._commands, "/quit"]))
        _tell(self._who_answers())
        _tell("Ctrl-C stops an answer, Ctrl-D leaves, /help lists the commands.")
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

    def _who_answers(self) -> str:
        if self._model:
            return f"Now talking to {Path(self._model).name}."
        default = self._runner.run(self._speaker.default())
        if default.phase == "failed":
            return f"No model is loaded. {default.reason}"
        if not default.name:
            return "There is no model yet. This gets one: moat models pull NAME"
        return f"Now talking to {default.name}. /model lists others."

    def _take(self, line: str) -> None:
        is_command = line.startswith("/")
        try:
            if is_command:
                word, _, rest = line.partition(" ")
                if word not in self._commands:
                    raise BadRequest("There is no such command. /help lists them.", "command")
                self._commands[word](rest.strip())
            else:
                with _shown() as show:
                    self.ask(line, show)
                _tell("")
                _complain(CUT if self.is_cut else "")
        except AppError as error:
            # An answer that has begun may have left its line open.
            sys.stderr.write("\n" if self._has_begun and not is_command else "")
            _complain(str(error))
        except KeyboardInterrupt:
            _tell(" …")

    def _choose_model(self, name: str) -> None:
        models = self._runner.run(self._speaker.models())
        if not name:
            _tell("\n".join(card.name + "  (loaded)" * card.loaded for card in models))
            return
        is_file = Path(name).expanduser().is_file()
        if name not in {card.name for card in models} and not (
            is_file and self._speaker.loads_files
        ):
            raise BadRequest(NOT_BY_PATH if is_file else NO_SUCH_MODEL.format(name), "model")
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
        _tell(f"{self._files[-1].name} is sent with the next question.")

    def take_along(self, path: str) -> None:
        if not path:
            raise BadRequest("/file needs the path of a file.", "path")
        whole = str(Path(_unquoted(path)).expanduser().resolve())
        self._files.append(self._runner.run(self._speaker.read(whole)))


def _unquoted(path: str) -> str:
    """Removes quotes or backslashes that terminals add to the path of a dropped file."""
    if Path(path).expanduser().exists():
        return path
    if sys.platform == "win32":
        return path.strip('"')
    try:
        words = shlex.split(path)
    except ValueError:
        return path
    return words[0] if len(words) == 1 else path


def _complain(text: str) -> None:
    if text:
        sys.stderr.write(f"{wrap(printable(text), columns_of(sys.stderr))}\n")
        sys.stderr.flush()


def _tell(text: str, hanging: int = 0) -> None:
    sys.stdout.write(f"{wrap(printable(text), columns_of(sys.stdout), hanging)}\n")
    sys.stdout.flush()


def _edit_lines(words: list[str]) -> None:
    """Enables history (arrow keys) and completion of commands (Tab) if the system offers them."""
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
