import pytest
from pydantic import ValidationError

from server.settings import Settings, can_be_allowed


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://pro.openbb.co", "https://pro.openbb.co"),
        (" https://Pro.OpenBB.co/ ", "https://pro.openbb.co"),
        ("http://localhost:1420", "http://localhost:1420"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("app://obsidian.md", "app://obsidian.md"),
        ("chrome-extension://jfgfiigpkhlkbnfnbobbkinehhfdhndo", ""),
    ],
)
def test_a_page_is_kept_as_browsers_send_it(given: str, kept: str):
    kept = kept or given
    assert Settings().changed("server.origins", [given]).server.origins == (kept,)
    assert can_be_allowed(kept)


@pytest.mark.parametrize(
    "given",
    [
        "null",
        "*",
        "",
        "https://",
        "https://*",
        "https://*.example",
        "file://",
        "file:///page.html",
        "file://host",
        "app://",
        "https://a.example/page",
        "https://a.example?x",
        "https://user@a.example",
        "https://a.example:port",
        "a.example",
        "data:text/html,x",
    ],
)
def test_what_is_no_page_of_its_own_cannot_be_allowed(given: str):
    with pytest.raises(ValidationError, match="A web page is allowed as"):
        Settings().changed("server.origins", [given])
    assert not can_be_allowed(given)
