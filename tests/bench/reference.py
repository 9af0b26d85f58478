"""The reference for start and idleness: the same libraries, doing as little as possible.

python -m tests.bench.reference server|window

How long a start takes depends on the machine, and on what else it is doing. A bare program that
imports what Moat imports, and then listens or shows an icon, depends on both in the same way.
"""

import asyncio
import importlib
import sys
from contextlib import suppress

import psutil

LISTENS = "The reference listens"
FOR_SERVER = ("aiohttp.web", "jinja2", "keyring", "psutil", "pydantic", "yaml")
FOR_WINDOW = ("aiohttp", "pydantic", "PySide6.QtDBus", "PySide6.QtNetwork", "PySide6.QtSvg")


def wakeups(family: list[psutil.Process]) -> dict[int, int]:
    """Returns how often each thread of these processes has gone to sleep so far.

    Unlike seconds and shares of a core, this does not depend on the machine or its load: a thread
    that sleeps without a timer is not counted again.
    """
    found: dict[int, int] = {}
    for process in family:
        with suppress(psutil.Error):
            for thread in process.threads():
                with suppress(psutil.Error):
                    found[thread.id] = psutil.Process(thread.id).num_ctx_switches().voluntary
    return found


def woken(before: dict[int, int], after: dict[int, int]) -> int:
    return sum(count - before.get(thread, 0) for thread, count in after.items())


async def _serve() -> None:
    web = importlib.import_module("aiohttp.web")
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{LISTENS}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def _show() -> None:
    from PySide6.QtGui import QIcon, QPixmap  # noqa: PLC0415 - only one of the two has Qt
    from PySide6.QtWidgets import QApplication, QLabel, QMenu, QSystemTrayIcon  # noqa: PLC0415
    from qasync import QEventLoop  # noqa: PLC0415

    app = QApplication(sys.argv[:1])
    picture = QPixmap(22, 22)
    picture.fill()
    icon, menu = QSystemTrayIcon(QIcon(picture)), QMenu()
    icon.setContextMenu(menu)
    icon.show()
    window = QLabel("The reference")
    window.show()
    with QEventLoop(app) as loop:
        loop.run_until_complete(asyncio.Event().wait())


def main() -> None:
    role = sys.argv[1]
    for name in FOR_SERVER if role == "server" else FOR_WINDOW:
        importlib.import_module(name)
    if role == "server":
        asyncio.run(_serve())
    else:
        _show()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
