"""moat chat: one question, a conversation, and what happens when somebody interrupts it."""

import asyncio
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from server import cli
from server.chat import Message
from server.commands.chat import HELP, Conversation, Markdown
from server.errors import AppError
from server.face.core import FileText
from server.face.models import ModelCard
from server.system import processes
from server.system.limits import printable
from tests.kit.running import serving

STYLES = re.compile(r"\x1b\[([0-9;]*)m")


def spans(text: str, size: int = 1) -> list[tuple[str, str]]:
    """Each stretch of the text with its style."""
    markdown = Markdown()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    out = "".join(map(markdown.feed, pieces)) + markdown.end()
    parts = ["0", *STYLES.split(out)]
    assert parts[-2] == "0", "the terminal is left as it was"
    styled = zip(parts[::2], parts[1::2], strict=True)
    return [(shown, style if style != "0" else "") for style, shown in styled if shown]


CASES = [
    ("plain words\n", [("plain words\n", "")]),
    ("# Moats\ntext", [("Moats", "1;4"), ("\ntext", "")]),
    ("a **bold** word", [("a ", ""), ("bold", "1"), (" word", "")]),
    ("an *odd* word", [("an ", ""), ("odd", "3"), (" word", "")]),
    ("call `a * b` now", [("call ", ""), ("a * b", "36"), (" now", "")]),
    ("``a ` b``", [("a ` b", "36")]),
    ("- one\n  * two", [("•", "35"), (" one\n  ", ""), ("•", "35"), (" two", "")]),
    ("12. twelfth", [("12.", "35"), (" twelfth", "")]),
    ("> said **so**", [("│ said ", "2"), ("so", "2;1")]),
    ("2 * 3 * 4 and 2**8", [("2 * 3 * 4 and 2**8", "")]),
    ("snake_case and \\*star\\*", [("snake_case and \\*star\\*", "")]),
    ("**open\nnext", [("open", "1"), ("\nnext", "")]),
    (
        "```py\nx = `1`**2\n```\nafter",
        [("py", "2"), ("\n", ""), ("x = `1`**2", "36"), ("\n\nafter", "")],
    ),
    ("~~~~\n~~~\n~~~~\n", [("\n", ""), ("~~~", "36"), ("\n\n", "")]),
    ("```\nnever ends", [("\n", ""), ("never ends", "36")]),
    ("#hashtag and 3) x", [("#hashtag and 3) x", "")]),
    ("-1 is less", [("-1 is less", "")]),
    ("*", [("*", "")]),
    ("****", [("****", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_it_is_coloured_whatever_the_pieces_are(text: str, expected: list[tuple[str, str]]) -> None:
    for size in (1, 2, 3, 1000):
        merged: list[tuple[str, str]] = []
        for shown, style in spans(text, size):
            if merged and merged[-1][1] == style:
                shown = merged.pop()[0] + shown
            merged.append((shown, style))
        assert merged == expected, size


def test_a_model_cannot_steer_the_terminal() -> None:
    markdown = Markdown()
    given = "\x1b[31mred\x1b]0;title\x07 **\x9b1mbold**\r\n"
    out = "".join(markdown.feed(printable(letter)) for letter in given) + markdown.end()
    assert STYLES.findall(out) == ["1", "0"]
    assert STYLES.sub("", out) == "[31mred]0;title 1mbold\n"


CHAT = [sys.executable, "-P", "-m", "app", "chat"]


class Echo:
    """Answers with how many messages there were and the last one; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[Message], str]] = []

    async def answer(self, messages: list[Message], model: str) -> AsyncGenerator[str, None]:
        self.asked.append((messages, model))
        text = messages[-1].content
        yield f"{len(messages)}: "
        if text == "interrupt":
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
        if text == "fail":
            raise AppError("That went wrong.")
        yield text

    async def read(self, path: str) -> FileText:
        return FileText(Path(path).name, Path(path).read_text())

    async def models(self) -> tuple[ModelCard, ...]:
        return (ModelCard("small", "/s", 1, loaded=True), ModelCard("large", "/l", 1))


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
