"""A hub on loopback that answers like Hugging Face, with faults that a test chooses.

Its answers have the status and headers that huggingface.co sends, and the hub's own library is
asked about them in tests/contract/test_hub_library.py.
"""

import asyncio
import hashlib
import re
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RANGE = re.compile(r"bytes=(\d+)-(\d+)")
CHUNK = 16 * 1024
SMALL = "/api/resolve-cache/models"
"""Where the hub redirects to for a file that is not in the storage."""
STRANGER = {
    "X-Error-Message": "Invalid username or password.",
    "WWW-Authenticate": 'Bearer realm="Authentication required", charset="UTF-8"',
}
"""Says the same of a repository that is private and of one that does not exist."""
BAD_TOKEN = {"X-Error-Message": "Invalid credentials in Authorization header"}


@dataclass(frozen=True)
class Fault:
    """A fault in a request for a part of a file. `after` is the number of bytes sent before it."""

    kind: str
    after: int = 0
    status: int = 500
    retry_after: str = "0"
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"error": "no"}'


@dataclass
class FakeHub:
    """The hub and its storage. `files` are by repository and path. Each request for bytes uses
    up a fault."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    faults: deque[Fault] = field(default_factory=deque)
    hub_faults: deque[Fault] = field(default_factory=deque)
    """Faults of the hub itself, before it redirects to the storage."""
    api_faults: deque[Fault] = field(default_factory=deque)
    """Faults of requests about repositories."""
    moved: dict[str, str] = field(default_factory=dict)
    """Repositories by their old names."""
    cards: dict[str, bytes] = field(default_factory=dict)
    scan: object = None
    licence_name: str = ""
    template: str = ""
    holds_search: bool = False
    is_asked: asyncio.Event = field(default_factory=asyncio.Event)
    gated: set[str] = field(default_factory=set)
    """Repositories whose files need a token. Everybody may read what is in them."""
    unaccepted: set[str] = field(default_factory=set)
    """Gated repositories whose terms the owner of the token has not accepted."""
    private: set[str] = field(default_factory=set)
    token: str = ""
    """The one valid token."""
    lied: dict[str, str] = field(default_factory=dict)
    """Wrong hashes that are reported instead of the true ones, by path."""
    extra: list[dict[str, object]] = field(default_factory=list)
    """More entries in every tree."""
    served: int = 0
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """(hub or storage, path with query, headers) of every request."""
    etag: str = "one"
    address: str = ""
    redirect: str = ""
    page_size: int = 1000
    delay_s: float = 0.0
    """The pause before each chunk in seconds, so that a test can act during a download."""
    _storage: str = ""
    _held: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator["FakeHub"]:
        storage, storage_port = await self._start(self._storage_routes(), "localhost")
        self._storage = f"http://localhost:{storage_port}"
        hub, hub_port = await self._start(self._hub_routes(), "127.0.0.1", port)
        self.address = f"http://127.0.0.1:{hub_port}"
        try:
            yield self
        finally:
            self._held.set()
            await hub.cleanup()
            await storage.cleanup()

    def requests(self, where: str) -> list[tuple[str, dict[str, str]]]:
        return [(path, headers) for place, path, headers in self.seen if place == where]

    async def _start(
        self, routes: Sequence[web.RouteDef], host: str, port: int = 0
    ) -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.add_routes(routes)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        return runner, runner.addresses[0][1]

    def _hub_routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/models", self._search),
            web.get("/api/models/{owner}/{name}", self._about),
            web.get("/api/models/{owner}/{name}/revision/{revision}", self._about),
            web.get("/api/models/{owner}/{name}/tree/{revision}", self._tree),
            web.get("/{owner}/{name}/resolve/{revision}/{path:.+}", self._resolve),
            web.get(
                "/api/resolve-cache/models/{owner}/{name}/{revision}/README.md", self._send_small
            ),
        ]

    def _storage_routes(self) -> list[web.RouteDef]:
        return [web.get("/{owner}/{name}/{path:.+}", self._send)]

    def _note(self, where: str, request: web.Request) -> None:
        headers = {key.lower(): value for key, value in request.headers.items()}
        self.seen.append((where, request.path_qs, headers))

    def _check(self, request: web.Request) -> str:
        self._note("hub", request)
        repo = f"{request.match_info['owner']}/{request.match_info['name']}"
        if repo in self.moved:
            raise web.HTTPTemporaryRedirect(request.path_qs.replace(repo, self.moved[repo]))
        is_known = self._is_known(request)
        if repo not in self.files or (repo in self.private and not is_known):
            if not is_known:
                raise web.HTTPUnauthorized(headers=STRANGER)
            raise web.HTTPNotFound(headers=_error("RepoNotFound", "Repository not found"))
        revision = request.match_info.get("revision", "main")
        if revision not in ("main", COMMIT):
            why = f"Invalid rev id: {revision}"
            raise web.HTTPNotFound(headers=_error("RevisionNotFound", why))
        return repo

    def _is_known(self, request: web.Request) -> bool:
        """Whether the request has the token. A wrong one is refused, whatever it asks for."""
        given = request.headers.get("Authorization")
        if given is not None and given != f"Bearer {self.token}":
            raise web.HTTPUnauthorized(headers=BAD_TOKEN)
        return given is not None

    def _check_terms(self, repo: str, request: web.Request) -> None:
        why = f"Access to model {repo} is restricted."
        if repo in self.gated and not self._is_known(request):
            raise web.HTTPUnauthorized(headers=_error("GatedRepo", why))
        if repo in self.unaccepted:
            raise web.HTTPForbidden(headers=_error("GatedRepo", why))

    def _fail(self) -> None:
        if self.api_faults:
            raise _status(self.api_faults.popleft())

    def _describe(self, repo: str) -> dict[str, object]:
        return {
            "_id": "0123456789abcdef01234567",
            "id": repo,
            "modelId": repo,
            "author": repo.partition("/")[0],
            "private": repo in self.private,
            "disabled": False,
            "siblings": [{"rfilename": path} for path in self.files[repo]],
            "sha": COMMIT,
            "downloads": 10,
            "likes": 2,
            "gated": "manual" if repo in self.gated else False,
            "tags": ["gguf", "license:apache-2.0"],
            "lastModified": "2026-01-02T03:04:05.000Z",
            "gguf": {"total": 1000, "architecture": "llama", "chat_template": self.template},
            "cardData": {"license": "apache-2.0", "license_name": self.licence_name},
        }

    async def _search(self, request: web.Request) -> web.Response:
        self._note("hub", request)
        self._fail()
        is_known = self._is_known(request)
        wanted, author = request.query.get("search", "").lower(), request.query.get("author", "")
        if self.holds_search:
            self.is_asked.set()
            await self._held.wait()
        found = [
            self._describe(repo)
            for repo in self.files
            if wanted in repo.lower() and author in ("", repo.partition("/")[0])
            if is_known or repo not in self.private
        ]
        return _page(request, found, int(request.query["limit"]))

    async def _about(self, request: web.Request) -> web.Response:
        repo = self._check(request)
        self._fail()
        scan = {"securityRepoStatus": self.scan} if "securityStatus" in request.query else {}
        return web.json_response({**self._describe(repo), **scan})

    async def _tree(self, request: web.Request) -> web.Response:
        repo = self._check(request)
        entries: list[dict[str, object]] = [{"type": "directory", "path": "x", "oid": "1"}]
        entries += [{"type": "file", "path": "README.md", "size": 5, "oid": "2"}]
        for path, data in self.files[repo].items():
            oid = self.lied.get(path) or hashlib.sha256(data).hexdigest()
            lfs = {"oid": oid, "size": len(data), "pointerSize": 130}
            entries.append(
                {"type": "file", "path": path, "size": len(data), "oid": "3", "lfs": lfs}
            )
        entries += self.extra
        return _page(request, entries, self.page_size)

    async def _resolve(self, request: web.Request) -> web.StreamResponse:
        repo = self._check(request)
        self._check_terms(repo, request)
        path, commit = request.match_info["path"], {"X-Repo-Commit": COMMIT}
        if path == "README.md" and repo in self.cards:
            place = f"{SMALL}/{repo}/{COMMIT}/{path}"
            raise web.HTTPTemporaryRedirect(place, headers=commit)
        if path not in self.files[repo]:
            missing = _error("EntryNotFound", "Entry not found")
            raise web.HTTPNotFound(headers={**missing, **commit})
        if self.hub_faults:
            raise _status(self.hub_faults.popleft())
        data = self.files[repo][path]
        digest = self.lied.get(path) or hashlib.sha256(data).hexdigest()
        linked = {"X-Linked-ETag": f'"{digest}"', "X-Linked-Size": str(len(data))}
        place = self.redirect or f"{self._storage}/{repo}/{path}"
        raise web.HTTPFound(place, headers={**commit, **linked, "Accept-Ranges": "bytes"})

    async def _send_small(self, request: web.Request) -> web.Response:
        """Sends a file that is not in the storage."""
        self._note("hub", request)
        info = request.match_info
        data = self.cards[f"{info['owner']}/{info['name']}"]
        oid = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        return web.Response(body=data, headers={"ETag": f'"{oid}"', "X-Repo-Commit": COMMIT})

    async def _send(self, request: web.Request) -> web.StreamResponse:
        self._note("storage", request)
        repo = f"{request.match_info['owner']}/{request.match_info['name']}"
        data = self.files[repo][request.match_info["path"]]
        fault = self.faults.popleft() if self.faults else Fault("none")
        match = RANGE.fullmatch(request.headers.get("Range", ""))
        start, end = (int(match[1]), int(match[2]) + 1) if match else (0, len(data))
        if fault.kind == "status":
            raise _status(fault)
        if fault.kind == "drop":
            assert request.transport
            request.transport.abort()
            return web.Response()
        return await self._stream(request, data, (start, min(end, len(data))), fault)

    async def _stream(
        self, request: web.Request, data: bytes, span: tuple[int, int], fault: Fault
    ) -> web.StreamResponse:
        start, end = span
        if fault.kind == "wrong range":
            start, end = max(0, start - 7), max(1, end - 7)
        body = data[start:end]
        if fault.kind == "no range":
            start, body = 0, data
        if fault.kind == "bad bytes":
            body = bytes([body[0] ^ 0xFF]) + body[1:]
        tag = "two" if fault.kind == "changed" else self.etag
        is_part = "Range" in request.headers and fault.kind != "no range"
        response = web.StreamResponse(status=206 if is_part else 200)
        response.headers["ETag"] = f'"{tag}"'
        if is_part:
            end = start + len(body) - 1
            response.headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        response.content_length = len(body)
        if fault.kind == "packed":
            response.headers["Content-Encoding"] = "gzip"
        if fault.kind == "endless":
            response.content_length = None
            response.enable_chunked_encoding()
        await response.prepare(request)
        await self._write(request, response, body, fault)
        return response

    async def _write(
        self, request: web.Request, response: web.StreamResponse, body: bytes, fault: Fault
    ) -> None:
        stops = fault.after if fault.kind in ("cut", "stall") else len(body)
        for at in range(0, stops, CHUNK):
            chunk = body[at : min(at + CHUNK, stops)]
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            await response.write(chunk)
            self.served += len(chunk)
        if fault.kind == "stall":
            await self._held.wait()
        if fault.kind == "cut":
            assert request.transport
            request.transport.close()
        if fault.kind == "endless":
            for _ in range(64):
                await response.write(b"x" * CHUNK)


def _page(request: web.Request, entries: list[dict[str, object]], size: int) -> web.Response:
    """Makes a page of a list, with the address of the next one."""
    start = int(request.query.get("cursor", "0"))
    headers = {}
    if start + size < len(entries):
        following = request.url.update_query(cursor=start + size)
        headers["Link"] = f'<{following}>; rel="next"'
    return web.json_response(entries[start : start + size], headers=headers)


def _error(code: str, message: str) -> dict[str, str]:
    return {"X-Error-Code": code, "X-Error-Message": message}


def _status(fault: Fault) -> web.HTTPException:
    """Makes an error page as a hub or a proxy sends it."""
    error = web.HTTPException(
        headers={"Retry-After": fault.retry_after, **fault.headers}, text=fault.body
    )
    error.set_status(fault.status)
    return error
