"""Plants secrets in a running Moat: no file, log, answer or process list may show them."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from server.errors import AppError
from server.face import client
from server.face.client import RunningServer
from server.face.models import Download
from server.system import paths
from tests.kit.fake_hub import FakeHub
from tests.kit.fake_proxy import FakeProxy
from tests.kit.gguf_files import write_model
from tests.kit.running import SERVES, Moat, serving

REPO = "maker/gated-GGUF"
TOKEN = "hf_CanaryTokenOfTheHub0123456789"
PASSWORD = "canary-of-the-proxy"
KEYRING = {"PYTHON_KEYRING_BACKEND": "tests.kit.memory_keyring.MemoryKeyring"}


async def test_no_secret_leaves_the_keyring(tmp_path: Path, moat_home: Path):
    write_model(tmp_path / "m.gguf")
    hub = FakeHub({REPO: {"m-Q4_0.gguf": (tmp_path / "m.gguf").read_bytes()}}, gated={REPO})
    hub.token = TOKEN
    proxy = FakeProxy("user", PASSWORD)
    async with hub.running(), proxy.running():
        with serving(wait_for=SERVES, environment=KEYRING) as moat:
            running = await client.find(paths.find().control)
            assert running
            key = await plant(running, hub, proxy)
            await use(running, moat, key)
            told = json.dumps(
                [str(line) for line in await running.command("recent_logs", count=5000)]
            )
            secrets = (TOKEN, PASSWORD, key)
            assert [one for one in secrets if one in told] == []
            assert [one for one in secrets if one in process_list(moat)] == []
            assert list(files_with(moat_home, secrets)) == []
        assert list(files_with(moat_home, secrets)) == []
    used_rightly(hub, proxy)


async def plant(running: RunningServer, hub: FakeHub, proxy: FakeProxy) -> str:
    """Saves the hub's token, the proxy's password and the access key as a user does."""
    address = f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}"
    changes = {
        "network.hub": hub.address,
        "network.hub_storage": ["localhost"],
        "network.proxy": address,
        "server.require_key": True,
    }
    await running.command("change_settings", changes=changes)
    # A token belongs to the hub that is set when the token is saved.
    await running.command("models.set_hub_token", token=TOKEN)
    key: str = await running.command("access_key")
    assert len(key) > 20
    return key


async def use(running: RunningServer, moat: Moat, key: str) -> None:
    """Does everything that needs the secrets, and what fails with them."""
    number = await running.command("models.download", repo=REPO, file="Q4_0")
    assert (await ended(running, number)).phase == "done"
    with pytest.raises(AppError):
        await running.command("models.download", repo="no/such", file="")
    await running.command("change_settings", changes={"network.hub": "http://127.0.0.1:9"})
    with pytest.raises(AppError):
        await running.command("models.search", text="x")
    for given, wanted in ((key, 200), (key + "x", 401)):
        headers = {"Authorization": f"Bearer {given}"}
        request = urllib.request.Request(f"{moat.address}/v1/models", headers=headers)
        assert status(request) == wanted


async def ended(running: RunningServer, number: str) -> Download:
    async with aclosing(running.values("models.downloads")) as values:
        async for downloads in values:
            for one in downloads:
                if one.id == number and one.phase in ("done", "failed"):
                    return one
    raise AssertionError("the server ended")


def status(request: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=180) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def process_list(moat: Moat) -> str:
    """Returns the command lines and environments of all our processes."""
    return "\n".join(f"{one.cmdline()} {environment(one)}" for one in moat.family())


def environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


def files_with(folder: Path, secrets: tuple[str, ...]) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and any(one.encode() in path.read_bytes() for one in secrets):
            yield path


def used_rightly(hub: FakeHub, proxy: FakeProxy) -> None:
    """Asserts that the secrets reached their owners. Otherwise the test would show nothing."""
    assert proxy.let_through
    assert proxy.refused == []
    assert any(
        headers.get("authorization") == f"Bearer {TOKEN}" for _, headers in hub.requests("hub")
    )
    stored = hub.requests("storage")
    assert stored
    assert not [headers for _, headers in stored if "authorization" in headers]
    assert not [headers for _, _, headers in hub.seen if "proxy-authorization" in headers]
