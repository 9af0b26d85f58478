"""The XML inside office files, element by element: none stays in memory once it was seen."""

import zipfile
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

MAX_PART_BYTES = 64 * 1024 * 1024
MOST_INSIDE = 500_000
"""Elements within one that is yielded whole: cells of a row, words of a paragraph."""
DEEPEST = 500


def open_part(archive: zipfile.ZipFile, part: str) -> IO[bytes]:
    if archive.getinfo(part).file_size > MAX_PART_BYTES:
        raise zipfile.BadZipFile("a part of the file is too big")
    return archive.open(part)


def elements(file: IO[bytes], tag: str) -> Iterator[ElementTree.Element]:
    """Each element of this tag, whole, when it ends."""
    opened: list[ElementTree.Element] = []
    wanted = inside = 0
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        if event == "start":
            opened.append(element)
            wanted += element.tag == tag
            inside = inside + 1 if wanted else 0
            if inside > MOST_INSIDE or len(opened) > DEEPEST:
                raise zipfile.BadZipFile("a part of the file has too many parts")
            continue
        opened.pop()
        if element.tag == tag:
            wanted -= 1
            yield element
        if not wanted and opened:
            # Its parent would keep it and all its brothers until the end of the file.
            opened[-1].clear()
