"""The hub's answers are read, its tricks refused, its token kept to itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar, cast

import pytest

from server.egress import Egress
from server.errors import BadRequest, EgressRefused, HubFailed, HubRefused
from server.models.hub import Hub
from server.settings import NetworkSettings
from tests.kit.download_desk import client
from tests.kit.fake_hub import COMMIT, FakeHub, Fault

REPO = "maker/tiny-GGUF"


@pytest.fixture
async def fake() -> AsyncIterator[FakeHub]:
    async with FakeHub({REPO: {"a-Q4_K_M.gguf": b"x" * 5000}, "b/c": {}}).running() as running:
        yield running


@pytest.fixture
async def hub(fake: FakeHub) -> AsyncIterator[Hub]:
    egress = Egress(NetworkSettings)
    yield client(fake, egress)
    await egress.close()


async def test_search_finds_repositories_with_what_a_card_shows(hub: Hub, fake: FakeHub):
    (found,) = await hub.search("tiny")
    assert (found.repo, found.licence, found.downloads) == (REPO, "apache-2.0", 10)
    assert (found.gated, found.updated, found.parameters) == (False, "2026-01-02", 1000)
    assert "filter=gguf" in fake.seen[0][1]


async def test_a_repository_is_read_at_one_commit_over_all_pages(hub: Hub, fake: FakeHub):
    fake.page_size = 2
    fake.files[REPO] |= {f"{n}.gguf": b"y" for n in range(5)}
    found = await hub.repository(REPO)
    assert found.revision == COMMIT
    assert len(found.files) == 6
    assert len(found.files[0].sha256) == 64


async def test_only_files_with_a_hash_can_be_had(hub: Hub, fake: FakeHub):
    fake.extra.append({"type": "file", "path": "unhashed.gguf", "size": 10, "oid": "x"})
    assert [file.path for file in (await hub.repository(REPO)).files] == ["a-Q4_K_M.gguf"]


async def test_the_beginning_of_a_file_is_fetched_without_the_rest(hub: Hub, fake: FakeHub):
    assert await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 100) == b"x" * 100
    assert fake.served == 100


async def test_the_token_goes_to_the_hub_and_nowhere_else(hub: Hub, fake: FakeHub):
    fake.gated.add(REPO)
    fake.token = "hf_secret"
    await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 10)
    assert [h["authorization"] for _, h in fake.requests("hub")] == ["Bearer hf_secret"]
    assert all("authorization" not in headers for _, headers in fake.requests("storage"))


async def test_a_closed_door_says_which_key_is_missing(hub: Hub, fake: FakeHub):
    fake.gated.add(REPO)
    with pytest.raises(HubRefused, match="needs a token"):
        await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 10)


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/hostname",
        "http://127.0.0.2:80/x",
        "ftp://localhost/x",
    ],
)
async def test_a_redirect_elsewhere_is_not_followed(hub: Hub, fake: FakeHub, target: str):
    fake.redirect = target
    with pytest.raises(EgressRefused):
        await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 10)


@pytest.mark.parametrize("fault", [Fault("wrong range"), Fault("packed"), Fault("status")])
async def test_a_wrong_answer_is_not_taken(hub: Hub, fake: FakeHub, fault: Fault):
    fake.faults.append(fault)
    with pytest.raises(HubFailed):
        async with hub.part(REPO, COMMIT, "a-Q4_K_M.gguf", (100, 200)):
            pass


async def test_no_more_is_taken_than_was_asked_for(hub: Hub, fake: FakeHub):
    fake.faults.append(Fault("endless"))
    assert len(await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 50)) == 50


async def test_a_busy_hub_says_how_long_to_wait(hub: Hub, fake: FakeHub):
    fake.faults.append(Fault("status", status=429, retry_after="7"))
    with pytest.raises(HubFailed) as caught:
        await hub.beginning(REPO, COMMIT, "a-Q4_K_M.gguf", 50)
    assert caught.value.retry_after_s == 7


async def test_hostile_names_are_not_even_asked_for(hub: Hub, fake: FakeHub):
    for repo, path in [("../x", "a"), (REPO, "../../etc/passwd"), (REPO, "a\0")]:
        with pytest.raises(BadRequest):
            async with hub.part(repo, COMMIT, path, (0, 1)):
                pass
    assert fake.seen == []


async def test_a_hub_that_is_not_there_is_one_sentence():
    egress = Egress(NetworkSettings)
    with pytest.raises(HubFailed, match=r"Cannot reach 127\.0\.0\.1\. Check the connection"):
        await client(FakeHub(address="http://127.0.0.1:9"), egress).search("x")
    await egress.close()


async def test_a_mirror_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    async def token(_host: str) -> None:
        return None

    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.test/")
    egress = Egress(NetworkSettings)
    assert Hub(egress, NetworkSettings, token).address == "https://mirror.test"
    chosen = NetworkSettings(hub="https://other.test")
    assert Hub(egress, lambda: chosen, token).page("a/b") == "https://other.test/a/b"


class _Answer:
    """What any hub says: that it wants a token."""

    status = 401
    headers: ClassVar[dict[str, str]] = {}

    class content:  # noqa: N801 - as aiohttp calls it
        @staticmethod
        async def iter_any() -> AsyncIterator[bytes]:
            yield b"no"


class _Door:
    """Remembers what was sent where."""

    failures = ()

    def __init__(self) -> None:
        self.sent: list[dict[str, str]] = []

    def allow(self, *_given: object) -> None:
        pass

    @asynccontextmanager
    async def request(
        self, _method: str, _url: str, _reason: str, *, headers: dict[str, str], **_given: object
    ) -> AsyncIterator[_Answer]:
        self.sent.append({key.title(): value for key, value in headers.items()})
        yield _Answer()


@pytest.mark.parametrize(
    ("address", "gets_it"),
    [
        ("https://hub.example", True),
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("http://localhost:8000", True),
        ("http://hub.example", False),
        ("http://10.1.2.3", False),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
    ],
)
async def test_a_token_is_never_sent_in_clear_over_a_network(address: str, gets_it: bool) -> None:
    async def token(_host: str) -> str:
        return "hf_secret"

    door = _Door()
    hub = Hub(cast("Egress", door), lambda: NetworkSettings(hub=address), token)
    with pytest.raises(HubRefused, match="not accept the saved token" if gets_it else "https"):
        await hub.search("x")
    assert ["Authorization" in headers for headers in door.sent] == [gets_it]
