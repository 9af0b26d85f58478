"""The control link: the face's state as one stream, its commands as calls."""

import asyncio
import logging
from operator import attrgetter
from typing import Any

from aiohttp import web

from server.errors import AppError, BadRequest, DiskFull
from server.face.core import Face
from server.face.wire import COMMANDS, SIGNALS, VALUES
from server.models.downloads.journal import is_full
from server.protocols.base import EVENT_STREAM, Frames
from server.system.logs import Redactor
from server.web.body import as_json, read_json
from server.web.guard import Guard
from server.web.stream import send

log = logging.getLogger(__name__)

GATHER_S = 0.05
"""A flood of log lines goes out as few writes, and a value that changes often as its last state."""
MAX_SIGNALS = 2000
REFUSED = "The system refused. The log says more."


def create_control(face: Face, guard: Guard) -> web.Application:
    app = web.Application(client_max_size=1024 * 1024)
    guard.install(app)

    async def stream(request: web.Request) -> web.StreamResponse:
        return await send(request, _changes(face), EVENT_STREAM)

    async def command(request: web.Request) -> web.StreamResponse:
        try:
            result = await _call(face, await read_json(request))
        except AppError as error:
            return _refusal(error)
        except web.HTTPException:
            raise
        except OSError as error:
            log.exception("A command failed")
            return _refusal(_of_the_system(error))
        except Exception as error:
            log.exception("A command failed")
            return _refusal(_of_ours(error))
        data = as_json({"result": result}, nan="constants")
        return web.Response(body=data, content_type="application/json")

    async def ping(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    app.router.add_get("/control/ping", ping)
    app.router.add_get("/control/stream", stream)
    app.router.add_post("/control/command", command)
    return app


async def _call(face: Face, body: Any) -> Any:
    if not isinstance(body, dict) or body.get("name") not in COMMANDS:
        raise BadRequest("There is no such command.", "name")
    command = COMMANDS[body["name"]]
    try:
        arguments = command.read_arguments(body.get("arguments") or {})
    except ValueError as error:
        raise BadRequest(f"The command's arguments are wrong: {error}", "arguments") from None
    run = attrgetter(body["name"])(face)
    return command.result.dump_python(await run(**arguments), mode="json")


def _refusal(error: AppError) -> web.Response:
    details = Redactor().clean(error.details)
    body = {"error": {"message": str(error), "code": error.code, "details": details}}
    return web.json_response(body, status=error.status)


def _of_the_system(error: OSError) -> AppError:
    if is_full(error):
        found: AppError = DiskFull(f"The disk cannot be written: {error.strerror}.")
    else:
        words = f"The system refused: {error.strerror}." if error.strerror else REFUSED
        found = AppError(words)
    found.__cause__ = error
    return found


def _of_ours(error: Exception) -> AppError:
    """Without its message: that may quote what nobody should read here. The log has it."""
    found = AppError("Something went wrong inside Moat.")
    found.known_details = type(error).__name__
    return found


async def _changes(face: Face) -> Frames:
    values: dict[str, Any] = {}
    signals: list[tuple[str, Any]] = []
    awake = asyncio.Event()

    def keep(name: str, item: Any) -> None:
        values[name] = item
        awake.set()

    def note(name: str, item: Any) -> None:
        if len(signals) < MAX_SIGNALS:
            signals.append((name, item))
        awake.set()

    disconnects = [
        attrgetter(name)(face).connect(lambda item, name=name: keep(name, item)) for name in VALUES
    ] + [
        attrgetter(name)(face).connect(lambda item, name=name: note(name, item)) for name in SIGNALS
    ]
    try:
        while True:
            await awake.wait()
            awake.clear()
            frames = _frames(values, signals)
            values.clear()  # before the write: what comes while it waits goes out with the next
            signals.clear()
            yield frames
            await asyncio.sleep(GATHER_S)
    finally:
        for disconnect in disconnects:
            disconnect()


def _frames(values: dict[str, Any], signals: list[tuple[str, Any]]) -> bytes:
    frames = [
        _frame({"value": name, "data": VALUES[name].dump_python(item, mode="json")})
        for name, item in values.items()
    ]
    frames += [
        _frame({"signal": name, "data": SIGNALS[name].dump_python(item, mode="json")})
        for name, item in signals
    ]
    return b"".join(frames)


def _frame(content: dict[str, Any]) -> bytes:
    return b"data: " + as_json(content, nan="constants") + b"\n\n"
