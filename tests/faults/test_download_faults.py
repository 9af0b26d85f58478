"""Downloads under faults of every kind: each ends whole or says why, and none hangs.

MOAT_DOWNLOAD_FAULTS is the number of random rounds, MOAT_DOWNLOAD_KILLS that of kills.
"""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from server.core.core import Core
from server.models.downloads.queue import FOLDER
from server.system import paths
from tests.kit.download_desk import (
    CONTENT,
    FAST,
    FILE,
    PIECE,
    REPO,
    begin,
    client,
    desk,
    ended,
    installed,
    until,
)
from tests.kit.fake_hub import FakeHub, Fault
from tests.kit.programs import need

ROUNDS = int(os.environ.get("MOAT_DOWNLOAD_FAULTS", "32"))
KILLS = int(os.environ.get("MOAT_DOWNLOAD_KILLS", "3"))
FULL = int(os.environ.get("MOAT_DOWNLOAD_FULL", "4"))
ROOT = Path(__file__).resolve().parents[2]
KINDS = (
    "cut", "cut", "stall", "drop", "wrong range", "changed", "packed", "endless", "bad bytes",
    "500", "502", "503", "429", "hub 500", "hub 429", "proxy", "restart", "pause",
)  # fmt: skip


@pytest.fixture
async def hub() -> AsyncIterator[FakeHub]:
    fake = FakeHub({REPO: {FILE: CONTENT}})
    async with fake.running() as running:
        yield running


def add_fault(fake: FakeHub, kind: str, source: random.Random) -> None:
    if kind.startswith("hub"):
        fake.hub_faults.append(Fault("status", status=int(kind[4:])))
    elif kind.isdigit():
        fake.faults.append(Fault("status", status=int(kind)))
    elif kind not in ("proxy", "restart", "pause"):
        fake.faults.append(Fault(kind, after=source.randrange(4 * PIECE)))


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_a_random_mix_of_faults_is_mended(hub: FakeHub, tmp_path: Path, number: int):
    source = random.Random(number)
    kinds = [KINDS[number % len(KINDS)], *source.choices(KINDS, k=source.randrange(3))]
    for kind in kinds:
        add_fault(hub, kind, source)
    await run_through(hub, tmp_path / "m", kinds, source)
    (path,) = installed(tmp_path / "m")
    assert path.read_bytes() == CONTENT
    assert list((tmp_path / "m" / FOLDER).iterdir()) == []
    again = 1 + kinds.count("bad bytes") + kinds.count("changed")
    wasted = hub.served - again * len(CONTENT)
    assert wasted <= len(kinds) * (FAST.connections + 1) * PIECE * FAST.pieces_per_request


