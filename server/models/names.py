"""Checks names from outside that become paths: allows only what is harmless on every system."""

import re
from pathlib import Path, PurePosixPath

from server.errors import BadRequest
from server.sentences import Sentence

MAX_PART = 200
PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=@,() \-]*")
REPO = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,95}")
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")


def repo(text: str) -> str:
    """Checks a repository's name, which is owner/name. Raises BadRequest."""
    parts = text.split("/")
    if len(parts) != 2 or not all(REPO.fullmatch(part) and is_plain(part) for part in parts):
        raise BadRequest(Sentence("A repository is named owner/name."), "repo")
    return text


def revision(text: str) -> str:
    if not REVISION.fullmatch(text) or ".." in text:
        raise BadRequest(Sentence("That is not the name of a revision."), "revision")
    return text


def file(text: str) -> PurePosixPath:
    """Checks a path inside a repository: it stays inside any folder it is put into."""
    parts = text.split("/")
    if len(parts) > 6 or not all(PART.fullmatch(part) and is_plain(part) for part in parts):
        raise BadRequest(Sentence("That file name is not allowed."), "file")
    return PurePosixPath(*parts)


def inside(folder: Path, *parts: PurePosixPath | str) -> Path:
    """Returns the path below the folder. Raises BadRequest if it, or a link in it, leads away."""
    path = folder.joinpath(*map(str, parts))
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadRequest(Sentence("That file would be outside the model folder."), "file")
    return path


def is_plain(part: str) -> bool:
    """Whether the name of a file or folder is valid and unchanged on every system."""
    return (
        len(part) <= MAX_PART
        and ".." not in part
        and not part.endswith((".", " "))
        and not RESERVED.fullmatch(part)
    )
