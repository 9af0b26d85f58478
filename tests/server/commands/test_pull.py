"""How a download is shown in a terminal."""

import io
import shutil
from dataclasses import replace

import pytest

from server.commands.models import DownloadProgress, line
from server.errors import BadRequest
from server.face.models import Download

HALF = Download("d", "m.gguf", "a/b", "running", 400_000_000, 1_000_000_000, 9e6, 66.6)


def test_a_line_shows_share_speed_and_time():
    assert line(HALF, 0.4) == "[#########               ]  40% of 1.00 GB     9.0 MB/s  1:07 left"


async def test_progress_without_a_terminal_is_a_line_now_and_then():
    out = io.StringIO()
    progress = DownloadProgress("d", out)
    progress.show((HALF,))
    progress.show((HALF,))
    assert out.getvalue().count("\n") == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def test_a_download_that_somebody_cancels_is_not_waited_for():
    progress = DownloadProgress("d", io.StringIO())
    progress.show((HALF,))
    assert not progress.ended.done()
    progress.show(())
    with pytest.raises(BadRequest, match="was cancelled"):
        progress.ended.result()


async def test_in_a_terminal_the_line_is_written_over_and_never_wraps(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("COLUMNS", "40")
    assert shutil.get_terminal_size().columns == 40
    out = Terminal()
    progress = DownloadProgress("d", out)
    progress.show((HALF,))
    progress.show((HALF,))
    first, one, other = out.getvalue().split("\r\x1b[K")
    assert (first, one) == ("", other)
    assert len(one) == 39
    assert "\n" not in out.getvalue()
    progress.show((replace(HALF, phase="done"),))
    assert out.getvalue().endswith("\n")
