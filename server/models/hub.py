"""Hugging Face, or a mirror of it: search, what a repository holds, parts of its files."""

import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from server.egress import Egress
from server.errors import HubFailed, HubRefused
from server.face.models import HubModel
from server.models import names
from server.settings import NetworkSettings
from server.system.keychain import KeyringFailed

PUBLIC = "https://huggingface.co"
STORAGE = ("huggingface.co", "hf.co")
SEARCH, DOWNLOAD = "searching for models", "downloading a model"
STALL_S = 30.0
MAX_ANSWER_BYTES = 32 << 20
MAX_PAGES = 20
NEXT_PAGE = re.compile(r'<([^<>]+)>;\s*rel="next"')
IN_CLEAR = "The hub needs a token, and Moat sends none unencrypted: use its https address."
AGENT = "moat"
T = TypeVar("T")


class _Lfs(BaseModel):
    oid: str
    size: int


class _Entry(BaseModel):
    type: str
    path: str
    size: int = 0
    lfs: _Lfs | None = None


class _Gguf(BaseModel):
    total: int = 0
    architecture: str = ""


class _Repo(BaseModel):
    id: str
    sha: str = ""
    downloads: int = 0
    likes: int = 0
    gated: bool | str = False
    tags: tuple[str, ...] = ()
    updated: str = Field(default="", alias="lastModified")
    gguf: _Gguf | None = None


