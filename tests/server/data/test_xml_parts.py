import io
import tracemalloc
import zipfile

import pytest

from server.data import office
from server.data.documents import Unreadable, read
from server.data.office import elements
from tests.kit.office_files import docx


def test_elements_come_whole_and_in_order() -> None:
    text = b"<a><other/><b><c>1</c></b><d><b><c>2</c><b>in</b></b></d></a>"
    found = ["".join(one.itertext()) for one in elements(io.BytesIO(text), "b")]
    assert found == ["1", "in", "2in"]


@pytest.mark.parametrize("one", [b"<b>x</b>", b"<other>x</other>"])
def test_what_was_seen_does_not_stay_in_memory(one: bytes) -> None:
    file = io.BytesIO(b"<a><list>" + one * 50_000 + b"</list></a>")
    tracemalloc.start()
    count = sum(1 for _ in elements(file, "b"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count in (0, 50_000)
    assert peak < 2_000_000


def test_one_element_of_endless_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MOST_INSIDE", 100)
    with pytest.raises(Unreadable, match="damaged"):
        read(docx("<w:x/>" * 200), "t.docx")


def test_endless_depth_is_refused() -> None:
    with pytest.raises(zipfile.BadZipFile):
        list(elements(io.BytesIO(b"<a>" * 1000), "b"))
