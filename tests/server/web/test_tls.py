"""HTTPS by real clients: one that trusts the certificate, one that does not."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509

from server.face.core import ServerStatus
from server.protocols import health
from server.protocols.base import Endpoint, Facts, Reply
from server.settings import ServerSettings
from server.tasks import spawn, stop
from server.web import certificates, tls
from server.web.certificates import Certificates
from server.web.lifecycle import Serving, needs_new_socket
from server.web.listener import own_names
from tests.kit.sites import make_site

OPENBB = "https://pro.openbb.co"
ENDPOINTS = (
    *health.ENDPOINTS,
    Endpoint("GET", "/where", lambda _body, facts: Reply({"address": facts.address})),
)


async def no_answer(_ask: object) -> None:
    raise AssertionError


async def key() -> str:
    return "the-key"


def made(folder: Path, settings: ServerSettings) -> Serving:
    site = make_site(no_answer, no_answer, lambda host: Facts(f"http://{host}"), lambda: 10)  # type: ignore[arg-type]
    return Serving(ENDPOINTS, site, lambda: settings, key, folder)


@pytest.fixture
async def serving(tmp_path: Path) -> AsyncIterator[Serving]:
    serving = made(tmp_path / "https", ServerSettings(https=True))
    await serving.start(0)
    yield serving
    await serving.stop()


def trusting(status: ServerStatus) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=status.certificate)


async def get(url: str, context: ssl.SSLContext, **headers: str) -> tuple[int, dict[str, str], str]:
    async with (
        aiohttp.ClientSession() as client,
        client.get(url, ssl=context, headers=headers) as reply,
    ):
        return reply.status, dict(reply.headers), await reply.text()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_a_client_that_trusts_it_is_served(serving: Serving, host: str):
    status = serving.status.get()
    url = status.secure_address.replace("localhost", host)
    told, _, text = await get(f"{url}/where", trusting(status))
    assert (told, text) == (200, f'{{"address":"{url}"}}')


async def test_a_client_that_does_not_trust_it_refuses(serving: Serving):
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        await get(f"{serving.status.get().secure_address}/health", ssl.create_default_context())


async def test_the_gate_is_the_same_as_without(serving: Serving):
    status = serving.status.get()
    context, url = trusting(status), f"{status.secure_address}/where"
    told, headers, _ = await get(url, context, Origin=OPENBB)
    assert (told, headers["Access-Control-Allow-Origin"]) == (200, OPENBB)
    assert (await get(url, context, Origin="https://evil.test"))[0] == 403
    assert (await get(url, context, Origin=status.secure_address))[0] == 403
    assert (await get(url, context, Host="evil.test"))[0] == 421
    assert (await get(url, context, Host="localhost:1"))[0] == 421
    assert "Strict-Transport-Security" not in headers


async def test_plain_http_stays_beside_it_and_old_tls_is_refused(serving: Serving):
    status = serving.status.get()
    async with aiohttp.ClientSession() as client, client.get(f"{status.address}/health") as reply:
        assert reply.status == 200
    old = trusting(status)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(aiohttp.ClientConnectorError):
        await get(f"{status.secure_address}/health", old)


async def test_a_certificate_that_cannot_be_made_leaves_http_as_it_is(tmp_path: Path):
    (tmp_path / "https").write_text("a file where a folder should be")
    serving = made(tmp_path / "https", ServerSettings(https=True))
    await serving.start(0)
    status = serving.status.get()
    assert (status.phase, status.secure_address) == ("ready", "")
    assert "HTTPS cannot be served" in status.port_note
    await serving.stop()


async def test_a_renewed_certificate_is_used_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tls, "LOOK_S", 0.05)
    monkeypatch.setattr(certificates, "LEAF_DAYS", 40)
    serving = made(tmp_path / "https", ServerSettings(https=True))
    await serving.start(0)
    status = serving.status.get()
    host, port = "127.0.0.1", int(status.secure_address.rpartition(":")[2])

    async def shown() -> str:
        context = trusting(status)
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        del reader
        found: str = writer.get_extra_info("peercert")["notAfter"]
        writer.close()
        await writer.wait_closed()
        return found

    before = await shown()
    monkeypatch.setattr(certificates, "LEAF_DAYS", 397)
    monkeypatch.setattr(certificates, "RENEW_DAYS", 60)
    async with asyncio.timeout(30):
        while await shown() == before:
            await asyncio.sleep(0.05)
    await serving.stop()


def test_switching_it_on_opens_new_sockets():
    off, on = ServerSettings(), ServerSettings(https=True)
    assert needs_new_socket(off, on)
    assert not needs_new_socket(on, on)


@pytest.fixture
async def network(tmp_path: Path) -> AsyncIterator[Serving]:
    settings = ServerSettings(listen="network", host_names=("moat.example.com",))
    serving = made(tmp_path / "https", settings)
    await serving.start(0)
    yield serving
    await serving.stop()


async def test_other_machines_connect_by_https_only(network: Serving):
    status = network.status.get()
    assert not network._listening.everywhere
    assert network._secured.listening.everywhere
    port = network._secured.listening.port
    name = socket.gethostname().lower()
    assert status.network_address == f"https://{name}:{port}"
    context = trusting(status)
    for address in sorted(own_names() - {name}):
        code, _, _ = await get(f"https://{address}:{port}/health", context)
        assert code == 200
        code, _, _ = await get(f"https://{address}:{port}/v1/models", context)
        assert code == 401
    leaf = x509.load_pem_x509_certificate((tmp_of(status) / "network.crt").read_bytes())
    held = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "moat.example.com" in held.get_values_for_type(x509.DNSName)


def tmp_of(status: ServerStatus) -> Path:
    return Path(status.certificate).parent


async def test_a_given_certificate_is_shown_and_followed_when_it_is_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tls, "LOOK_GIVEN_S", 0.01)
    first, second = [Certificates(tmp_path / name, ("localhost",)).ready() for name in "ab"]
    given = ServerSettings(https=True, certificate=str(first.chain), certificate_key=str(first.key))
    serving = made(tmp_path / "https", given)
    await serving.start(0)
    status = serving.status.get()
    assert (status.certificate, status.trust) == ("", "")
    for pair in (first, second):
        first.key.write_bytes(pair.key.read_bytes())
        first.chain.write_bytes(pair.chain.read_bytes())
        context = ssl.create_default_context(cafile=str(pair.authority))
        async with asyncio.timeout(30):
            while True:
                try:
                    code, _, _ = await get(f"{status.secure_address}/health", context)
                except aiohttp.ClientConnectorCertificateError:
                    continue
                break
        assert code == 200
    await serving.stop()


async def test_a_certificate_that_cannot_be_used_is_named_and_nobody_far_comes_in(tmp_path: Path):
    settings = ServerSettings(listen="network", certificate=str(tmp_path / "none.pem"))
    serving = made(tmp_path / "https", settings)
    await serving.start(0)
    note = serving.status.get().port_note
    assert "none.pem" in note
    assert "No such file" in note
    assert not serving._reaches_out
    await serving.stop()


async def test_files_that_are_just_being_replaced_are_loaded_at_the_next_look(tmp_path: Path):
    pair = Certificates(tmp_path).ready()
    later = pair.until + timedelta(days=1)
    half = replace(pair, chain=tmp_path / "not yet there", until=later)
    loaded = asyncio.Event()

    class Replaced:
        looks = iter((half, replace(pair, until=later)))

        def ready(self) -> certificates.Pair:
            return next(self.looks)

    class Context(ssl.SSLContext):
        def load_cert_chain(self, *files: Any) -> None:  # type: ignore[override]
            super().load_cert_chain(*files)
            loaded.set()

    secure = tls.Secure(tmp_path)
    secure._certificates = Replaced()
    context = Context(ssl.PROTOCOL_TLS_SERVER)
    renewing = spawn(secure._renew(context, pair.until, 0.0), "renewing")
    waiting = spawn(loaded.wait(), "waiting")
    await asyncio.wait((renewing, waiting), return_when=asyncio.FIRST_COMPLETED)
    assert loaded.is_set()
    await stop(renewing)
