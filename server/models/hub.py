"""A client for Hugging Face or a mirror: searches, lists repositories, fetches parts of files."""

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from server.egress import Egress
from server.errors import EgressRefused, HubFailed, HubGated, HubMissing, HubRefused
from server.face.core import is_here
from server.face.models import HubCard, HubModel
from server.models import names
from server.sentences import Sentence
from server.settings import NetworkSettings
from server.system.keychain import KeyringFailed
from server.system.lazy import Late

facts = Late("server.models.hub_facts")

log = logging.getLogger(__name__)
PUBLIC = "https://huggingface.co"
STORAGE = ("huggingface.co", "hf.co")
SEARCH, DOWNLOAD = Sentence("searching for models"), Sentence("downloading a model")
STALL_S = 30.0
README = "README.md"
MAX_CARD_BYTES = 512 * 1024
IN_CLEAR = Sentence(
    "The hub needs a token, and Moat sends none unencrypted: use its https address."
)
AGENT = "moat"


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
    updated: str = ""


@dataclass(frozen=True, slots=True)
class TrendingModel:
    about: HubModel
    template: str


@dataclass(frozen=True, slots=True)
class Part:
    """A response to a range request: its ETag and its body."""

    tag: str
    chunks: AsyncGenerator[bytes, None]


class HubQueries(Protocol):
    """The questions that `hub_facts` asks with the hub's own library, which is imported lazily."""

    async def search(self, text: str, limit: int) -> list[HubModel]: ...
    async def trending(self, publisher: str, limit: int) -> list[TrendingModel]: ...
    async def repository(self, repo: str, revision: str) -> Repository: ...
    async def card(self, repo: str) -> HubCard: ...


