"""Makes our own certificates: an authority that can sign for this machine only, and its leaf.

There is one pair for localhost. If other machines may connect, there is a second pair, for the
names of this machine and the addresses of private networks.
"""

import ipaddress
import logging
import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from server.system.files import write_atomically
from server.web.guard import is_address
from server.web.tls import AUTHORITY, NETWORK_AUTHORITY

log = logging.getLogger(__name__)

ADDRESSES = ("127.0.0.1", "::1")
PRIVATE = (
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
    "fc00::/7", "fe80::/10",
)  # fmt: skip
"""Networks that the authority may sign for, so a machine with a new address needs no new trust."""
LEAF_DAYS = 397
"""How long a leaf is valid: browsers refuse certificates that are valid for longer."""
RENEW_DAYS = 30
"""A leaf that is valid for fewer days is renewed."""
AUTHORITY_DAYS = 3650
SKEW = timedelta(days=1)
"""How far certificates are dated back, for clients whose clock is slow."""

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Pair:
    """The files of a leaf, its key and its authority, and the time until which it is valid."""

    chain: Path
    key: Path
    authority: Path
    until: datetime


class Certificates:
    """The certificates in a private folder. `ready` makes what is missing, damaged or old."""

    def __init__(self, folder: Path, names: tuple[str, ...] = ()) -> None:
        """`names` are host names and addresses besides localhost; empty for localhost only."""
        self._names = names
        self._authority, self._leaf = folder / AUTHORITY, folder / "server.crt"
        if names:
            self._authority, self._leaf = folder / NETWORK_AUTHORITY, folder / "network.crt"
        self._authority_key = self._authority.with_suffix(".key")
        self._leaf_key = self._leaf.with_suffix(".key")

    def ready(self) -> Pair:
        now = datetime.now(UTC)
        authority = _read(self._authority, self._authority_key)
        is_short = authority is None or _days_left(authority[0], now) < LEAF_DAYS
        if authority is None or is_short or not _may_vouch(authority[0], self._names):
            authority = _make_authority(now, self._names)
            _write(self._authority, self._authority_key, authority)
            log.info("A certificate authority was made: clients must trust %s", self._authority)
        leaf = _read(self._leaf, self._leaf_key)
        is_good = leaf is not None and _vouches(authority, leaf) and _has(leaf[0], self._names)
        if leaf is None or not is_good or _days_left(leaf[0], now) < RENEW_DAYS:
            leaf = _make_leaf(authority, now, self._names)
            _write(self._leaf, self._leaf_key, leaf)
            log.info("The certificate holds until %s", leaf[0].not_valid_after_utc)
        until = leaf[0].not_valid_after_utc
        return Pair(self._leaf, self._leaf_key, self._authority, until)


Kept = tuple[x509.Certificate, Key]


def _make_authority(now: datetime, names: tuple[str, ...] = ()) -> Kept:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"Moat on {socket.gethostname()}"[:64] if names else "Moat, localhost only")
    networks = [
        ipaddress.ip_network(network) for network in (*ADDRESSES, *(PRIVATE if names else ()))
    ]
    networks += [ipaddress.ip_network(own) for own in names if is_address(own)]
    allowed: list[x509.GeneralName] = _dns_names(names)
    allowed += [x509.IPAddress(network) for network in networks]
    certificate = (
        _begun(name, name, key, now, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints(allowed, None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate, key


def _dns_names(names: tuple[str, ...]) -> list[x509.GeneralName]:
    return [x509.DNSName(name) for name in ("localhost", *names) if not is_address(name)]


def _has(leaf: x509.Certificate, names: tuple[str, ...]) -> bool:
    held = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    known = {str(address) for address in held.get_values_for_type(x509.IPAddress)}
    return known | set(held.get_values_for_type(x509.DNSName)) >= set(names)


def _may_vouch(authority: x509.Certificate, names: tuple[str, ...]) -> bool:
    """Whether the authority's name constraints allow all of these names."""
    held = authority.extensions.get_extension_for_class(x509.NameConstraints).value
    permitted = [subtree.value for subtree in held.permitted_subtrees or ()]
    networks = [network for network in permitted if not isinstance(network, str)]
    return all(
        any(ipaddress.ip_address(name) in network for network in networks)
        if is_address(name)
        else name in permitted
        for name in names
    )


def _make_leaf(authority: Kept, now: datetime, more: tuple[str, ...] = ()) -> Kept:
    issuer, issuer_key = authority
    key = ec.generate_private_key(ec.SECP256R1())
    names = _dns_names(more)
    addresses = dict.fromkeys((*ADDRESSES, *filter(is_address, more)))
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    known = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    certificate = (
        _begun(_name("localhost"), issuer.subject, key, now, LEAF_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(known, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return certificate, key


def _begun(
    subject: x509.Name, issuer: x509.Name, key: Key, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now - SKEW + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _read(path: Path, key_path: Path) -> Kept | None:
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        key = load_pem_private_key(key_path.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        return None
    fits = isinstance(key, Key) and key.public_key() == certificate.public_key()
    return (certificate, key) if fits and isinstance(key, Key) else None


def _write(path: Path, key_path: Path, kept: Kept) -> None:
    certificate, key = kept
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_atomically(key_path, secret.decode())
    write_atomically(path, certificate.public_bytes(Encoding.PEM).decode())


def _days_left(certificate: x509.Certificate, now: datetime) -> float:
    return (certificate.not_valid_after_utc - now) / timedelta(days=1)


def _vouches(authority: Kept, leaf: Kept) -> bool:
    try:
        leaf[0].verify_directly_issued_by(authority[0])
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True
