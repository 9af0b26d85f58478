"""What is announced here is believed there."""

import json
from pathlib import Path

import pytest

from scripts.package import announce, product
from server.parts.updates import UpdateFailed, read


def test_an_announcement_is_believed_with_the_right_key_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "FINISHED", tmp_path / "dist")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "moat.deb").write_bytes(b"abc")
    public = announce.new_key(tmp_path / "secret.key")
    other = announce.new_key(tmp_path / "other.key")
    body = announce.sign(tmp_path / "secret.key", "https://moat.example/", "Faster.").encode()
    told = read(body, public)
    assert (told.version, told.notes) == (product.VERSION, "Faster.")
    assert told.files["moat.deb"].startswith("ba7816bf")
    assert set(json.loads(body)) == {"announcement", "signature"}
    with pytest.raises(UpdateFailed):
        read(body, other)


def test_a_key_is_its_owners_alone_and_never_written_over(tmp_path: Path) -> None:
    announce.new_key(tmp_path / "secret.key")
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        announce.new_key(tmp_path / "secret.key")
