"""Serves Moat until its standard input closes, for clients that are programs of their own."""

import asyncio
import json
import sys
from typing import Any

from server.core.core import Core, MakeEngine
from server.engine.process import WorkerProcess
from server.system.paths import find
from tests.contract.copilotkit.obedient import ObedientEngine
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.engines import count_as_able

ENGINES: dict[str, MakeEngine] = {
    "obedient": lambda _path, _options: ObedientEngine(),
    "real": WorkerProcess,
    "talking": lambda _path, _options: TalkingEngine(),
}


async def main(engine: str, settings: dict[str, Any]) -> None:
    if engine == "obedient":
        count_as_able(ObedientEngine(), find().data)
    core = Core(find(), ENGINES[engine])
    await core.open()
    if model := settings.pop("model", None):
        core.choose_model(model)
    for key, options in settings.pop("enabled", {}).items():
        await core.plugins.enable(key)
        for name, value in options.items():
            await core.plugins.set_option(key, name, value)
    for field, value in settings.items():
        await core.change_setting(field, value)
    await core.start_on(0)
    print(core.server.get().address, flush=True)  # noqa: T201
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await core.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
