"""What a large request took goes back to the system."""

import platform
import subprocess
import sys

import pytest

GROW = """
import psutil
from server.system import hardware as large_blocks

assert large_blocks.give_back()
mine = psutil.Process()
before = mine.memory_info().rss
for size in (25, 40):
    body, most = bytearray(), 0
    for _ in range(size * 16):
        body += bytes(65536)
        most = max(most, mine.memory_info().rss)
    del body
print((mine.memory_info().rss - before) >> 20, (most - before) >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_a_body_that_grows_is_not_copied_and_leaves_nothing_behind() -> None:
    command = [sys.executable, "-c", GROW]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    left_mb, most_mb = map(int, told.stdout.split())
    assert left_mb < 8
    assert most_mb < 50