class Hub:
    """The hub in the settings. Every request goes through `Egress`."""

    def __init__(
        self,
        egress: Egress,
        network: Callable[[], NetworkSettings],
        token: Callable[[str], Awaitable[str | None]],
        stall_s: float = STALL_S,
    ) -> None:
        """`token` returns the token that belongs to a host, or None."""
        self._egress = egress
        self._network = network
        self._token = token
        self._stall_s = stall_s

    @property
    def address(self) -> str:
        return (self._network().hub or usual_address()).rstrip("/")

    @property
    def host(self) -> str:
        """The host name and port that a token belongs to."""
        return urlsplit(self.address).netloc.rpartition("@")[2].lower()

    async def search(self, text: str, limit: int = 30) -> list[HubModel]:
        """Returns repositories with GGUF files, the most downloaded first."""
        async with self._library() as library:
            return await library.search(text, limit)

    async def trending(self, publisher: str, limit: int) -> list[TrendingModel]:
        """Returns a publisher's repositories with GGUF files, the trending ones first."""
        async with self._library() as library:
            return await library.trending(publisher, limit)

    async def repository(self, repo: str, revision: str = "main") -> Repository:
        """Returns a repository at one commit, so that its files cannot change during a download."""
        async with self._library() as library:
            return await library.repository(names.repo(repo), names.revision(revision))

    async def card(self, repo: str) -> HubCard:
        """Returns a repository's card and its text, so that one can read them before a download.

        The text of a gated repository is a file that only those see who have accepted its terms.
        """
        async with self._library() as library:
            found = await library.card(names.repo(repo))
        try:
            raw = await self.beginning(found.repo, found.revision, README, MAX_CARD_BYTES)
        except (HubMissing, HubGated):
            return found
        except (HubFailed, EgressRefused) as error:
            return replace(found, problem=str(error))
        return replace(found, text=facts.text_of(raw))

    def login(self, variables: Mapping[str, str]) -> tuple[str, str]:
        """Returns the login of Hugging Face's programs. No hub but the usual one is offered it."""
        return find_login(variables) if self.address == usual_address().rstrip("/") else ("", "")

    def page(self, repo: str) -> str:
        return f"{self.address}/{names.repo(repo)}"

    async def beginning(self, repo: str, revision: str, path: str, count: int) -> bytes:
        """Returns the first bytes of a file, so that it can be judged before a download."""
        async with self.part(repo, revision, path, (0, count)) as part:
            found = b""
            async for chunk in part.chunks:
                found += chunk
            return found

    @asynccontextmanager
    async def part(
        self, repo: str, revision: str, path: str, span: tuple[int, int]
    ) -> AsyncIterator[Part]:
        """Requests the bytes from span[0] up to, not including, span[1], and yields no others."""
        start, end = span
        url = f"{self.address}/{names.repo(repo)}/resolve/{names.revision(revision)}/"
        url += quote(str(names.file(path)))
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        async with self._open(url, headers) as response:
            yield part_of(response, span)

    @asynccontextmanager
    async def _library(self) -> AsyncIterator[HubQueries]:
        """Yields the hub's own library. Use it only for what a person has requested."""
        self._allow(SEARCH)
        try:
            yield facts.HubLibrary(
                self._egress, self.address, await self._token_for(self.address), self._stall_s
            )
        except HubRefused as error:
            if self._is_private(self.address) or error.status != HubRefused.status:
                raise
            raise HubRefused(IN_CLEAR) from error
        except KeyringFailed as error:
            raise HubFailed(str(error)) from error

    @asynccontextmanager
    async def _open(self, url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
        self._allow(DOWNLOAD)
        try:
            token = await self._token_for(url)
            if token:
                headers = {**headers, "Authorization": f"Bearer {token}"}
            headers = {**headers, "User-Agent": AGENT}
            async with self._egress.request(
                "GET", url, DOWNLOAD, headers=headers, stall_s=self._stall_s
            ) as response:
                if response.status in (401, 403) and not self._is_private(url):
                    raise HubRefused(IN_CLEAR)
                if not 200 <= response.status < 300:
                    has_token = bool(token)
                    raise facts.refusal(response.status, response.headers, has_token=has_token)
                yield response
        except KeyringFailed as error:
            # This is temporary, like a broken connection: a download tries again.
            raise HubFailed(str(error)) from error
        except self._egress.failures as error:
            raise HubFailed(why(error)) from error

    async def _token_for(self, url: str) -> str | None:
        return await self._token(self.host) if self._may_have_token(url) else None

    def _may_have_token(self, url: str) -> bool:
        """Whether the URL may get the token: it is the hub itself and the connection is private."""
        there, own = urlsplit(url), urlsplit(self.address)
        is_hub = (there.scheme, there.netloc) == (own.scheme, own.netloc)
        return is_hub and self._is_private(url)

    @staticmethod
    def _is_private(url: str) -> bool:
        there = urlsplit(url)
        return there.scheme == "https" or is_here(there.netloc.rpartition("@")[2])

    def _allow(self, reason: str) -> None:
        """Allows requests that the user started. Only downloads may use the hub's storage hosts."""
        own = urlsplit(self.address).hostname or ""
        storage = (own, *STORAGE, *self._network().hub_storage) if reason == DOWNLOAD else ()
        self._egress.allow(self.address, reason, storage)


def usual_address() -> str:
    """Returns the hub's address if the settings name no other."""
    return os.environ.get("HF_ENDPOINT") or PUBLIC


LOGINS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
MAX_TOKEN = 1000


def find_login(variables: Mapping[str, str]) -> tuple[str, str]:
    """Returns where Hugging Face's programs keep a token (a variable or a file) and the token."""
    name = next(filter(variables.get, LOGINS), "")
    if token := variables.get(name, "").strip():
        return name, token
    home = variables.get("HF_HOME")
    cache = Path(variables.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(home) if home else cache / "huggingface"
    path = Path(variables.get("HF_TOKEN_PATH") or folder / "token").expanduser()
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, ValueError):
        return "", ""
    return (str(path), token) if token and len(token) <= MAX_TOKEN else ("", "")


def part_of(response: Any, span: tuple[int, int]) -> Part:
    """Checks the response to a range request. Raises HubFailed if it holds other bytes."""
    start, end = span
    _check_range(response, start)
    tag = response.headers.get("ETag", "")
    return Part(tag, _limited(response.content.iter_any(), end - start))


async def _limited(chunks: AsyncIterator[bytes], most: int) -> AsyncGenerator[bytes, None]:
    """Yields at most `most` bytes, even if the hub sends more."""
    async for chunk in chunks:
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


def _check_range(response: Any, start: int) -> None:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise HubFailed(Sentence("The hub sent the file in an unexpected encoding."))
    if response.status == 200 and start == 0:
        return
    said = response.headers.get("Content-Range", "")
    if response.status != 206 or not said.startswith(f"bytes {start}-"):
        raise HubFailed(Sentence("The hub (or a proxy) sent the wrong part of the file."))


def why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return Sentence("The hub stopped responding.")
    log.info("The connection to the hub broke: %r", error)
    if host := getattr(error, "host", None):
        return Sentence(
            "Cannot reach {0}. Check the connection, or set a mirror in Settings → Network.", host
        )
    return Sentence("The connection to the hub broke. Check the connection and try again.")
