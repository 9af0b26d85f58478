"""A child ends when its parent does, however that ends."""

import asyncio
import os
import subprocess
import sys

import psutil
import pytest

from server.system import processes

CHILD = """
import sys, threading
from server.system import processes as lifeline
lifeline.die_with_parent()
print("up", flush=True)
threading.Event().wait()
"""
PARENT = f"""
import subprocess, sys, threading
from server.system import processes as roles
child = subprocess.Popen(
    [sys.executable, "-c", {CHILD!r}], env=roles.environment("worker"), stdout=subprocess.PIPE
)
child.stdout.readline()
print(child.pid, flush=True)
threading.Event().wait()
"""


def python(code: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=processes.environment("worker") | environment,
        stdout=subprocess.PIPE,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_child_without_a_pipe_dies_with_a_killed_parent() -> None:
    with python(PARENT) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    child.wait(timeout=30)


def test_a_child_born_an_orphan_ends_at_once() -> None:
    with python("") as ended:
        pass
    with python(CHILD, **{processes.PARENT: str(ended.pid)}) as orphan:
        assert orphan.wait(timeout=30) == 1


async def test_the_end_of_the_pipe_is_noticed_whatever_came_before() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        gone = asyncio.get_running_loop().create_task(processes.parent_gone(stream))
        os.write(writing, b"a word before\n")
        await asyncio.sleep(0.05)
        assert not gone.done()
        os.close(writing)
        async with asyncio.timeout(30):
            await gone
