"""`moat keys` without a server, and with one that runs."""

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from server import cli
from server.core.keys import Keys
from server.system import paths
from tests.kit.running import SERVES, serving


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))


def test_a_key_is_made_listed_and_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["keys", "list"]) == 0
    assert "moat keys add NAME" in capsys.readouterr().out
    made = ["keys", "add", "anna", "--models", "a, b", "--at-once", "2", "--tokens-per-day", "900"]
    assert cli.main(made) == 0
    told = capsys.readouterr()
    key = told.out.strip()
    assert Keys(paths.find().config).name_of(key) == "anna"
    assert "shown once" in told.err
    assert "No key is asked for" in told.err
    assert cli.main(["keys", "list"]) == 0
    shown = capsys.readouterr().out
    assert "0 of 900 tokens today  ·  2 at a time  ·  only a, b" in shown
    assert key not in shown
    assert cli.main(["keys", "revoke", "anna"]) == 0
    assert cli.main(["keys", "revoke", "anna"]) == 1
    assert "There is no key 'anna'" in capsys.readouterr().err


def test_a_running_server_follows_at_once(tmp_path: Path) -> None:
    settings = tmp_path / "config" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"server": {"require_key": true}, "model": {"load_at_start": false}}')
    with serving(wait_for=SERVES) as moat:
        address = moat.address

        def run(*words: str) -> str:
            command = [sys.executable, "-m", "app", "keys", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return done.stdout.strip()

        def ask(key: str) -> int:
            head = {"Authorization": f"Bearer {key}"}
            request = urllib.request.Request(f"{address}/v1/models", headers=head)
            try:
                with urllib.request.urlopen(request) as reply:
                    return int(reply.status)
            except urllib.error.HTTPError as error:
                return error.code

        key = run("add", "anna", "--at-once", "3")
        assert ask(key) == 200
        assert "anna" in run("list")
        run("revoke", "anna")
        assert ask(key) == 401
