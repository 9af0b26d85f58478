import os
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from server.web import certificates
from server.web.certificates import LEAF_DAYS, RENEW_DAYS, Certificates


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_what_is_there_and_holds_is_kept(tmp_path: Path):
    first = Certificates(tmp_path).ready()
    before = first.chain.read_bytes()
    assert Certificates(tmp_path).ready() == first
    assert first.chain.read_bytes() == before


def test_the_leaf_is_for_this_machine_and_short_enough_for_browsers(tmp_path: Path):
    leaf = certificate(Certificates(tmp_path).ready().chain)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= timedelta(days=398)


def test_the_authority_can_vouch_for_nothing_else(tmp_path: Path):
    authority = certificate(Certificates(tmp_path).ready().authority)
    limits = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert limits.critical
    allowed = {str(one.value) for one in limits.value.permitted_subtrees or ()}
    assert allowed == {"localhost", "127.0.0.1/32", "::1/128"}


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_only_the_owner_can_read_the_keys(tmp_path: Path):
    Certificates(tmp_path / "https").ready()
    keys = list((tmp_path / "https").glob("*.key"))
    assert len(keys) == 2
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}
    assert stat.S_IMODE((tmp_path / "https").stat().st_mode) == 0o700


class Later(datetime):
    """A clock that is ahead."""

    ahead = timedelta()

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        del tz
        return datetime.now(UTC) + cls.ahead


def test_the_leaf_is_renewed_before_it_expires_and_needs_no_new_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = Certificates(tmp_path).ready()
    trusted = first.authority.read_bytes()
    monkeypatch.setattr(Later, "ahead", timedelta(days=LEAF_DAYS - RENEW_DAYS))
    monkeypatch.setattr(certificates, "datetime", Later)
    second = Certificates(tmp_path).ready()
    assert second.until > first.until + timedelta(days=300)
    assert second.authority.read_bytes() == trusted
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(second.chain, second.key)


@pytest.mark.parametrize(
    "name", ["moat-localhost.crt", "moat-localhost.key", "server.crt", "server.key"]
)
def test_a_damaged_or_lost_file_is_made_again(tmp_path: Path, name: str):
    Certificates(tmp_path).ready()
    (tmp_path / name).write_text("nonsense")
    pair = Certificates(tmp_path).ready()
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pair.chain, pair.key)
    certificate(pair.chain).verify_directly_issued_by(certificate(pair.authority))


def test_for_the_network_it_vouches_for_this_machine_and_private_addresses(tmp_path: Path) -> None:
    names = ("10.1.2.3", "box", "moat.example.com")
    first = Certificates(tmp_path, names).ready()
    assert first.authority.name == "moat-network.crt"
    moved = Certificates(tmp_path, ("box", "moat.example.com", "192.168.7.7")).ready()
    assert moved.authority.read_bytes() == first.authority.read_bytes()
    held = certificate(moved.chain).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert "192.168.7.7" in {str(one) for one in held.value.get_values_for_type(x509.IPAddress)}
    before = first.authority.read_bytes()
    other = Certificates(tmp_path, ("box", "other.example.com")).ready()
    assert other.authority.read_bytes() != before
    limits = certificate(other.authority).extensions.get_extension_for_class(x509.NameConstraints)
    permitted = {str(one.value) for one in limits.value.permitted_subtrees or ()}
    assert {"localhost", "box", "other.example.com", "192.168.0.0/16"} <= permitted
    assert Certificates(tmp_path).ready().authority.name == "moat-localhost.crt"
