import asyncio
import json
import logging
import os
import sys
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest

from server.face.core import LogLine
from server.system import logs as module
from server.system.logs import KEPT_LINES, Logs, Redactor


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer CANARY123",
        "headers={'authorization': 'CANARY123'}",
        "proxy http://user:CANARY123@proxy:3128",
        "x-api-key=CANARY123",
        '{"token": "CANARY123"}',
        "hf_CANARY123abc",
        "the key is plainly-CANARY123",
    ],
)
def test_secrets_are_blacked_out(text: str):
    redactor = Redactor()
    redactor.hide("plainly-CANARY123")
    assert "CANARY123" not in redactor.clean(text)


def test_a_line_that_cannot_be_written_does_not_break_its_writer():
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    logs = Logs(None)
    logs.ring.emit(logging.LogRecord("part", logging.INFO, "", 0, "%s", (Odd(),), None))
    logs.ring.emit(logging.LogRecord("part", logging.INFO, "", 0, "fine", (), None))
    assert [line.text for line in logs.ring.recent(5)] == ["fine"]


def test_terminal_control_codes_are_dropped():
    assert Redactor().clean("\x1b[31mred\x07") == "[31mred"


async def test_lines_reach_the_ring_the_listeners_and_the_file(tmp_path: Path):
    logs = Logs(tmp_path / "logs")
    seen: list[LogLine] = []
    logs.ring.logged.connect(seen.append)
    logs.open()
    logs.redactor.hide("secret-word")
    logging.getLogger("part").warning("it says %s", "secret-word")
    await asyncio.sleep(0)
    logs.close()
    assert [(line.level, line.source, line.text) for line in seen] == [
        ("warning", "part", "it says •••")
    ]
    assert logs.ring.recent(10) == seen
    path = tmp_path / "logs" / "moat.log"
    assert "it says •••" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
async def test_each_file_that_is_begun_anew_is_its_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "FILE_BYTES", 100)
    logs = Logs(tmp_path)
    logs.open()
    for _ in range(3):
        logging.getLogger("part").info("x" * 100)
    logs.close()
    modes = [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()]
    assert len(modes) > 1
    assert set(modes) == {0o600}


async def test_the_ring_is_bounded():
    logs = Logs(None)
    logs.open()
    for number in range(KEPT_LINES + 10):
        logging.getLogger("part").info("%d", number)
    logs.close()
    recent = logs.ring.recent(KEPT_LINES * 2)
    assert len(recent) == KEPT_LINES
    assert recent[-1].text == str(KEPT_LINES + 9)


async def test_a_folder_that_cannot_be_made_does_not_stop_the_app(tmp_path: Path):
    (tmp_path / "file").write_text("")
    logs = Logs(tmp_path / "file" / "logs")
    logs.open()
    logging.getLogger("part").info("still here")
    logs.close()
    assert logs.ring.recent(1)[0].text == "still here"


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
async def test_closing_drops_what_a_full_disk_does_not_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def open_on_full_disk(_path: object, flags: int) -> int:
        return os.open("/dev/full", flags & ~os.O_CREAT | os.O_WRONLY)

    monkeypatch.setattr(module, "open_private", open_on_full_disk)
    logs = Logs(tmp_path)
    logs.open()
    logging.getLogger("part").info("kept in memory")
    logs.close()
    assert [line.text for line in logs.ring.recent(1)] == ["kept in memory"]
    assert not any(handler in logging.getLogger().handlers for handler in logs._handlers)


async def test_a_log_in_json_has_an_object_in_each_line_and_no_secret(tmp_path: Path):
    logs, stream = Logs(tmp_path), StringIO()
    logs.write_json(as_json=True)
    logs.open()
    logs.write_to(stream)
    logs.redactor.hide("secret-word")
    extra = {module.FIELDS: {"model": "secret-word", "tokens": 3}}
    logging.getLogger("part").warning('it says "%s"\nand more', "secret-word", extra=extra)
    try:
        raise ValueError("of secret-word")  # noqa: TRY301
    except ValueError:
        logging.getLogger("part").exception("broken")
    logs.close()
    lines = (tmp_path / "moat.log").read_text().splitlines()
    assert lines == stream.getvalue().splitlines()
    first, second = map(json.loads, lines)
    assert first | {"time": ""} == {
        "time": "",
        "level": "warning",
        "source": "part",
        "message": 'it says "•••"\nand more',
        "model": "•••",
        "tokens": 3,
    }
    assert datetime.fromisoformat(first["time"]).tzinfo is not None
    assert "ValueError: of •••" in second["message"]
