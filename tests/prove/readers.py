"""The readers of data from strangers. Each takes bytes and may only raise its own refusals."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from server.chat import ChatRequest, Message
from server.engine.base import LoadState
from server.engine.elsewhere.engine import Remote, RemoteEngine
from server.errors import AppError
from server.models.gguf.files import check
from server.plugins.folder import load
from server.protocols.agui.routes import read as read_agui
from server.protocols.base import Facts
from server.protocols.copilotkit.operations import accept as accept_graphql

FACTS = Facts("http://127.0.0.1:1")
ASKED = ChatRequest((Message("user", "Hi"),))


@dataclass(frozen=True, slots=True)
class Reader:
    name: str
    read: Callable[[bytes, Path], None]
    refusals: tuple[type[Exception], ...]
    """The exceptions that it may raise. Any other is a defect."""
    takes_json: bool = False


def _gguf(data: bytes, folder: Path) -> None:
    path = folder / "model.gguf"
    path.write_bytes(data)
    check(path)


class _FromElsewhere:
    """An engine on another machine that answers with these bytes, seven at a time."""

    failures = ()
    status = 200

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.headers: dict[str, str] = {}

    @property
    def content(self) -> Self:
        return self

    @asynccontextmanager
    async def request(self, *_where: str, **_options: object) -> AsyncIterator[Self]:
        yield self

    async def iter_any(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._data), 7):
            yield self._data[start : start + 7]

    async def text(self) -> str:
        return self._data.decode(errors="replace")


def _sse(data: bytes, _folder: Path) -> None:
    async def read() -> None:
        engine = RemoteEngine(Remote("http://127.0.0.1:1/v1"), _FromElsewhere(data))
        engine.state.set(LoadState("ready", 1.0))
        async for _piece in engine.generate(ASKED):
            pass

    asyncio.run(read())


def _body(data: bytes) -> dict[str, Any]:
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("no object")  # noqa: TRY004 - as the endpoint before it says
    return found


def _graphql(data: bytes, _folder: Path) -> None:
    accept_graphql(_body(data), FACTS)


def _agui(data: bytes, _folder: Path) -> None:
    read_agui(_body(data), "default", FACTS)


def _plugin(data: bytes, folder: Path) -> None:
    """Reads a plugin. The corpus keeps its files in one, divided by a line."""
    names = ("plugin.json", "openapi.yaml", "flows/ask.yaml", "lib/__init__.py")
    for name, part in zip(names, data.split(b"\n=====\n"), strict=False):
        path = folder / "fuzzed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(part)
    found = load(folder / "fuzzed")
    if found.manifest is None:
        raise AppError(str(found.findings[0]))


READERS = (
    Reader("gguf", _gguf, (AppError,)),
    Reader("sse", _sse, (AppError,)),
    Reader("graphql", _graphql, (AppError, ValueError), takes_json=True),
    Reader("agui", _agui, (AppError, ValueError), takes_json=True),
    Reader("plugin", _plugin, (AppError,)),
)