@dataclass(frozen=True, slots=True)
class RemoteFile:
    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Repository:
    repo: str
    revision: str
    licence: str
    gated: bool
    files: tuple[RemoteFile, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The answer to a request for a range."""

    tag: str
    chunks: AsyncGenerator[bytes, None]


class Hub:
    def __init__(
        self,
        egress: Egress,
        network: Callable[[], NetworkSettings],
        token: Callable[[str], Awaitable[str | None]],
        stall_s: float = STALL_S,
    ) -> None:
        """`token`: the token that belongs to a host, if there is one."""
        self._egress = egress
        self._network = network
        self._token = token
        self._stall_s = stall_s

    @property
    def address(self) -> str:
        return (self._network().hub or usual_address()).rstrip("/")

    @property
    def host(self) -> str:
        """Name and port: what a token belongs to."""
        return urlsplit(self.address).netloc.rpartition("@")[2].lower()

    async def search(self, text: str, limit: int = 30) -> list[HubModel]:
        """Repositories with GGUF files, the most used first."""
        wanted = ["downloads", "likes", "gated", "tags", "lastModified", "gguf"]
        query = [("search", text), ("filter", "gguf"), ("sort", "downloads"), ("limit", str(limit))]
        query += [("expand[]", one) for one in wanted]
        found, _ = await self._read(f"/api/models?{urlencode(query)}", list[_Repo], SEARCH)
        return [
            HubModel(
                one.id,
                one.downloads,
                one.likes,
                _licence(one.tags),
                bool(one.gated),
                one.updated[:10],
                one.gguf.architecture if one.gguf else "",
                one.gguf.total if one.gguf else 0,
            )
            for one in found
        ]

    async def repository(self, repo: str, revision: str = "main") -> Repository:
        """What it holds at one commit, so that nothing can change on the way."""
        names.repo(repo)
        path = f"/api/models/{repo}/revision/{quote(names.revision(revision), safe='')}"
        about, _ = await self._read(path, _Repo, SEARCH)
        commit = names.revision(about.sha or revision)
        page: str | None = f"/api/models/{repo}/tree/{commit}?recursive=true"
        entries: list[_Entry] = []
        for _ in range(MAX_PAGES):
            if page is None:
                break
            more, page = await self._read(page, list[_Entry], SEARCH)
            entries += more
        files = tuple(
            RemoteFile(one.path, one.lfs.size, one.lfs.oid)
            for one in entries
            if one.type == "file" and one.lfs is not None
        )
        return Repository(repo, commit, _licence(about.tags), bool(about.gated), files)

    def page(self, repo: str) -> str:
        return f"{self.address}/{names.repo(repo)}"

    async def beginning(self, repo: str, revision: str, path: str, count: int) -> bytes:
        """The first bytes of a file: enough to know what it needs before it is fetched."""
        async with self.part(repo, revision, path, (0, count)) as part:
            found = b""
            async for chunk in part.chunks:
                found += chunk
            return found

    @asynccontextmanager
    async def part(
        self, repo: str, revision: str, path: str, span: tuple[int, int]
    ) -> AsyncIterator[Part]:
        """Bytes from span[0] up to, not including, span[1]: never more than asked for."""
        start, end = span
        url = f"{self.address}/{names.repo(repo)}/resolve/{names.revision(revision)}/"
        url += quote(str(names.file(path)))
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        async with self._open(url, DOWNLOAD, headers) as response:
            _check_range(response, start)
            tag = response.headers.get("ETag", "")
            yield Part(tag, _limited(response.content.iter_any(), end - start))

    async def _read(self, path: str, kind: type[T], reason: str) -> tuple[T, str | None]:
        """A checked JSON answer and the address of its next page."""
        url = path if path.startswith("http") else self.address + path
        async with self._open(url, reason, {"Accept": "application/json"}) as response:
            body = b""
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > MAX_ANSWER_BYTES:
                    raise HubFailed("The hub's answer is far too long.")
            following = NEXT_PAGE.search(response.headers.get("Link", ""))
        try:
            found = TypeAdapter(kind).validate_json(body)
        except ValidationError as error:
            raise HubFailed("The hub's answer cannot be understood.") from error
        return found, following[1] if following else None

    @asynccontextmanager
    async def _open(self, url: str, reason: str, headers: dict[str, str]) -> AsyncIterator[Any]:
        self._allow(reason)
        try:
            token = await self._token(self.host) if self._may_have_token(url) else None
            if token:
                headers = {**headers, "Authorization": f"Bearer {token}"}
            headers = {**headers, "User-Agent": AGENT}
            async with self._egress.request(
                "GET", url, reason, headers=headers, stall_s=self._stall_s
            ) as response:
                if response.status in (401, 403) and not self._is_private(url):
                    raise HubRefused(IN_CLEAR)
                _check_status(response.status, response.headers, has_token=bool(token))
                yield response
        except KeyringFailed as error:
            # For a moment, as a broken connection: a download tries again.
            raise HubFailed(str(error)) from error
        except self._egress.failures as error:
            raise HubFailed(_why(error)) from error

    def _may_have_token(self, url: str) -> bool:
        """Only the hub itself, and never in clear over a network."""
        there, own = urlsplit(url), urlsplit(self.address)
        is_hub = (there.scheme, there.netloc) == (own.scheme, own.netloc)
        return is_hub and self._is_private(url)

    @staticmethod
    def _is_private(url: str) -> bool:
        there = urlsplit(url)
        return there.scheme == "https" or is_loopback(there.hostname or "")

    def _allow(self, reason: str) -> None:
        """The user started this; the hub's storage may be used for downloads only."""
        own = urlsplit(self.address).hostname or ""
        storage = (own, *STORAGE, *self._network().hub_storage) if reason == DOWNLOAD else ()
        self._egress.allow(self.address, reason, storage)


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def usual_address() -> str:
    """The hub where the settings name no other."""
    return os.environ.get("HF_ENDPOINT") or PUBLIC


async def _limited(chunks: AsyncIterator[bytes], most: int) -> AsyncGenerator[bytes, None]:
    """No more than was asked for, however much is sent."""
    async for chunk in chunks:
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


def _check_status(status: int, headers: Any, *, has_token: bool) -> None:
    if status in (401, 403):
        if has_token:
            raise HubRefused("The hub refuses: accept the model's terms on its page first.")
        raise HubRefused(
            "The hub needs a token: accept the model's terms on its page, then add a token "
            "under Models → Downloads."
        )
    if status in (404, 410):
        raise HubRefused("The hub has no such repository or file.")
    if status == 429:
        error = HubFailed("The hub asks to wait: too many requests.")
        wait = headers.get("Retry-After", "")
        error.retry_after_s = min(int(wait), 3600) if wait.isdigit() else None
        raise error
    if status == 416 or not 200 <= status < 300:
        raise HubFailed(f"The hub answered with the error {status}.")


def _check_range(response: Any, start: int) -> None:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise HubFailed("The hub sent the file in an unexpected encoding.")
    if response.status == 200 and start == 0:
        return
    said = response.headers.get("Content-Range", "")
    if response.status != 206 or not said.startswith(f"bytes {start}-"):
        raise HubFailed("The hub (or a proxy) sent the wrong part of the file.")


def _licence(tags: tuple[str, ...]) -> str:
    return next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), "")


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "The hub stopped responding."
    return f"The connection to the hub broke ({type(error).__name__})."
