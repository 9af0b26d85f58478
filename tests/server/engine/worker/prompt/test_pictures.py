"""Images as strangers send them: whole, odd, damaged, or made to hurt."""

import io
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from server.engine.causes import JobRefused
from server.engine.worker.prompt import pictures
from server.engine.worker.prompt.pictures import decode, decode_all


def written(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def red(width: int = 8, height: int = 6) -> Image.Image:
    return Image.new("RGB", (width, height), (255, 0, 0))


def png(width: int, height: int, rows: bytes) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + body))
        return struct.pack(">I", len(body)) + name + body + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_usual_kinds_are_read(kind: str) -> None:
    found = decode(written(red(), kind))
    assert (found.width, found.height, len(found.pixels)) == (8, 6, 8 * 6 * 3)
    assert found.pixels[0] > 240
    assert max(found.pixels[1:3]) < 16


def test_what_is_transparent_is_white() -> None:
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert decode(written(clear)).pixels == b"\xff" * 48
    assert decode(written(clear.convert("P"), transparency=0)).pixels == b"\xff" * 48


def test_sixteen_bits_of_grey_are_not_all_white() -> None:
    grey = Image.new("I;16", (2, 2), 0x4000)
    assert decode(written(grey)).pixels == b"\x40" * 12


def test_a_photograph_is_turned_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    found = decode(written(red(8, 6), "JPEG", exif=turned))
    assert (found.width, found.height) == (6, 8)


def test_a_large_one_is_made_smaller() -> None:
    found = decode(written(red(6000, 3000), "JPEG"))
    assert (found.width, found.height) == (4096, 2048)


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"",
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        lambda: written(red())[:-30],
        lambda: written(red(), "JPEG")[:200],
        lambda: written(red(), "TIFF"),
        lambda: png(4, 4, b"\0" * 3),
        lambda: png(100_000, 100_000, b"\0" * 1000),
        lambda: written(red(300, 1)),
        lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * (21 << 20),
    ],
    ids=["empty", "svg", "cut", "cut-jpeg", "tiff", "short", "vast", "narrow", "heavy"],
)
def test_others_are_refused_in_a_sentence(make: Callable[[], bytes]) -> None:
    with pytest.raises(JobRefused) as refused:
        decode(make())
    assert refused.value.code == "invalid_request"
    assert str(refused.value).endswith(".")


def test_more_rows_than_the_picture_has_are_not_unpacked() -> None:
    assert len(decode(png(2, 2, b"\0" * (64 << 20))).pixels) == 12


def test_a_photograph_of_endless_scans_is_refused() -> None:
    whole = written(red(64, 64), "JPEG", progressive=True)
    at = whole.rindex(pictures.SCAN)
    with pytest.raises(JobRefused):
        decode(whole[:at] + whole[at:-2] * 200 + whole[-2:])


def test_a_request_holds_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    small = written(red(4, 4))
    assert len(decode_all([small] * 3)) == 3
    with pytest.raises(JobRefused, match="65 images"):
        decode_all([small] * 65)
    monkeypatch.setattr(pictures, "MOST_PIXELS_TOGETHER", 40)
    with pytest.raises(JobRefused, match="together"):
        decode_all([small] * 3)
