"""moat chat: one question, a conversation, and what happens when somebody interrupts it."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import pytest

from server import cli
from server.chat import Message
from server.commands.chat import CUT, HELP, PROMPT, Conversation, Part, Screen, _keys_unseen
from server.errors import AppError
from server.events import Finished, ReasoningDelta, TextDelta
from server.face.core import FileText, ModelStatus
from server.face.models import ModelCard
from server.system import processes
from tests.kit.running import serving

if sys.platform != "win32":
    import pty
    import termios

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CHAT = [sys.executable, "-P", "-m", "app", "chat"]


class Echo:
    """Answers with how many messages there were and the last one; remembers what it was asked."""

    loads_files = False

    def __init__(self) -> None:
        self.asked: list[tuple[list[Message], str]] = []
        self.status = ModelStatus("ready", "small")

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[Part, None]:
        self.asked.append((messages, model))
        text = messages[-1].content
        yield ReasoningDelta("Let me see.")
        yield TextDelta(f"{len(messages)}: ")
        if text == "interrupt":
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
        if text == "fail":
            raise AppError("That went wrong.")
        yield TextDelta(text)
        yield Finished("length" if text == "at length" else "stop")

    async def read(self, path: str) -> FileText:
        return FileText(Path(path).name, Path(path).read_text())

    async def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard("small", "/s", 1, loaded=True), ModelCard("large", "/l", 1))

    async def default(self) -> ModelStatus:
        return self.status


@pytest.fixture
def echo() -> Echo:
    return Echo()


def converse(echo: Echo, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    # A runner listens to Ctrl-C only where nobody else does; an earlier test may have.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with asyncio.Runner() as runner:
            assert Conversation(echo, runner).go_on() == 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_conversation_remembers_and_can_forget(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(echo, monkeypatch, "one", "", "two", "/new", "three")
    out = capsys.readouterr().out
    assert "1: one\n" in out
    assert "3: two\n" in out
    assert "1: three\n" in out


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (ModelStatus("ready", "small"), "Now talking to small. /model lists others.\n"),
        (ModelStatus("empty", "small"), "Now talking to small. /model lists others.\n"),
        (ModelStatus("failed", "small", 0.0, "Too big."), "No model is loaded. Too big.\n"),
        (ModelStatus(), "There is no model yet. This gets one: moat models pull NAME\n"),
    ],
)
def test_a_conversation_begins_with_who_answers(
    echo: Echo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: ModelStatus,
    told: str,
) -> None:
    echo.status = status
    converse(echo, monkeypatch)
    assert capsys.readouterr().out.startswith(told)


def test_the_model_the_system_prompt_and_a_file_go_along(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("the moat is deep")
    lines = ("/system be brief", "/model large", f"/file {tmp_path}/notes.txt", "how deep?", "why?")
    converse(echo, monkeypatch, *lines)
    (first, model), (second, _) = echo.asked
    assert model == "large"
    assert [message.role for message in first] == ["system", "user"]
    assert first[1].content == "notes.txt:\n\nthe moat is deep\n\nhow deep?"
    assert second[-1].content == "why?"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
@pytest.mark.parametrize("quoted", ["'{}'", '"{}"', "{}"], ids=["single", "double", "backslash"])
def test_a_path_as_a_terminal_pastes_it(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quoted: str
) -> None:
    path = tmp_path / "my notes.txt"
    path.write_text("deep")
    given = str(path) if quoted != "{}" else str(path).replace(" ", "\\ ")
    converse(echo, monkeypatch, f"/file {quoted.format(given)}", "how deep?")
    assert echo.asked[0][0][0].content == "my notes.txt:\n\ndeep\n\nhow deep?"


def test_an_interrupted_answer_is_kept_and_the_conversation_goes_on(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(echo, monkeypatch, "interrupt", "and now?")
    assert "1:  …\n" in capsys.readouterr().out
    assert [message.content for message in echo.asked[1][0]] == ["interrupt", "1: ", "and now?"]


def test_what_goes_wrong_is_said_and_the_conversation_goes_on(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(echo, monkeypatch, "fail", "/nothing", "/model tiny", "/file", "/help", "/model", "on")
    out, err = capsys.readouterr()
    assert "That went wrong." in err
    assert "no such command" in err
    assert "no model named tiny" in err
    assert "needs the path" in err
    assert HELP in out
    assert "small  (loaded)\nlarge\n" in out
    assert "on" in out


def test_only_an_answer_that_was_cut_says_so(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(echo, monkeypatch, "at length", "short")
    out, err = capsys.readouterr()
    assert "1: at length\n" in out
    assert err == f"{CUT}\n"


def test_a_terminal_shows_thoughts_apart_from_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    parts = (ReasoningDelta("I "), ReasoningDelta("look."), TextDelta("It "), TextDelta("rains."))
    for shown in (parts, parts[:2], parts[2:]):
        screen = Screen()
        for part in shown:
            screen.show(part)
        screen.end()
    thought, answer = "\x1b[2mThinking …\nI look.\x1b[0m\n\n", "It rains."
    assert capsys.readouterr().out == f"{thought}{answer}{thought}{answer}"
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen()
    for part in parts:
        screen.show(part)
    screen.end()
    assert capsys.readouterr().out == "Thinking …\nI look.\n\nIt rains."


@pytest.mark.parametrize("loads_files", [False, True])
def test_only_a_moat_of_its_own_takes_a_model_by_its_path(
    echo: Echo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    loads_files: bool,
) -> None:
    (tmp_path / "model.gguf").write_text("")
    monkeypatch.setattr(echo, "loads_files", loads_files, raising=False)
    converse(echo, monkeypatch, f"/model {tmp_path}/model.gguf", "hello")
    out, err = capsys.readouterr()
    assert ("The next answer comes from" in out) == loads_files
    assert ("moat chat --model PATH" in err) != loads_files
    assert echo.asked[0][1] == (f"{tmp_path}/model.gguf" if loads_files else "")


def test_thoughts_are_no_part_of_the_answer(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    converse(echo, monkeypatch, "one", "two")
    assert [message.content for message in echo.asked[1][0]] == ["one", "1: one", "two"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A Moat that runs, for all of these."""
    variables = {"MOAT_HOME": str(tmp_path_factory.mktemp("home"))}
    with serving(environment=variables):
        yield {**processes.environment("serve"), **variables}


