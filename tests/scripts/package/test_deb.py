"""The parts of the .deb that can be judged without building it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.bootstrap.say import SetupFailed
from scripts.package import deb, elf, notices, product
from server import cli
from server.system.licenses import Component

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.mark.parametrize("name", deb.MAINTAINER_SCRIPTS)
def test_the_scripts_are_valid_shell(name: str) -> None:
    subprocess.run(["sh", "-n", str(product.LINUX / name)], check=True)


def test_removal_says_what_is_kept() -> None:
    told = subprocess.run(
        ["sh", str(product.LINUX / "postrm"), "remove"], capture_output=True, text=True, check=True
    )
    assert "~/.local/share/moat" in told.stdout
    assert "keyring" in told.stdout


def test_the_manual_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    (\w+)\b", capsys.readouterr().out, re.M)
    manual = (product.LINUX / "moat.1").read_text("utf-8").partition(".SH COMMANDS")[2]
    named = re.findall(r"^\.B (\w+)", manual.partition(".SH OPTIONS")[0], re.M)
    assert sorted(named) == sorted(commands)


def test_the_desktop_is_told_the_version_and_finds_the_icon(tmp_path: Path) -> None:
    deb.shares(tmp_path)
    metainfo = ElementTree.parse(tmp_path / "metainfo" / "app.moat.Moat.metainfo.xml")
    assert metainfo.find("releases/release").get("version") == product.VERSION  # type: ignore[union-attr]
    entry = (tmp_path / "applications" / "moat.desktop").read_text()
    assert "Exec=moat\n" in entry
    assert (tmp_path / "icons" / "hicolor" / "48x48" / "apps" / "moat.png").exists()
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in (".xml", ".1")]
    assert not any(b"@" in text for text in texts)


def test_the_copyright_file_names_everything_inside() -> None:
    text = deb.copyright_file([Component("Qt", "6", "LGPL-3.0-only"), Component("m", "1", "MIT")])
    assert " Qt 6: LGPL-3.0-only\n m 1: MIT\n" in text


def test_what_a_library_wants_from_the_system_is_found(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(Path(sys.executable).resolve().read_bytes())
    wanted = elf.wants(tmp_path)
    assert wanted.glibc.startswith("2.")
    assert not any(name.startswith("libc.so") for name in wanted.libraries)


def test_a_library_nobody_holds_stops_the_package() -> None:
    with pytest.raises(SetupFailed, match="libnobody"):
        elf.packages(["libnobody.so.1"], notices.owners())


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_the_package_does_not_depend_on_the_builders_mask(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    monkeypatch.setattr(deb, "TREE", tmp_path / "tree")
    monkeypatch.setattr(deb, "depends", lambda _frozen: ["libc6"])
    monkeypatch.setattr(product, "FINISHED", tmp_path / "dist")
    before = os.umask(mask)
    try:
        (tmp_path / "dist").mkdir()
        (tmp_path / "frozen").mkdir()
        (tmp_path / "frozen" / product.NAME).write_bytes(b"program")
        made = deb.build(tmp_path / "frozen", [Component("a", "1", "MIT", "library")])
    finally:
        os.umask(before)
    listed = subprocess.run(["dpkg-deb", "-c", made], capture_output=True, text=True, check=True)
    rights = {line.split()[0] for line in listed.stdout.splitlines() if not line.startswith("l")}
    assert rights == {"drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"}
