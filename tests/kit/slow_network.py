"""A network that delivers a body in two pieces."""

import asyncio

from aiohttp import web


async def in_halves(stream: web.StreamResponse, body: bytes) -> None:
    await stream.write(body[: len(body) // 2])
    await asyncio.sleep(0.05)
    await stream.write(body[len(body) // 2 :])
