"""The hub's own library and Moat are asked the same of the fake hub.

The library understands its answers, so that they have the hub's shapes; and Moat finds the same.
"""

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from server.egress import Egress
from server.errors import AppError, HubGated, HubMissing, HubRefused
from server.models.hub import README, Hub, find_login
from server.settings import NetworkSettings
from tests.kit.download_desk import client
from tests.kit.fake_hub import COMMIT, FakeHub

REPO, OTHER, FILE = "maker/tiny-GGUF", "maker/tiny-too-GGUF", "q4/a-Q4_K_M.gguf"
BYTES, TOKEN, WORDS = b"x" * 50_000, "hf_valid", b"---\nlicense: apache-2.0\n---\n# Tiny\n"
Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
async def fake() -> AsyncIterator[FakeHub]:
    files = {REPO: {FILE: BYTES, "b.gguf": b"y"}, OTHER: {FILE: b"z"}, "maker/tiny-3": {}}
    async with FakeHub(files, cards={REPO: WORDS}, token=TOKEN).running() as running:
        yield running


@pytest.fixture
async def library(fake: FakeHub, tmp_path: Path) -> AsyncIterator[Ask]:
    """Asks the library. It keeps what it downloads below `tmp_path`."""
    command = (sys.executable, "-m", "tests.kit.hub_library")
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "HF_ENDPOINT": fake.address, "HF_HOME": str(tmp_path / "home")},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout

    async def ask(question: str, about: str, token: str = "") -> Any:
        asked = {"question": question, "about": about, "token": token}
        asked |= {"address": fake.address, "folder": str(tmp_path / "cache")}
        stdin.write(json.dumps(asked).encode() + b"\n")
        return json.loads(await stdout.readline())

    yield ask
    stdin.close()
    await process.wait()


@pytest.fixture
async def hub(fake: FakeHub) -> AsyncIterator[Callable[[str], Hub]]:
    """Makes our client with a token, or without one."""
    egress = Egress(NetworkSettings)

    def made(token: str) -> Hub:
        async def find(_host: str) -> str | None:
            return token or None

        return client(fake, egress, find)

    yield made
    await egress.close()


async def test_both_read_the_same_of_a_repository(
    fake: FakeHub, library: Ask, hub: Callable[[str], Hub]
):
    issue = {"path": "b.gguf", "level": "unsafe"}
    fake.scan = {"scansDone": True, "filesWithIssues": [issue]}
    fake.page_size = 1
    for name in (REPO, "old/name"):
        fake.moved["old/name"] = REPO
        found, card = await hub("").repository(name), await hub("").card(name)
        seen = [found.repo, found.revision, found.gated, found.updated]
        issues = [{"path": issue.file, "level": issue.level} for issue in card.issues]
        assert await library("describe", name) == [*seen, issues]
        files = [[file.path, file.size_bytes, file.sha256] for file in found.files]
        assert await library("list_files", name) == files
        assert len(files) == 2


async def test_both_find_the_first_of_many_pages(
    fake: FakeHub, library: Ask, hub: Callable[[str], Hub]
):
    found = [[model.repo, model.downloads] for model in await hub("").search("tiny", 2)]
    assert len(fake.seen) == 1, "the second page was not asked for"
    assert await library("search", "tiny") == found
    assert [repo for repo, _ in found] == [REPO, OTHER]


async def test_both_fetch_the_same_bytes(
    fake: FakeHub, library: Ask, hub: Callable[[str], Hub], tmp_path: Path
):
    for path, data in ((FILE, BYTES), (README, WORDS)):
        digest, place = await library("fetch", f"{REPO}/{path}")
        assert digest == hashlib.sha256(data).hexdigest()
        assert place == f"models--maker--tiny-GGUF/snapshots/{COMMIT}/{path}"
        assert (tmp_path / "cache" / place).resolve().parent.name == "blobs"
        assert await hub("").beginning(REPO, COMMIT, path, len(BYTES)) == data


def be_gated(fake: FakeHub) -> None:
    fake.gated.add(REPO)


def be_unaccepted(fake: FakeHub) -> None:
    fake.gated.add(REPO)
    fake.unaccepted.add(REPO)


def be_private(fake: FakeHub) -> None:
    fake.private.add(REPO)


def be_deleted(fake: FakeHub) -> None:
    del fake.files[REPO]


def be_open(_fake: FakeHub) -> None:
    pass


STRANGER = "HfHubHTTPError"
"""Over https, this is the library's RepositoryNotFoundError: see test_hub_facts.py."""


