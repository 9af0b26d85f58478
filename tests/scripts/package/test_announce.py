"""What is announced here is believed there."""

import json
from pathlib import Path

import pytest

from scripts.package import announce, product
from server.core.updates import UpdateFailed, read


def test_an_announcement_is_believed_with_the_right_key_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "FINISHED", tmp_path / "dist")
    (tmp_path / "dist").mkdir()
    package = f"moat_{product.VERSION}_arm64.deb"
    (tmp_path / "dist" / package).write_bytes(b"abc")
    (tmp_path / "dist" / "moat_0.0.9_arm64.deb").write_bytes(b"old")
    public = announce.new_key(tmp_path / "secret.key")
    other = announce.new_key(tmp_path / "other.key")
    body = announce.sign(tmp_path / "secret.key", "https://moat.example/", "Faster.").encode()
    told = read(body, public)
    assert (told.version, told.notes) == (product.VERSION, "Faster.")
    assert list(told.files) == [package]
    assert told.files[package].startswith("ba7816bf")
    assert set(json.loads(body)) == {"announcement", "signature"}
    with pytest.raises(UpdateFailed):
        read(body, other)


@pytest.mark.parametrize("page", ["http://moat.example/", "moat.example"])
def test_what_no_moat_would_believe_is_not_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(product, "FINISHED", tmp_path / "dist")
    announce.new_key(tmp_path / "secret.key")
    with pytest.raises(SystemExit, match="No Moat would believe"):
        announce.sign(tmp_path / "secret.key", page, "")


def test_a_key_is_its_owners_alone_and_never_written_over(tmp_path: Path) -> None:
    announce.new_key(tmp_path / "secret.key")
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        announce.new_key(tmp_path / "secret.key")
