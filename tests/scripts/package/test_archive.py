"""The portable archive is the same whenever and by whomever it is made."""

import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from scripts.package import archive, freeze, product


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    monkeypatch.setattr(product, "FINISHED", tmp_path / "dist")
    (tmp_path / "dist").mkdir()
    folder = tmp_path / "moat"
    (folder / "lib").mkdir(parents=True)
    (folder / "moat").write_bytes(b"program")
    (folder / "lib" / "a.so.0").write_bytes(b"library")
    (folder / "lib" / "a.so").symlink_to("a.so.0")
    return folder


def test_times_and_rights_are_settled(frozen: Path) -> None:
    (frozen / "lib" / "a.so.0").chmod(0o600)
    freeze.settle(frozen, "moat")
    assert (frozen / "moat").stat().st_mode & 0o777 == 0o755
    assert (frozen / "lib" / "a.so.0").stat().st_mode & 0o777 == 0o644
    assert {path.lstat().st_mtime for path in frozen.rglob("*")} == {1790000000}


def test_two_builds_give_the_same_bytes(frozen: Path) -> None:
    first = hashlib.sha256(archive.build(frozen).read_bytes()).hexdigest()
    os.utime(frozen / "lib" / "a.so.0", (1, 1))
    (frozen / "lib").chmod(0o775)
    assert hashlib.sha256(archive.build(frozen).read_bytes()).hexdigest() == first


def test_it_unpacks_into_one_folder_with_its_links(frozen: Path) -> None:
    with tarfile.open(archive.build(frozen)) as packed:
        names = packed.getnames()
        assert all(name.split("/")[0] == f"moat-{product.VERSION}" for name in names)
        assert packed.getmember(f"moat-{product.VERSION}/lib/a.so").issym()
