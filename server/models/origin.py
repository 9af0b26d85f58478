"""Where an installed model came from, and whether the hub has another version of it now."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Event

from server.errors import BadRequest, HubMissing
from server.face.models import Newer, NewerState
from server.models import names
from server.models.downloads import disk
from server.models.gguf.files import shard_paths
from server.models.hub import Hub, RemoteFile, Repository

CACHE_FOLDER = "models--"
"""A path in the cache of Hugging Face's own programs: models--OWNER--NAME/snapshots/COMMIT/FILE."""
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Origin:
    repo: str
    files: tuple[str, ...]
    """The path of each part in the repository; the first is the one that is listed."""


@dataclass(frozen=True, slots=True)
class Found:
    newer: Newer
    repository: Repository | None = None
    files: tuple[RemoteFile, ...] = ()


def trace(path: Path, models: Path) -> Origin:
    """By the place where it lies: our folder and Hugging Face's cache name the repository."""
    try:
        parts = tuple(shard_paths(path))
        if cached := _in_cache(path):
            repo, first = cached
        else:
            owner, name, *rest = path.relative_to(models).parts
            repo, first = f"{owner}/{name}", PurePosixPath(*rest)
        files = tuple(str(names.file(str(first.with_name(part.name)))) for part in parts)
        return Origin(names.repo(repo), files)
    except (ValueError, BadRequest):
        message = "Moat does not know from which repository this file is."
        raise BadRequest(message, "name") from None


def _in_cache(path: Path) -> tuple[str, PurePosixPath] | None:
    """The repository and the file in it, where the path is one of Hugging Face's cache."""
    parts = path.parts
    for place, part in enumerate(parts[:-3]):
        owner, mark, name = part.removeprefix(CACHE_FOLDER).partition("--")
        if part.startswith(CACHE_FOLDER) and mark and parts[place + 1] == "snapshots":
            return f"{owner}/{name}", PurePosixPath(*parts[place + 3 :])
    return None


async def compare(hub: Hub, name: str, path: Path, models: Path) -> Found:
    """The sizes first, then every byte: a file may have been replaced by one as long."""
    origin = trace(path, models)
    address = hub.page(origin.repo)
    try:
        there = await hub.repository(origin.repo)
    except HubMissing:
        return Found(Newer(name, origin.repo, "gone", address))
    by_path = {file.path: file for file in there.files}
    if not all(file in by_path for file in origin.files):
        return Found(Newer(name, there.repo, "gone", address, there.updated))
    files = tuple(by_path[file] for file in origin.files)
    is_same = await _is_same(tuple(shard_paths(path)), files)
    state: NewerState = "same" if is_same else "newer"
    size = sum(file.size_bytes for file in files)
    return Found(Newer(name, there.repo, state, address, there.updated, size), there, files)


async def _is_same(paths: tuple[Path, ...], files: tuple[RemoteFile, ...]) -> bool:
    pairs = tuple(zip(paths, files, strict=True))
    if any(path.stat().st_size != file.size_bytes for path, file in pairs):
        return False
    given_up = Event()
    try:
        for path, file in pairs:
            if await asyncio.to_thread(_digest, path, given_up) != file.sha256:
                return False
    finally:
        given_up.set()
    return True


def _digest(path: Path, given_up: Event) -> str:
    """In Hugging Face's cache a file is a link to one that is named by its digest."""
    kept = path.resolve()
    if kept.parent.name == "blobs" and DIGEST.fullmatch(kept.name):
        return kept.name
    return disk.sha256(path, given_up.is_set)
