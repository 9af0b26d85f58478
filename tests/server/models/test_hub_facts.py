"""The hub's library through our door: what it finds, and every way in which the hub says no."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import huggingface_hub.errors as hf
import pytest
from huggingface_hub.utils import hf_raise_for_status

from server.egress import Egress
from server.errors import (
    AppError,
    HubDisabled,
    HubFailed,
    HubGated,
    HubMissing,
    HubRefused,
)
from server.face.models import ScanIssue
from server.models import hub_facts
from server.models.hub import Hub, find_login
from server.settings import NetworkSettings
from tests.kit.download_desk import client
from tests.kit.fake_hub import BAD_TOKEN, COMMIT, STRANGER, FakeHub, Fault

REPO = "maker/tiny-GGUF"
LIMITED = {"ratelimit": '"api";r=0;t=55', "ratelimit-policy": '"fixed window";"api";q=500;w=300'}
LEFT = {"ratelimit": '"api";r=7;t=55'}
DISABLED = {"X-Error-Message": "Access to this resource is disabled."}


@pytest.fixture
async def fake() -> AsyncIterator[FakeHub]:
    async with FakeHub({REPO: {"a-Q4_K_M.gguf": b"x" * 5000}}).running() as running:
        yield running


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    made = Egress(NetworkSettings)
    yield made
    await made.close()


@pytest.fixture
def hub(fake: FakeHub, egress: Egress) -> Hub:
    return client(fake, egress)


def error_code(kind: str) -> dict[str, str]:
    return {"X-Error-Code": kind}


REFUSED: list[tuple[int, dict[str, str], type[AppError], type[Exception]]] = [
    (401, error_code("GatedRepo"), HubGated, hf.GatedRepoError),
    (403, error_code("GatedRepo"), HubGated, hf.GatedRepoError),
    (401, {}, HubMissing, hf.RepositoryNotFoundError),
    (401, STRANGER, HubMissing, hf.RepositoryNotFoundError),
    (401, error_code("RepoNotFound"), HubMissing, hf.RepositoryNotFoundError),
    (401, BAD_TOKEN, HubRefused, hf.HfHubHTTPError),
    (403, {}, HubRefused, hf.HfHubHTTPError),
    (403, DISABLED, HubDisabled, hf.DisabledRepoError),
    (404, error_code("RepoNotFound"), HubMissing, hf.RepositoryNotFoundError),
    (404, error_code("RevisionNotFound"), HubMissing, hf.RevisionNotFoundError),
    (404, error_code("EntryNotFound"), HubMissing, hf.RemoteEntryNotFoundError),
    (404, {}, HubMissing, hf.HfHubHTTPError),
    (410, {}, HubMissing, hf.HfHubHTTPError),
    (400, {}, HubFailed, hf.BadRequestError),
    (429, LIMITED, HubFailed, hf.HfHubHTTPError),
    (500, {}, HubFailed, hf.HfHubHTTPError),
    (502, {}, HubFailed, hf.HfHubHTTPError),
    (503, {}, HubFailed, hf.HfHubHTTPError),
]


@pytest.mark.parametrize(("status", "headers", "ours", "theirs"), REFUSED)
async def test_a_refusal_is_the_kind_that_the_library_sees_too(
    hub: Hub, fake: FakeHub, status: int, headers: dict[str, str], ours: type[AppError],
    theirs: type[Exception],
):  # fmt: skip
    fake.api_faults.append(Fault("status", status=status, headers=headers))
    with pytest.raises(ours) as caught:
        await hub.repository(REPO)
    assert type(caught.value) is ours
    # The library tells repositories from other things only over https.
    request = httpx2.Request("GET", f"https://hub.example/api/models/{REPO}")
    with pytest.raises(theirs) as seen:
        hf_raise_for_status(httpx2.Response(status, headers=headers, request=request))
    assert type(seen.value) is theirs
    assert len(fake.seen) == 1, "the library must not ask again by itself"


@pytest.mark.parametrize(
    ("headers", "after", "wait"),
    [
        (LIMITED, "0", 55),
        (LIMITED, "7", 55),
        (LEFT, "7", 7),
        ({}, "7", 7),
        ({}, "99999", 3600),
        ({"ratelimit": '"api";r=0;t=99999'}, "0", 3600),
        ({}, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        ({"ratelimit": "nonsense"}, "", None),
        ({}, "²", None),
        ({}, "9" * 5000, None),
    ],
)
@pytest.mark.parametrize("question", ["search", "bytes"])
async def test_a_busy_hub_says_how_long_to_wait(
    hub: Hub, fake: FakeHub, headers: dict[str, str], after: str, wait: int | None, question: str
):
    fault = Fault("status", status=429, headers=headers, retry_after=after)
    asking = hub.search("x") if question == "search" else hub.beginning(REPO, COMMIT, "a.gguf", 9)
    fake.files[REPO]["a.gguf"] = b"x"
    (fake.api_faults if question == "search" else fake.hub_faults).append(fault)
    with pytest.raises(HubFailed) as caught:
        await asking
    assert caught.value.retry_after_s == wait


@pytest.mark.parametrize(
    "body",
    [
        "", "<html>", "[", "null", "3", '"text"', "{}", '{"id": 3}', '{"id": null}', "[[]]",
        '{"id": "../x", "sha": "main"}', '{"id": "a/b", "sha": "../x"}',
        '{"id": "a/b", "lastModified": "yesterday"}', "[" * 100_000,
    ],
)  # fmt: skip
async def test_a_broken_answer_is_one_sentence(hub: Hub, fake: FakeHub, body: str):
    fake.api_faults.append(Fault("status", status=200, body=body))
    with pytest.raises(AppError) as caught:
        await hub.repository(REPO)
    assert isinstance(caught.value, HubFailed) or caught.value.status == 400


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "file"},
        {"type": "file", "path": "a", "size": 1, "oid": "1", "lfs": {"oid": 3, "size": 1}},
        {
            "type": "file", "path": "a", "size": 1, "oid": "1",
            "lfs": {"oid": "x", "size": "1", "pointerSize": 1},
        },
        {
            "type": "file", "path": "a", "size": 1, "oid": "1",
            "lfs": {"oid": "x", "size": -1, "pointerSize": 1},
        },
    ],
)  # fmt: skip
async def test_a_broken_file_of_a_tree_is_not_taken(
    hub: Hub, fake: FakeHub, entry: dict[str, object]
):
    fake.extra.append(entry)
    with pytest.raises(HubFailed, match="cannot be understood"):
        await hub.repository(REPO)


async def test_a_renamed_repository_is_found_by_its_new_name(hub: Hub, fake: FakeHub):
    fake.moved["old/name"] = REPO
    assert (await hub.repository("old/name")).repo == REPO


async def test_pages_without_end_are_given_up(hub: Hub, fake: FakeHub):
    fake.page_size = 1
    fake.files[REPO] |= {f"{number}.gguf": b"y" for number in range(40)}
    with pytest.raises(HubFailed, match="far too long"):
        await hub.repository(REPO)
    assert len(fake.seen) == hub_facts.MAX_PAGES + 1


async def test_nothing_is_told_about_this_computer(hub: Hub, fake: FakeHub):
    await hub.search("tiny")
    ((_, headers),) = fake.requests("hub")
    assert headers["user-agent"] == "moat"
    assert headers.keys() <= {"host", "user-agent", "accept", "accept-encoding"}


async def test_who_no_longer_asks_closes_the_connection(hub: Hub, fake: FakeHub):
    """A search that is cancelled leaves no thread that goes on asking."""
    asking = asyncio.ensure_future(hub.search("tiny"))  # noqa: TID251
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize(
    ("scan", "is_scanned", "issues"),
    [
        ({"scansDone": True, "filesWithIssues": []}, True, ()),
        ({"scansDone": False, "filesWithIssues": []}, False, ()),
        (None, False, ()),
        (
            {"scansDone": True, "filesWithIssues": [{"path": "x.bin", "level": "unsafe"}]},
            True,
            (ScanIssue("x.bin", "unsafe"),),
        ),
    ],
)
async def test_a_card_says_licence_scan_and_its_makers_words(
    hub: Hub, fake: FakeHub, scan: object, is_scanned: bool, issues: tuple[ScanIssue, ...]
):
    fake.scan, fake.licence_name = scan, "own"
    fake.cards[REPO] = b"---\nlicense: apache-2.0\n---\n# Tiny\n"
    card = await hub.card(REPO)
    assert (card.licence, card.licence_name, card.text) == ("apache-2.0", "own", "# Tiny")
    assert (card.is_scanned, card.issues) == (is_scanned, issues)


async def test_a_card_tells_what_is_known_if_its_text_cannot_be_read(hub: Hub, fake: FakeHub):
    fake.files[REPO]["README.md"] = b"# Tiny"
    fake.redirect, fake.licence_name = "http://127.0.0.2:80/x", "own"
    card = await hub.card(REPO)
    assert (card.licence_name, card.text) == ("own", "")
    assert "127.0.0.2:80, which is not allowed" in card.problem


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"", ""), (b"---\n: [\n---\nx", None), (b"\xff\xfe", None), (b"plain", "plain")],
)
def test_any_card_has_a_text(raw: bytes, text: str | None) -> None:
    found = hub_facts.text_of(raw)
    assert text is None or found == text


async def test_a_repository_without_a_card_has_none(hub: Hub):
    assert (await hub.card(REPO)).text == ""


def test_a_login_is_found_where_the_libraries_keep_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_file\n")
    home = {"HF_HOME": str(tmp_path)}
    assert find_login(home) == (str(tmp_path / "token"), "hf_file")
    assert find_login({**home, "HF_TOKEN": " hf_variable "}) == ("HF_TOKEN", "hf_variable")
    own = {"HF_TOKEN_PATH": str(tmp_path / "token")}
    assert find_login(own) == (str(tmp_path / "token"), "hf_file")
    assert find_login({"HF_HOME": str(tmp_path / "nowhere")}) == ("", "")
    (tmp_path / "token").write_bytes(b"\xff\xfe\x00")
    assert find_login(home) == ("", "")


@pytest.mark.parametrize("address", ["https://mirror.example", "http://127.0.0.1:9"])
async def test_another_hub_is_not_offered_the_login(egress: Egress, address: str):
    async def token(_host: str) -> None:
        return None

    hub = Hub(egress, lambda: NetworkSettings(hub=address), token)
    assert hub.login({"HF_TOKEN": "hf_secret"}) == ("", "")
    usual = Hub(egress, NetworkSettings, token)
    assert usual.login({"HF_TOKEN": "hf_secret"}) == ("HF_TOKEN", "hf_secret")
