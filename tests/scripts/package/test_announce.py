"""What is announced here is believed there."""

import json
from pathlib import Path

import pytest

from scripts.bootstrap import places
from scripts.package import announce, product
from server.core import graphics
from server.core.updates import UpdateFailed, read, read_signed


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


def test_the_list_of_archives_for_cards_is_believed_with_the_right_key_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "FINISHED", tmp_path)
    public = announce.new_key(tmp_path / "secret.key")
    with pytest.raises(SystemExit, match="make package-graphics"):
        announce.list_graphics(tmp_path / "secret.key", [])
    name = f"moat-backend-cuda-{product.VERSION}-linux-x86_64.tar.xz"
    (tmp_path / name).write_bytes(b"abc")
    (tmp_path / "moat-backend-cuda-0.0.1-linux-x86_64.tar.xz").write_bytes(b"old")
    made = Path(announce.list_graphics(tmp_path / "secret.key", [["cuda", "1.6", "RTX 4090"]]))
    assert made.name == f"graphics-{places.engine_version()}.json"
    listed = read_signed(made.read_bytes(), public, graphics.PREFIX, graphics.GraphicsList)
    (file,) = listed.files
    assert (file.kind, file.system, file.machine, file.name) == ("cuda", "linux", "x86_64", name)
    assert (file.size_bytes, file.sha256[:8], file.times_vulkan) == (3, "ba7816bf", 1.6)
    other = announce.new_key(tmp_path / "other.key")
    with pytest.raises(UpdateFailed):
        read_signed(made.read_bytes(), other, graphics.PREFIX, graphics.GraphicsList)


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
