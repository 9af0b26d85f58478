"""A fake core behind the real control link, in this process or as a child process."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.web.app import create_control
from server.web.guard import Gate, Guard
from server.web.listener import Listener, Listening
from tests.kit.fake_core import FakeCore


@asynccontextmanager
async def serve_core(core: FakeCore, secret: str) -> AsyncIterator[str]:
    """Yields the address of a control link to this core."""
    listening = Listening(0, frozenset())
    guard = Guard(lambda: Gate(listening.hosts, key=secret), lambda _origin, _method: None)
    listener = Listener(create_control(core, guard))
    listening = await listener.open(0)
    try:
        yield f"http://127.0.0.1:{listening.port}"
    finally:
        await listener.close()


async def main(manner: str) -> int:
    """Acts as a window's server process. `manner` is how it misbehaves."""
    secret = sys.stdin.readline().strip()
    if manner == "fails":
        sys.stderr.write("x" * 200_000 + "\nThe model folder is missing\n")
        return 3
    if manner == "babbles":
        sys.stdout.write("Hello?\n")
        return 0
    async with serve_core(FakeCore.ready(), secret) as address:
        sys.stdout.write(json.dumps({"control": address}) + "\n")
        sys.stdout.flush()
        # This is more than a pipe holds: if the parent does not read, it blocks here.
        sys.stdout.write("x" * 200_000)
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        if manner == "stubborn":
            await asyncio.sleep(60)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
