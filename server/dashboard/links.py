"""Fetches files that come as links, from hosts that the user has allowed, within limits."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import replace

from yarl import URL

from server.asking.ask import LinkedFiles
from server.dashboard.query import Element, Item, Query
from server.egress import Egress
from server.errors import EgressRefused
from server.sentences import Sentence
from server.settings import NetworkSettings, can_be_allowed
from server.system.limits import one_line

REASON = "files behind links"
MAX_BYTES = 48 * 1024 * 1024
"""The most bytes of all files of a request together."""
MOST_LINKS = 8
PATIENCE_S = 60.0
"""Seconds for all files of a request together."""
STALL_S = 15.0
"""Seconds without a byte after which a download fails."""
KEPT_S = 900.0
"""Seconds for which a file is kept: a plan makes several requests for one question."""
CHUNK = 64 * 1024
NAME_CHARACTERS = 80
BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "pdf": (b"%PDF",),
    "png": (b"\x89PNG",),
    "jpg": (b"\xff\xd8\xff",),
    "jpeg": (b"\xff\xd8\xff",),
    "xlsx": (b"PK\x03\x04",),
    "docx": (b"PK\x03\x04",),
    "xls": (b"\xd0\xcf\x11\xe0", b"\x09\x08", b"PK\x03\x04"),
}
"""The bytes with which files of a type begin. A PDF may have up to a kilobyte before them."""
TEXTS = frozenset({"", "object", "csv", "txt", "md", "html"})
WHERE = 'Settings, Network, "Hosts files may be downloaded from"'


class NotFetched(Exception):
    """The file was not fetched. The message says why, in words for users."""


class AllowedFiles:
    """Fetches files from the hosts that the settings allow, and keeps them for a while."""

    def __init__(self, door: Egress, network: Callable[[], NetworkSettings]) -> None:
        self._door = door
        self._network = network
        self._hosts: tuple[str, ...] = ()
        self._kept: dict[str, tuple[float, bytes]] = {}

    async def fetch(self, item: Item, room: int = MAX_BYTES) -> bytes:
        """Returns the file, at most `room` bytes. Raises NotFetched."""
        name = _plain_name(item.filename) or "A file"
        self._check(item, name)
        data = self._find_kept(item.url)
        if data is None:
            data = await self._read(item.url, name, room)
            self._keep(item.url, data)
        _check_kind(item.kind, data, name)
        return data

    def _check(self, item: Item, name: str) -> None:
        """Raises NotFetched unless the settings allow the link. Allows egress to their hosts."""
        if item.kind not in BEGINNINGS and item.kind not in TEXTS:
            raise NotFetched(f"{name} came as a link to a kind of file that Moat does not read.")
        if self._network().offline:
            raise NotFetched(f"{name} came as a link, and Moat is set to offline: nothing is read.")
        origin = _origin_of(item.url)
        if not origin:
            raise NotFetched(f"{name} came as a link that Moat does not open.")
        hosts = self._network().file_hosts
        if origin not in hosts:
            raise NotFetched(
                f"{name} came as a link to `{origin}`, which is not allowed yet. Allow it once "
                f"under {WHERE}, or with `moat allow --files {origin}`."
            )
        if hosts != self._hosts:
            self._door.forget(REASON)
            for host in hosts:
                self._door.allow(host, REASON, stays=True)
            self._hosts = hosts

    async def _read(self, url: str, name: str, room: int) -> bytes:
        held = bytearray()
        too_big = NotFetched(Sentence("{0} is too big to read.", name))
        try:
            async with self._door.request("GET", url, REASON, stall_s=STALL_S) as response:
                if response.status != 200:
                    why = f"the host answered with {response.status}; the link may be too old"
                    raise NotFetched(f"{name} could not be fetched: {why}.")
                if (response.content_length or 0) > room:
                    raise too_big
                async for chunk in response.content.iter_chunked(CHUNK):
                    held += chunk
                    if len(held) > room:
                        raise too_big
        except EgressRefused as error:
            raise NotFetched(f"{name} could not be fetched: {error}") from error
        except self._door.failures as error:
            why = one_line(str(error))[:200] or "the host does not answer"
            raise NotFetched(f"{name} could not be fetched: {why}.") from error
        return bytes(held)

    def _find_kept(self, url: str) -> bytes | None:
        now = time.monotonic()
        self._kept = {one: kept for one, kept in self._kept.items() if now - kept[0] < KEPT_S}
        found = self._kept.get(url)
        return found[1] if found else None

    def _keep(self, url: str, data: bytes) -> None:
        self._kept[url] = (time.monotonic(), data)
        while sum(len(kept) for _, kept in self._kept.values()) > MAX_BYTES:
            del self._kept[next(iter(self._kept))]


async def with_files(query: Query, files: LinkedFiles) -> Query:
    """Returns the query with the files behind its links, or with the reason why each is missing."""
    links = dict.fromkeys(query.links)
    got: dict[Item, Item] = {}
    end, room = time.monotonic() + PATIENCE_S, MAX_BYTES
    for number, item in enumerate(links):
        if number >= MOST_LINKS:
            more = f"More than {MOST_LINKS} files came as links; the others were left out."
            got[item] = replace(item, problem=more)
            continue
        try:
            async with asyncio.timeout(end - time.monotonic()):
                data = await files.fetch(item, room)
            room -= len(data)
            got[item] = replace(item, fetched=data)
        except TimeoutError:
            got[item] = replace(item, problem="A file that came as a link took too long.")
        except NotFetched as error:
            got[item] = replace(item, problem=str(error))
    return _replaced(query, got)


def _replaced(query: Query, got: dict[Item, Item]) -> Query:
    def with_items(element: Element) -> Element:
        return replace(element, items=tuple(got.get(item, item) for item in element.items))

    results = [replace(one, elements=tuple(map(with_items, one.elements))) for one in query.results]
    context = [replace(one, element=with_items(one.element)) for one in query.context]
    made = replace(query, results=tuple(results), context=tuple(context))
    new = [element for one in made.new_results for element in one.elements]
    new += [one.element for one in context]
    problems = (item.problem for element in new for item in element.items if item.problem)
    return replace(made, missing_files=tuple(dict.fromkeys(problems)))


def _check_kind(kind: str, data: bytes, name: str) -> None:
    beginnings = BEGINNINGS.get(kind)
    if beginnings is None:
        return
    is_one = data.startswith(beginnings) or (kind == "pdf" and b"%PDF" in data[:1024])
    if not is_one:
        raise NotFetched(f"{name} is not of the kind {kind}, as its link claims.")


def _plain_name(filename: str) -> str:
    """Returns a filename without characters that an answer would show as a link or in bold."""
    return re.sub(r"[^\w .,()-]", "_", one_line(filename))[:NAME_CHARACTERS]


def _origin_of(url: str) -> str:
    """Returns a link's origin, or "" if it is never opened: it is not a web address, or has a user
    name or a password."""
    try:
        parsed = URL(url)
        origin = str(parsed.origin())
    except ValueError:
        return ""
    has_secret = parsed.user is not None or parsed.password is not None
    is_web = parsed.scheme in ("http", "https") and can_be_allowed(origin)
    return origin if is_web and not has_secret else ""
