"""Downloads a file from a fake hub and prints its progress. The test kills this program."""

import asyncio
import sys
from pathlib import Path

from server.face.models import Download
from tests.kit.download_desk import begin, desk, ended, until
from tests.kit.fake_hub import FakeHub


async def main(address: str, models: Path) -> None:
    fake = FakeHub(address=address)
    async with desk(fake, models) as downloads:
        downloads.all.connect(say)
        if not downloads.all.get():
            await begin(fake, downloads)
        final = await until(downloads, ended)
    sys.stdout.write(f"end {final.phase}\n")
    sys.stdout.flush()


def say(downloads: tuple[Download, ...]) -> None:
    for one in downloads:
        sys.stdout.write(f"{one.done_bytes}\n")
    sys.stdout.flush()


asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
