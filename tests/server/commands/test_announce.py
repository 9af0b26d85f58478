from typing import Literal

import pytest

from server.commands.serve import MOST_PAGES, PAGES_S, Announcer
from server.face.core import Knock, ServerStatus
from tests.kit.fake_core import FakeCore


def test_each_thing_is_said_once_and_https_with_what_trusts_it() -> None:
    said: list[str] = []
    core = FakeCore()
    Announcer(said.append).watch(core)
    said.clear()
    status = ServerStatus(
        "ready",
        "http://127.0.0.1:7000",
        secure_address="https://localhost:7443",
        trust="certutil -A",
    )
    core.server.set(status)
    core.server.set(ServerStatus("starting"))
    core.server.set(status)
    assert said == [
        "Moat serves on http://127.0.0.1:7000  (stop with Ctrl-C)",
        "HTTPS: https://localhost:7443  (trust it once: certutil -A)",
    ]


def knock(
    origin: str, at: float = 0.0, outcome: Literal["let in", "origin", "key"] = "origin"
) -> Knock:
    return Knock(at, origin, "POST", "Mozilla", outcome)


def announced(*knocks: Knock) -> list[str]:
    said: list[str] = []
    core = FakeCore()
    Announcer(said.append).watch(core)
    said.clear()
    for number in range(len(knocks)):
        core.knocks.set(knocks[: number + 1])
    return said


def test_a_page_that_knocks_is_announced_once_with_the_command_that_allows_it() -> None:
    page = "https://app.example:3000"
    assert announced(knock(page), knock(page, 1), knock("http://in.example", 2, "let in")) == [
        f"A page at {page} wants to connect. Allow it with: moat allow {page}"
    ]


@pytest.mark.parametrize(
    "origin",
    ["null", "", "https://x.example\x1b[2J", "https://x\n.example", "file://", "https://*"],
)
def test_what_cannot_be_allowed_is_not_written_to_the_terminal(origin: str) -> None:
    assert announced(knock(origin)) == []


def test_made_up_pages_do_not_flood_the_terminal() -> None:
    many = [knock(f"https://{number}.example", at=number / 100) for number in range(100)]
    assert len(announced(*many)) == MOST_PAGES
    later = knock("https://late.example", at=PAGES_S + 1)
    assert "https://late.example" in announced(*many, later)[-1]
