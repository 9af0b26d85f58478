"""Which web pages can be allowed at all: those with an address, written as browsers send it."""

import re
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

BAD_ORIGIN = "origin"
ORIGIN_FORM = "A web page is allowed as https://host or http://host:port."
HOST_FORM = "A host of files is allowed as https://host or http://host:port."
DEFAULT_PORTS = {"https": 443, "http": 80}
_ORIGIN = re.compile(
    r"(?!(?:file|data|blob|about|javascript):)[a-z][a-z0-9+.-]*://"
    r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
)
"""Extensions of browsers and desktop programs have schemes of their own: app://obsidian.md."""

LONGEST = 300
"""Characters: a host name has at most 253. A longer origin could not be shown whole."""


def checked_origin(text: str) -> str:
    """Not `null`, which files and many others share, and no patterns: each page by its name."""
    origin = text.strip().removesuffix("/").lower()
    if not can_be_allowed(origin):
        raise PydanticCustomError(BAD_ORIGIN, ORIGIN_FORM)
    return origin


def checked_file_host(text: str) -> str:
    """The origin of a host that files are fetched from; without a scheme it is https."""
    address = text.strip().removesuffix("/").lower()
    address = address if "://" in address else f"https://{address}"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise PydanticCustomError(BAD_ORIGIN, HOST_FORM) from None
    if parts.scheme not in DEFAULT_PORTS or not can_be_allowed(address) or port == 0:
        raise PydanticCustomError(BAD_ORIGIN, HOST_FORM)
    return address.removesuffix(f":{DEFAULT_PORTS[parts.scheme]}")


def can_be_allowed(origin: str) -> bool:
    return len(origin) <= LONGEST and _ORIGIN.fullmatch(origin) is not None
