"""S21: a mirror with a wrong certificate is never trusted, and no setting changes that."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from server.egress import Egress
from server.settings import NetworkSettings, Settings
from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage

HERE, ELSEWHERE = x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("hub.example")
WAYS = {"self-signed": (HERE, 2), "of another name": (ELSEWHERE, 2), "expired": (HERE, -2)}
"""The name in the certificate, and for how many days from now it is valid."""
OPENERS = ("verify", "insecure", "ignore", "trust", "ssl", "tls")


def certificate(folder: Path, name: x509.GeneralName, days: int) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a mirror")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(called, called, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*form))
    (folder / "cert.pem").write_bytes(made.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def reached(context: ssl.SSLContext, extra_ca: str = "") -> bool:
    """Whether a request reached a server with this certificate."""
    came: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        came.append(request.path)
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    address = f"https://127.0.0.1:{runner.addresses[0][1]}/"
    egress = Egress(lambda: NetworkSettings(extra_ca=extra_ca))
    egress.allow(address, "test")
    try:
        async with egress.request("GET", address, "test") as reply:
            await reply.read()
    except egress.failures:
        return bool(came)
    finally:
        await egress.close()
        await runner.cleanup()
    return True


def wrong_certificates(stage: Stage) -> Figure:
    believed = []
    for name, options in WAYS.items():
        context = certificate(stage.scratch("tls"), *options)
        if asyncio.run(reached(context)):
            believed.append(name)
    folder = stage.scratch("tls")
    known = certificate(folder, *WAYS["self-signed"])
    added = asyncio.run(reached(known, str(folder / "cert.pem")))
    openers = [
        f"{group}.{name}"
        for group, found in Settings.model_fields.items()
        for name, field in getattr(found.annotation, "model_fields", {}).items()
        if field.annotation is bool and any(word in name for word in OPENERS)
    ]
    text = f"{len(WAYS) - len(believed)} of {len(WAYS)} wrong certificates refused"
    text += f", one the user added is believed: {added}; settings that turn checking off: "
    return Figure(
        f"{text}{len(openers)} {' '.join(openers)}", not believed and added and not openers
    )


ROWS = (
    Row(
        "S21",
        "A wrong certificate is never believed, and nothing turns the check off",
        "all refused, 0 settings",
        wrong_certificates,
    ),
)
