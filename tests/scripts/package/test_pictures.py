"""The icon in the forms of three systems."""

import struct
from pathlib import Path

from scripts.package import pictures

PNG = b"\x89PNG"


def test_icons_of_all_sizes_are_drawn(tmp_path: Path) -> None:
    pictures.write_pngs(tmp_path)
    for size in pictures.SIZES:
        body = (tmp_path / f"{size}x{size}" / "apps" / "moat.png").read_bytes()
        assert body.startswith(PNG)
        assert struct.unpack(">II", body[16:24]) == (size, size)
    assert (tmp_path / "scalable" / "apps" / "moat.svg").exists()


def test_windows_finds_each_picture_where_the_table_says() -> None:
    body = pictures.ico([(16, b"small"), (256, b"large")])
    assert struct.unpack("<HHH", body[:6]) == (0, 1, 2)
    side, _, _, _, _, _, length, start = struct.unpack("<BBBBHHII", body[22:38])
    assert (side, body[start : start + length]) == (0, b"large")


def test_the_mac_finds_lengths_it_can_follow() -> None:
    body = pictures.icns([(128, b"picture")])
    assert body[:4] == b"icns"
    assert struct.unpack(">I", body[4:8]) == (len(body),)
    assert body[8:12] == b"ic07"