class Closed(NamedTuple):
    make: Callable[[FakeHub], None]
    token: str
    wanted: str
    """A file; empty: the list of files."""
    theirs: str = ""
    ours: type[AppError] = AppError
    words: str = ""


CLOSED = [
    Closed(be_gated, "", ""),
    Closed(be_gated, "", FILE, "GatedRepoError", HubGated, "needs a token"),
    Closed(be_gated, TOKEN, FILE),
    Closed(be_unaccepted, TOKEN, ""),
    Closed(be_unaccepted, TOKEN, FILE, "GatedRepoError", HubGated, "accept the model's terms"),
    Closed(be_private, "", "", STRANGER, HubMissing, "a private one needs its token"),
    Closed(be_private, "", FILE, STRANGER, HubMissing, "a private one needs its token"),
    Closed(be_private, TOKEN, ""),
    Closed(be_private, TOKEN, FILE),
    Closed(be_deleted, "", "", STRANGER, HubMissing, "Check its name"),
    Closed(be_deleted, "", FILE, STRANGER, HubMissing, "Check its name"),
    Closed(be_deleted, TOKEN, "", "RepositoryNotFoundError", HubMissing, "no such repository"),
    Closed(be_deleted, TOKEN, FILE, "RepositoryNotFoundError", HubMissing, "no such repository"),
    Closed(be_open, "hf_revoked", "", STRANGER, HubRefused, "not accept the saved token"),
    Closed(be_open, "hf_revoked", FILE, STRANGER, HubRefused, "not accept the saved token"),
    Closed(be_open, "", "no.gguf", "RemoteEntryNotFoundError", HubMissing, "no such file"),
]


@pytest.mark.parametrize("closed", CLOSED)
async def test_what_is_closed_to_one_is_closed_to_both(
    fake: FakeHub, library: Ask, hub: Callable[[str], Hub], closed: Closed
):
    closed.make(fake)
    file, ours = closed.wanted, hub(closed.token)
    question, about = ("fetch", f"{REPO}/{file}") if file else ("list_files", REPO)
    answer = await library(question, about, closed.token)
    assert (answer["error"] if isinstance(answer, dict) else "") == closed.theirs
    asking = ours.beginning(REPO, COMMIT, file, 9) if file else ours.repository(REPO)
    if not closed.theirs:
        assert await asking
        return
    with pytest.raises(AppError, match=closed.words) as caught:
        await asking
    assert type(caught.value) is closed.ours


async def test_of_a_gated_repository_the_licence_is_read_before_its_terms_are_accepted(
    fake: FakeHub, hub: Callable[[str], Hub]
):
    fake.gated.add(REPO)
    fake.scan = {"scansDone": True, "filesWithIssues": []}
    card = await hub("").card(REPO)
    assert (card.licence, card.gated, card.is_scanned, card.text) == ("apache-2.0", True, True, "")
    assert (await hub(TOKEN).card(REPO)).text == "# Tiny"


@pytest.mark.parametrize(
    ("variables", "files"),
    [
        ({"HF_TOKEN": "hf_a"}, {"token": "hf_b"}),
        ({"HUGGING_FACE_HUB_TOKEN": "hf_a"}, {}),
        ({"HF_TOKEN": " ", "HUGGING_FACE_HUB_TOKEN": "hf_a"}, {"token": "hf_b"}),
        ({"HF_TOKEN": "hf_a\n"}, {}),
        ({}, {"token": "hf_b\r\n"}),
        ({}, {"token": "\n"}),
        ({}, {}),
        ({"HF_TOKEN_PATH": "{home}/mine"}, {"mine": "hf_c", "token": "hf_b"}),
        ({"HF_TOKEN_PATH": "{home}/nowhere"}, {"token": "hf_b"}),
    ],
)  # fmt: skip
async def test_both_find_the_same_login(
    tmp_path: Path, variables: dict[str, str], files: dict[str, str]
):
    """Asks the library in a new process for each case: it reads most variables only once."""
    home = tmp_path / "home"
    home.mkdir()
    for name, text in files.items():
        (home / name).write_text(text)
    given = {name: text.replace("{home}", str(home)) for name, text in variables.items()}
    given["HF_HOME"] = str(home)
    asked = {"question": "find_token", "about": "", "token": "", "address": "", "folder": ""}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.kit.hub_library"),
        env={**os.environ, **given, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "0"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate(json.dumps(asked).encode())
    assert find_login(given)[1] == json.loads(out)
