"""Decodes the images of a request into plain pixels: within limits, upright, on white."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageOps

from server.engine.causes import JobRefused
from server.sentences import Sentence

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
MOST_IMAGES = 64
MOST_BYTES = 20 << 20
MOST_PIXELS = 64_000_000
MOST_PIXELS_TOGETHER = 64_000_000
"""The limit for all images, after scaling them down. A pixel takes three bytes of memory."""
LONGEST_SIDE = 4096
"""In pixels. Larger images are scaled down: no model looks closer than this."""
MOST_STRETCHED = 200
MOST_SCANS = 100
"""The most scans in a JPEG. A scan of a few bytes costs a pass over the whole picture."""
SCAN = b"\xff\xda"
UNREADABLE = Sentence("An image is damaged, or not a PNG, JPEG, GIF, WebP or BMP file.")

# Up to twice its limit, Pillow only warns. `_check` has our limit, before decoding.
Image.MAX_IMAGE_PIXELS = None


@dataclass(frozen=True, slots=True)
class Bitmap:
    """An image as rows of pixels: red, green and blue, a byte each."""

    width: int
    height: int
    pixels: bytes


def decode_all(images: Sequence[bytes]) -> list[Bitmap]:
    if len(images) > MOST_IMAGES:
        raise _refuse(
            Sentence(
                "There are {0} images; at most {1} are read at once.", len(images), MOST_IMAGES
            )
        )
    bitmaps: list[Bitmap] = []
    for data in images:
        bitmaps.append(decode(data))
        if sum(bitmap.width * bitmap.height for bitmap in bitmaps) > MOST_PIXELS_TOGETHER:
            raise _refuse(
                Sentence("The images together are too large; send fewer or smaller ones.")
            )
    return bitmaps


def decode(data: bytes) -> Bitmap:
    """Decodes an image. Raises Refused if it is too large, damaged or of another format."""
    if len(data) > MOST_BYTES:
        raise _refuse(Sentence("An image is larger than {0} MB.", MOST_BYTES >> 20))
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check(image, data)
            plain = _plain(image)
    except JobRefused:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise _refuse(UNREADABLE) from error
    return Bitmap(plain.width, plain.height, plain.tobytes())


def _check(image: Image.Image, data: bytes) -> None:
    width, height = image.size
    if width * height > MOST_PIXELS:
        most = MOST_PIXELS // 1_000_000
        raise _refuse(
            Sentence(
                "An image has {0} x {1} pixels; at most {2} million are read.", width, height, most
            )
        )
    if max(width, height) > MOST_STRETCHED * min(width, height):
        raise _refuse(
            Sentence("An image of {0} x {1} pixels is too narrow to be read.", width, height)
        )
    if image.format == "JPEG" and data.count(SCAN) > MOST_SCANS:
        raise _refuse(UNREADABLE)


def _plain(image: Image.Image) -> Image.Image:
    longest = (LONGEST_SIDE, LONGEST_SIDE)
    image.draft("RGB", longest)
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):
        # Sixteen bits of grey: only the upper eight are visible.
        upright = upright.convert("I").point(lambda grey: grey * (1 / 256)).convert("L")
    if upright.has_transparency_data:
        seen = upright.convert("RGBA")
        plain = Image.new("RGB", seen.size, "white")
        plain.paste(seen, mask=seen.getchannel("A"))
    else:
        plain = upright.convert("RGB")
    plain.thumbnail(longest)
    return plain


def _refuse(message: str) -> JobRefused:
    return JobRefused("invalid_request", message, param="messages")
