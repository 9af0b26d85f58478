"""`moat allow` in this process without a server, and from the outside with one."""

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from server import cli
from server.settings import OPENBB_ORIGINS
from server.system import processes
from tests.kit.running import SERVES, serving

PAGE = "https://app.example:3000"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))


def listed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert cli.main(["allow", "--list"]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_page_is_allowed_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["allow", PAGE]) == 0
    assert capsys.readouterr().out == f"{PAGE} may connect.\n"
    assert cli.main(["allow", PAGE.upper() + "/"]) == 0
    assert listed(capsys) == [*OPENBB_ORIGINS, PAGE]
    assert cli.main(["allow", "--remove", PAGE]) == 0
    assert capsys.readouterr().out == f"{PAGE} may no longer connect.\n"
    assert listed(capsys) == [*OPENBB_ORIGINS]


def test_without_arguments_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["allow"]) == 0
    assert capsys.readouterr().out.splitlines() == [*OPENBB_ORIGINS]


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ("null", "is not the origin of a page"),
        ("*", "A web page is allowed as https://host"),
        ("file:///etc", "is not the origin"),
        ("https://*.example", "is not the origin"),
        ("https://app.example/chat", "Did you mean https://app.example?"),
        ("app.example", "Did you mean https://app.example?"),
        ("https://x\x1b[2J", "'https://x?[2J' is not the origin"),
    ],
)
def test_what_is_no_origin_is_refused_and_nothing_changes(
    origin: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["allow", PAGE, origin]) == 1
    assert told in capsys.readouterr().err
    assert listed(capsys) == [*OPENBB_ORIGINS]


@pytest.mark.parametrize("arguments", [["--remove", PAGE], ["--remove"]])
def test_a_page_that_was_not_allowed_cannot_be_removed(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["allow", *arguments]) == 1
    assert capsys.readouterr().err


def asked_by(page: str, address: str) -> int:
    request = urllib.request.Request(f"{address}/v1/models", headers={"Origin": page})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def allow(*arguments: str) -> None:
    command = [sys.executable, "-P", "-m", "app", "allow", *arguments]
    subprocess.run(command, env=processes.environment("serve"), capture_output=True, check=True)


def test_a_running_server_says_who_knocks_and_follows_at_once() -> None:
    with serving(wait_for=SERVES) as moat:
        assert asked_by(PAGE, moat.address) == 403
        moat.read_until(f"A page at {PAGE} wants to connect. Allow it with: moat allow {PAGE}")
        allow(PAGE)
        assert asked_by(PAGE, moat.address) == 200
        allow("--remove", PAGE)
        assert asked_by(PAGE, moat.address) == 403


def test_a_host_of_files_is_allowed_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    host = "https://files.example.com"
    assert cli.main(["allow", "--files", "Files.example.com:443/"]) == 0
    assert capsys.readouterr().out == f"{host} may be asked for files.\n"
    assert listed(capsys) == [*OPENBB_ORIGINS]
    assert cli.main(["allow", "--files", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [host]
    assert cli.main(["allow", "--files", "--remove", host]) == 0
    assert capsys.readouterr().out == f"{host} may no longer be asked for files.\n"
    assert cli.main(["allow", "--files", "app://notes", "x"]) == 1
    assert "is not a host" in capsys.readouterr().err
