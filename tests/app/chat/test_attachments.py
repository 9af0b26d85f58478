"""Files that go along: text, documents that the server reads, images for a model that sees."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.chat.attachments import LARGEST, Attachment, NotAttached, as_url, from_url, joined, read
from server.chat import Image
from server.errors import AppError
from server.face.core import FileText
from tests.kit.fake_core import LOADED, FakeCore

PNG = b"\x89PNG\r\n\x1a\nrest"


async def test_a_file_goes_along_in_a_fence_of_its_own(tmp_path: Path, core: FakeCore) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("\ufeffa,b\n1,2\n", encoding="utf-8")
    attached = await read(path, core)
    assert joined("Sum it.", [attached]) == "Sum it.\n\nprices.csv:\n```csv\na,b\n1,2\n```"
    tricky = joined("x", [Attachment("a.md", "```\ncode\n```")])
    assert "````\n```\ncode\n```\n````" in tricky


async def test_what_is_no_text_is_refused(tmp_path: Path, core: FakeCore) -> None:
    for name, held in (
        ("a.bin", b"\xff\xfe\x00"),
        ("b.bin", b"a\0b"),
        ("c.bin", b"\xff\xfe" * LARGEST),
    ):
        (tmp_path / name).write_bytes(held)
        with pytest.raises(NotAttached, match=name):
            await read(tmp_path / name, core)
    with pytest.raises(NotAttached, match="could not be read"):
        await read(tmp_path / "missing.txt", core)


async def test_a_document_is_read_by_the_server(tmp_path: Path, core: FakeCore) -> None:
    core.document = FileText("r.pdf", "One.\n\nTwo.", ("Only the first 2 pages were read.",))
    found = await read(tmp_path / "r.pdf", core)
    assert core.commands == [("read_document", str(tmp_path / "r.pdf"))]
    assert (found.text, found.notes) == ("One.\n\nTwo.", core.document.notes)
    core.document = FileText("r.pdf", " ", ("It may be a scan.",))
    with pytest.raises(NotAttached, match="scan"):
        await read(tmp_path / "r.pdf", core)
    assert not found.is_searched
    core.document = FileText("r.pdf", "x" * (LARGEST + 1))
    assert (await read(tmp_path / "r.pdf", core)).is_searched
    core.refuse = AppError("r.pdf is protected by a password.")
    with pytest.raises(AppError, match="password"):
        await read(tmp_path / "r.pdf", core)


@pytest.mark.parametrize("length", [LARGEST + 1, 20_000])
async def test_a_text_that_does_not_fit_is_searched_instead(
    tmp_path: Path, core: FakeCore, length: int
) -> None:
    path = tmp_path / "long.txt"
    path.write_text("ä" * (length // 2 + 1), encoding="utf-8")
    core.model.set(replace(LOADED, context_tokens=8192))
    found = await read(path, core)
    assert found.is_searched
    assert (found.path, found.size) == (str(path), path.stat().st_size)
    core.model.set(replace(LOADED, context_tokens=32_768))
    assert (await read(path, core)).is_searched == (length > LARGEST)


async def test_an_image_only_for_a_model_that_sees(tmp_path: Path, core: FakeCore) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(PNG)
    with pytest.raises(NotAttached, match="cannot read images"):
        await read(path, core)
    core.model.set(replace(LOADED, sees_images=True))
    found = await read(path, core)
    assert found.image == Image("image/png", PNG)
    assert joined("What is it?", [found]) == "What is it?"
    path.write_bytes(b"GIF89a")
    with pytest.raises(NotAttached, match="not a valid image"):
        await read(path, core)


def test_an_image_as_an_address_and_back() -> None:
    image = Image("image/jpeg", bytes(range(256)))
    assert from_url(as_url(image)) == image
    assert from_url("https://example.com/a.png") is None
    assert from_url("data:image/png;base64,abcde") is None