def run(home: dict[str, str], *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [*CHAT, *arguments]
    return subprocess.run(
        command, env=home, input=text, capture_output=True, text=True, check=False
    )


def test_the_running_moat_answers_and_nothing_is_loaded_twice(home: dict[str, str]) -> None:
    done = run(home, "Say hi.", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"]


def test_a_refusal_of_the_running_moat_is_its_sentence(home: dict[str, str]) -> None:
    done = run(home, "Hi", "--model", "nobody-knows-it")
    assert done.returncode == 1
    assert "nobody-knows-it" in done.stderr


def test_a_conversation_comes_from_a_pipe_too(home: dict[str, str]) -> None:
    done = run(home, text="Say hi.\n/quit\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("> ") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_a_terminal_breaks_lines_between_words_and_names_the_model(home: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (12, 40))
    question = b"Tell me about castles in many long sentences.\n"
    with subprocess.Popen(CHAT, env=home, stdin=theirs, stdout=theirs, stderr=theirs) as talk:
        os.close(theirs)
        try:
            begin = _read(ours, lambda read: read.endswith(PROMPT))
            os.write(ours, question)
            # The answer may be very long: its first lines are enough.
            answer = _read(ours, lambda read: read.count("\n") > 6 or read.endswith(f"\n{PROMPT}"))
        finally:
            talk.kill()
    os.close(ours)
    assert begin.startswith("Now talking to SmolLM2-135M-Instruct.\n/model")
    _asked, *lines, _rest = STYLES.sub("", answer).split("\n")
    assert len(lines) > 1, answer
    assert max(map(len, lines)) <= 40


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
def test_keys_are_not_shown_between_the_words_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C stood as "^C" in the middle of the last word."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        shown = []
        with pytest.raises(KeyboardInterrupt), _keys_unseen():
            shown.append(termios.tcgetattr(theirs)[3] & termios.ECHO)
            raise KeyboardInterrupt
        shown.append(termios.tcgetattr(theirs)[3] & termios.ECHO)
    os.close(ours)
    assert shown == [0, termios.ECHO]


def _read(terminal: int, is_enough: Callable[[str], bool]) -> str:
    read = ""
    while not is_enough(read):
        read += os.read(terminal, 1000).decode(errors="replace").replace("\r\n", "\n")
    return read


def test_an_empty_question_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["chat", "-"], ["chat", " "]):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
        assert cli.main(arguments) == 1
        assert capsys.readouterr().err == "The question is empty.\n"


def test_a_conversation_is_not_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["chat", "--json"]) == 1
    assert capsys.readouterr().err.startswith("--json needs a question")