async def run_through(hub: FakeHub, models: Path, kinds: list[str], source: random.Random) -> None:
    """Runs one download to its end, with the interruptions among the faults."""
    lost = asyncio.Event()
    if "proxy" not in kinds:
        lost.set()

    def proxy() -> str:
        return "" if lost.is_set() else "http://127.0.0.1:9"

    if "restart" in kinds or "pause" in kinds:
        hub.delay_s = 0.02
        async with desk(hub, models) as downloads:
            number = await begin(hub, downloads)
            enough = source.randrange(len(CONTENT) // 2)
            await until(downloads, lambda one: one.done_bytes >= enough or ended(one))
            if "pause" in kinds and not ended(downloads.all.get()[0]):
                await downloads.pause(number)
                await downloads.resume(number)
        hub.delay_s = 0
    async with desk(hub, models, proxy=proxy) as downloads:
        if not downloads.all.get() and not installed(models):
            await begin(hub, downloads)
        if not lost.is_set():
            await until(downloads, lambda one: bool(one.reason))
            lost.set()
            await downloads.pause(downloads.all.get()[0].id)
            await downloads.resume(downloads.all.get()[0].id)
        if not installed(models):
            assert (await until(downloads, ended)).phase == "done"


@pytest.mark.parametrize("number", range(KILLS))
async def test_a_killed_program_goes_on_where_it_was(hub: FakeHub, tmp_path: Path, number: int):
    source = random.Random(number)
    hub.delay_s = 0.03
    kills = 1 + number % 2
    models = tmp_path / "m"
    for _ in range(kills):
        await kill_at(hub, models, source.randrange(1, len(CONTENT) * 2 // 3))
    hub.delay_s = 0
    child = await start_child(hub, models)
    out, _ = await asyncio.wait_for(child.communicate(), 180)
    assert b"end done" in out
    assert child.returncode == 0
    (path,) = installed(models)
    assert path.read_bytes() == CONTENT
    # A kill loses what was under way: a piece for each connection, and what was in the pipes.
    assert hub.served <= len(CONTENT) + kills * FAST.connections * PIECE * 3


async def kill_at(hub: FakeHub, models: Path, enough: int) -> None:
    child = await start_child(hub, models)
    assert child.stdout
    while line := await child.stdout.readline():
        if line.strip().isdigit() and int(line) >= enough:
            break
    child.kill()
    await child.wait()
    assert all(path.read_bytes() == CONTENT for path in installed(models))


async def start_child(hub: FakeHub, models: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.faults.downloading",
        hub.address,
        str(models),
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mounts a real filesystem of 4 MB in another process, for itself alone, as any user may."""
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    folder = tmp_path / "disk"
    folder.mkdir()
    rights = ["--user", "--map-root-user"] if os.geteuid() else []
    mount = 'mount -t tmpfs -o size=4m tmpfs "$0" && echo mounted && exec cat'
    command = [need("unshare"), *rights, "--mount", "sh", "-c", mount, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as keeper:
        assert keeper.stdout
        if keeper.stdout.readline() != b"mounted\n":
            pytest.skip("needs Linux with the right to mount")
        yield Path(f"/proc/{keeper.pid}/root{folder}")


def fill(disk: Path, leave: int) -> Path:
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with ballast.open("wb") as file:
        file.write(b"x" * max(0, free - leave))
    return ballast


@pytest.mark.parametrize("number", range(FULL))
async def test_a_full_disk_waits_and_goes_on_when_there_is_room(
    hub: FakeHub, small_disk: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    monkeypatch.setattr("server.models.downloads.queue.DISK_LOOK_S", 0.05)
    models = small_disk / "m"
    models.mkdir()
    ballast = fill(small_disk, random.Random(number).randrange(len(CONTENT)))
    async with desk(hub, models) as downloads:
        await begin(hub, downloads)
        state = await until(downloads, lambda one: bool(one.reason))
        assert state.phase == "waiting"
        assert installed(models) == []
        ballast.unlink()
        assert (await until(downloads, ended)).phase == "done"
    assert installed(models)[0].read_bytes() == CONTENT


@pytest.mark.parametrize("number", range(FULL))
async def test_a_disk_that_fills_up_meanwhile_harms_nothing(
    hub: FakeHub, small_disk: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    monkeypatch.setattr("server.models.downloads.queue.DISK_LOOK_S", 0.05)
    hub.delay_s = 0.03
    models = small_disk / "m"
    async with desk(hub, models) as downloads:
        await begin(hub, downloads)
        enough = random.Random(number).randrange(len(CONTENT) // 2)
        await until(downloads, lambda one: one.done_bytes >= enough and one.phase == "running")
        ballast = fill(small_disk, 0)
        await until(downloads, lambda one: ended(one) or bool(one.reason))
        ballast.unlink()
        hub.delay_s = 0
        assert (await until(downloads, ended)).phase == "done"
    assert installed(models)[0].read_bytes() == CONTENT


async def test_the_program_starts_with_no_byte_free(small_disk: Path):
    folders = (small_disk / name for name in ("config", "data", "cache", "logs", "run"))
    places = paths.Paths(*folders)
    core = Core(places)
    await core.open()
    await core.close()
    fill(small_disk, 0)
    core = Core(places)
    await core.open()
    try:
        assert core.models.cards.get()
        await core.change_setting("model.slots", 3)
        assert any("could not be saved" in notice for notice in core.notices.get())
    finally:
        await core.close()


async def test_nothing_of_a_secret_is_left_anywhere(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """The hub's token is in no log, file or process list, and is never sent to another host."""
    secret = "hf_canarycanarycanary"
    monkeypatch.setenv("MOAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("MOAT_SECRET_HUB_TOKEN", secret)
    hub.gated.add(REPO)
    hub.token = secret
    caplog.set_level("DEBUG")
    core = Core(paths.find())
    await core.open()
    try:
        await core.change_setting("network.hub_storage", ("localhost",))
        assert await core.models.search("tiny")
        await core.models.download(REPO, FILE)
        await until(core.models, ended)
        logged = [line.text for line in await core.recent_logs(1000)]
    finally:
        await core.close()
    assert all("authorization" in headers for _, headers in hub.requests("hub"))
    assert not any("authorization" in headers for _, headers in hub.requests("storage"))
    written = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in written)
    assert secret not in "\n".join([*logged, caplog.text])
    assert "canary" not in " ".join(sys.argv)
    assert client(hub, core.egress).address == hub.address
