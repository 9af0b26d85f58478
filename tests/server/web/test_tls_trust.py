from pathlib import Path

import pytest

from server.settings import ServerSettings
from server.web import tls


@pytest.mark.parametrize(
    ("system", "program"), [("darwin", "security"), ("win32", "certutil"), ("linux", "certutil")]
)
def test_each_system_has_its_command_with_the_path_as_one_word(system: str, program: str):
    told = tls.command(Path("/home/a b/moat-localhost.crt"), system)
    assert told.startswith(program)
    assert "'/home/a b/moat-localhost.crt'" in told.replace('"', "'")


def test_nothing_is_told_while_it_is_switched_off(tmp_path: Path):
    assert list(tls.describe(ServerSettings(), tmp_path)) == []


def test_the_file_to_trust_is_told_once_it_is_there(tmp_path: Path):
    settings = ServerSettings(https=True, https_port=7999)
    ((text, advice),) = tls.describe(settings, tmp_path)
    assert "https://localhost:7999" in text
    assert "when Moat serves" in advice
    authority = tmp_path / tls.AUTHORITY
    authority.touch()
    ((_, advice),) = tls.describe(settings, tmp_path)
    assert str(authority) in advice
