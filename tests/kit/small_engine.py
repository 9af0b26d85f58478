"""A small server with OpenAI's API in a separate process. It answers with its name, word by word.

python small_engine.py NAME prints its address and ends when its stdin closes.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aiohttp import web

WORDS = 5


@dataclass(frozen=True, slots=True)
class SmallEngine:
    name: str
    address: str
    process: subprocess.Popen[str]


@contextmanager
def started(name: str) -> Iterator[SmallEngine]:
    with subprocess.Popen(
        [sys.executable, __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        yield SmallEngine(name, process.stdout.readline().strip(), process)
        process.kill()


async def list_models(_request: web.Request) -> web.Response:
    return web.json_response({"data": [{"id": "small", "max_model_len": 4096}]})


def answer_as(name: str) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(WORDS):
            await asyncio.sleep(0.01)
            await _send(response, {"delta": {"content": f"{name} "}})
        await _send(response, {"delta": {}, "finish_reason": "stop"})
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_get("/v1/models", list_models)
    app.router.add_post("/v1/chat/completions", answer)
    return app


async def _send(response: web.StreamResponse, choice: dict[str, object]) -> None:
    await response.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())


async def main(name: str) -> None:
    runner = web.AppRunner(answer_as(name))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    sys.stdout.write(f"http://{host}:{port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
