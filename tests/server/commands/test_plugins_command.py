import json
from pathlib import Path

import pytest

from server import cli

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    manifest = {"id": "mine", "name": "Mine", "description": "d", "version": "1.2.3"}
    (made / "plugin.json").write_text(json.dumps(manifest))
    return made


def test_check_lists_every_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "check", str(ROOT / "plugins" / "files")]) == 0
    assert capsys.readouterr().out == "files: ok, 0 operations, 2 flows\n"
    (folder / "openapi.yaml").write_text('a: "\\d"')
    assert cli.main(["plugins", "check", str(folder)]) == 1
    assert "openapi.yaml:1:6 error syntax" in capsys.readouterr().out


def test_install_enable_list_and_disable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "install", str(folder)]) == 0
    assert "mine 1.2.3 is installed, disabled." in capsys.readouterr().out
    assert cli.main(["plugins", "enable", "mine"]) == 0
    assert cli.main(["plugins", "list"]) == 0
    listed = capsys.readouterr().out
    assert "mine       enabled   warnings       Mine 1.2.3" in listed
    assert "portfolio  disabled  ok             Portfolio 1.0.0" in listed
    assert cli.main(["plugins", "disable", "mine"]) == 0
    assert cli.main(["plugins", "enable", "nobody"]) == 1
    assert "There is no plugin 'nobody'." in capsys.readouterr().err
