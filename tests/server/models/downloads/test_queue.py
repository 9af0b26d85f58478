"""Downloads against a loopback hub: whole, resumed, paused, cancelled, refused."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.errors import BadRequest
from server.models.downloads.queue import FOLDER
from server.system.keychain import KeyringFailed
from tests.kit.download_desk import CONTENT, FAST, PIECE, REPO, begin, desk, ended, installed, until
from tests.kit.fake_hub import FakeHub, Fault


@pytest.fixture
async def hub() -> AsyncIterator[FakeHub]:
    fake = FakeHub({REPO: {"tiny-Q4_K_M.gguf": CONTENT}})
    async with fake.running() as running:
        yield running


async def test_a_file_arrives_whole_and_leaves_nothing_behind(hub: FakeHub, tmp_path: Path):
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        final = await until(downloads, ended)
        assert (final.phase, final.done_bytes) == ("done", len(CONTENT))
    (path,) = installed(tmp_path / "m")
    assert path == tmp_path / "m" / "maker" / "tiny-GGUF" / "tiny-Q4_K_M.gguf"
    assert path.read_bytes() == CONTENT
    assert list((tmp_path / "m" / FOLDER).iterdir()) == []
    assert hub.served == len(CONTENT)


async def test_nothing_is_listed_before_it_is_verified(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        state = await until(downloads, lambda one: one.done_bytes > PIECE)
        assert (state.phase, state.total_bytes) == ("running", len(CONTENT))
        assert state.bytes_per_s > 0
        assert state.left_s is not None
        assert installed(tmp_path / "m") == []


FAULTS = [
    Fault("cut", after=0),
    Fault("cut", after=PIECE + 5000),
    Fault("stall", after=3 * PIECE),
    Fault("status", status=500),
    Fault("status", status=503),
    Fault("status", status=429),
    Fault("drop"),
    Fault("wrong range"),
    Fault("changed"),
    Fault("packed"),
    Fault("endless"),
    Fault("bad bytes"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind}-{fault.after}")
async def test_a_fault_is_mended(hub: FakeHub, tmp_path: Path, fault: Fault):
    hub.faults.extend([fault, fault])
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        assert (await until(downloads, ended)).phase == "done"
    (path,) = installed(tmp_path / "m")
    assert path.read_bytes() == CONTENT


async def test_a_stop_and_a_start_fetch_only_what_is_missing(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > 8 * PIECE)
    hub.delay_s = 0
    async with desk(hub, tmp_path / "m") as downloads:
        assert (await until(downloads, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == CONTENT
    assert hub.served <= len(CONTENT) + 2 * FAST.connections * PIECE


async def test_a_piece_bent_on_the_disk_is_fetched_again(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    async with desk(hub, tmp_path / "m") as downloads:
        number = await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > 8 * PIECE)
        await downloads.pause(number)
    (part,) = (tmp_path / "m" / FOLDER).rglob("*.part")
    with part.open("r+b") as file:
        file.write(b"bent")
    async with desk(hub, tmp_path / "m") as downloads:
        await downloads.resume(number)
        assert (await until(downloads, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == CONTENT


async def test_paused_stays_paused_until_resumed(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    async with desk(hub, tmp_path / "m") as downloads:
        number = await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > 0)
        await downloads.pause(number)
        assert downloads.all.get()[0].phase == "paused"
    served = hub.served
    async with desk(hub, tmp_path / "m") as downloads:
        assert downloads.all.get()[0].phase == "paused"
        assert hub.served == served
        hub.delay_s = 0
        await downloads.resume(number)
        assert (await until(downloads, ended)).phase == "done"


async def test_cancelled_stays_cancelled(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    async with desk(hub, tmp_path / "m") as downloads:
        number = await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > 0)
        await downloads.cancel(number)
        assert downloads.all.get() == ()
        with pytest.raises(BadRequest):
            await downloads.resume(number)
    assert list((tmp_path / "m" / FOLDER).iterdir()) == []
    async with desk(hub, tmp_path / "m") as downloads:
        assert downloads.all.get() == ()


async def test_a_cancel_cut_short_by_a_crash_is_still_a_cancel(hub: FakeHub, tmp_path: Path):
    left = tmp_path / "m" / FOLDER / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "0.part").write_bytes(b"x")
    async with desk(hub, tmp_path / "m") as downloads:
        assert downloads.all.get() == ()
    assert not left.exists()


async def test_content_that_is_not_what_the_hub_promised_is_thrown_away(
    hub: FakeHub, tmp_path: Path
):
    hub.lied["tiny-Q4_K_M.gguf"] = hashlib.sha256(b"other").hexdigest()
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        final = await until(downloads, ended)
        assert final.phase == "failed"
        assert "checksum was wrong twice" in final.reason
    assert installed(tmp_path / "m") == []


async def test_what_never_mends_fails_with_its_reason_and_can_be_tried_again(
    hub: FakeHub, tmp_path: Path
):
    hub.faults.extend([Fault("status", status=500)] * 60)
    async with desk(hub, tmp_path / "m") as downloads:
        number = await begin(hub, downloads)
        final = await until(downloads, ended)
        assert (final.phase, final.reason) == ("failed", "The hub answered with the error 500.")
        assert final.details.startswith("hub_")
    hub.faults.clear()
    async with desk(hub, tmp_path / "m") as downloads:
        assert downloads.all.get()[0].phase == "failed"
        assert downloads.all.get()[0].details == final.details
        await downloads.resume(number)
        done = await until(downloads, ended)
        assert (done.phase, done.details) == ("done", "")


async def test_another_version_on_the_hub_begins_anew(hub: FakeHub, tmp_path: Path):
    hub.delay_s = 0.05
    other = random.Random(2).randbytes(5 * PIECE)
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        await until(downloads, lambda one: one.done_bytes > 4 * PIECE)
        hub.files[REPO]["tiny-Q4_K_M.gguf"], hub.etag = other, "three"
        hub.faults.extend([Fault("cut", after=0)] * 3)
        assert (await until(downloads, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == other


async def test_the_parts_of_a_split_model_appear_together(hub: FakeHub, tmp_path: Path):
    parts = [f"q8/big-{n:05d}-of-00002.gguf" for n in (1, 2)]
    hub.files[REPO] = {path: random.Random(path).randbytes(3 * PIECE) for path in parts}
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads, *parts)
        assert (await until(downloads, ended)).phase == "done"
    found = {str(path.relative_to(tmp_path / "m")): path for path in installed(tmp_path / "m")}
    assert sorted(found) == [f"{REPO}/{path}" for path in parts]
    assert all(found[f"{REPO}/{p}"].read_bytes() == hub.files[REPO][p] for p in parts)


async def test_an_empty_file_ends(hub: FakeHub, tmp_path: Path):
    hub.files[REPO]["none.gguf"] = b""
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads, "none.gguf")
        assert (await until(downloads, ended)).phase == "done"


async def test_what_is_here_is_not_fetched_again(hub: FakeHub, tmp_path: Path):
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        await until(downloads, ended)
        with pytest.raises(BadRequest, match="already installed"):
            await begin(hub, downloads)


async def test_the_limit_is_held(hub: FakeHub, tmp_path: Path):
    speed = len(CONTENT) / 1.0
    async with desk(hub, tmp_path / "m", limit=speed) as downloads:
        began = asyncio.get_running_loop().time()
        await begin(hub, downloads)
        assert (await until(downloads, ended)).phase == "done"
        assert asyncio.get_running_loop().time() - began > 0.8


async def test_a_gated_model_names_what_to_do(hub: FakeHub, tmp_path: Path):
    hub.gated.add(REPO)
    hub.token = ""
    async with desk(hub, tmp_path / "m") as downloads:
        await begin(hub, downloads)
        refused = await until(downloads, ended)
    assert refused.phase == "failed"
    assert "needs a token" in refused.reason


async def test_a_keyring_that_fails_for_a_moment_is_asked_again(hub: FakeHub, tmp_path: Path):
    asked = 0

    async def token(_host: str) -> str | None:
        nonlocal asked
        asked += 1
        if asked <= 4:
            raise KeyringFailed(TimeoutError())
        return None

    async with desk(hub, tmp_path / "m", token=token) as downloads:
        await begin(hub, downloads)
        assert (await until(downloads, ended)).phase == "done"
    assert installed(tmp_path / "m")[0].read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyringFailed(TimeoutError()), "keyring does not work"),
        (ValueError(), "inside Moat"),
    ],
)
async def test_whatever_goes_wrong_no_download_seems_to_run_for_ever(
    hub: FakeHub, tmp_path: Path, error: Exception, reason: str
):
    async def token(_host: str) -> str | None:
        raise error

    async with desk(hub, tmp_path / "m", token=token) as downloads:
        await begin(hub, downloads)
        final = await until(downloads, ended)
        assert (final.phase, final.bytes_per_s) == ("failed", 0)
        assert reason in final.reason
    async with desk(hub, tmp_path / "m") as downloads:
        assert reason in downloads.all.get()[0].reason
        await downloads.resume(final.id)
        assert (await until(downloads, ended)).phase == "done"
