"""moat completion: a real bash completes by it; the scripts of all shells know every command."""

import re
import subprocess
from pathlib import Path

import pytest

from server import cli
from server.commands.completion import SHELLS

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_moat
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert cli.main(["completion", "bash"]) == 0
    path = tmp_path / "moat.bash"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("moat mo", {"models"}),
        ("moat models pu", {"pull"}),
        ("moat models fit --kv ", {"f16", "q8_0", "q4_0"}),
        ("moat models fit some-model --con", {"--context"}),
        ("moat keys add somebody --tok", {"--tokens-per-day"}),
        ("moat serve --ch", {""}),
        ("moat completion ", {"bash", "zsh", "fish", "-h", "--help"}),
        ("moat chat --file moat.", {"moat.bash"}),
        ("moat moa", {""}),
    ],
)
def test_bash_offers_what_fits(script: Path, typed: str, offered: set[str]) -> None:
    words = typed.split(" ")
    child = subprocess.run(
        ["bash", "-c", ASK, "bash", script, *words],
        capture_output=True, text=True, check=True, cwd=script.parent,
    )  # fmt: skip
    assert set(child.stdout.removesuffix("\n").split("\n")) == offered
    assert child.stderr == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_known_to_every_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    listed = re.findall(r"^    (\w+)(?: |$)", capsys.readouterr().out, re.M)
    assert {"serve", "chat", "models", "completion"} <= set(listed)
    for command in (*listed, "models pull", "plugins answer", "keys revoke"):
        assert f"'{command}'" in script, command
