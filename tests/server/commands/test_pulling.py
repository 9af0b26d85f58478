"""How a download is shown in a terminal."""

import io

from server.commands.pulling import Progress, line
from server.stock import Download

HALF = Download("d", "m.gguf", "a/b", "running", 400_000_000, 1_000_000_000, 9e6, 66.6)


def test_a_line_shows_share_speed_and_time():
    assert line(HALF, 0.4) == "[#########               ]  40% of 1.00 GB     9.0 MB/s  1:07 left"


async def test_progress_without_a_terminal_is_a_line_now_and_then():
    out = io.StringIO()
    progress = Progress("d", out)
    progress.show((HALF,))
    progress.show((HALF,))
    assert out.getvalue().count("\n") == 1
