"""A site for tests of server.web. Parts that a test does not give are missing."""

from typing import Any

from server.errors import NotSupported
from server.face.core import About
from server.web.app import Site


async def refuse(_asked: Any) -> Any:
    raise NotSupported("There is no such thing here.")


async def no_tools(_about: About) -> tuple[()]:
    return ()


def make_site(converse: Any, answer: Any, facts: Any, max_requests: Any, **more: Any) -> Site:
    """Makes a site. `more` are further parts by their names."""
    missing = {
        "look": refuse,
        "replied": lambda _about: None,
        "is_own": lambda _sent: False,
        "cancel": lambda _request_id: None,
        "manage": refuse,
        "name_of": lambda _sent: None,
        "narrow": lambda known, _holder: known,
        "tools": no_tools,
    }
    return Site(converse, answer, facts, max_requests, **{**missing, **more})
