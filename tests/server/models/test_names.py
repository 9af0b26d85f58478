"""Names from outside never lead outside."""

from pathlib import Path

import pytest

from server.errors import BadRequest
from server.models import names

HOSTILE = [
    "../x.gguf", "..\\x.gguf", "%2e%2e/x.gguf", "/etc/x.gguf", "\\\\host\\share\\x.gguf",
    "C:\\x.gguf", "C:x.gguf", "a\0b.gguf", "CON", "con.gguf", "nul", "x.gguf.", "x.gguf ",
    "a" * 300 + ".gguf", "\u202egnp.gguf", "", ".", "..", "a//b.gguf", "a/../b.gguf",
    ".hidden.gguf", "~/x.gguf", "a/b/c/d/e/f/g.gguf", "x\n.gguf", "x;rm.gguf", "$(x).gguf",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_name_is_refused(name: str):
    with pytest.raises(BadRequest):
        names.file(name)


@pytest.mark.parametrize(
    "name", [*HOSTILE, "owner", "a/b/c", "../b", "a/..", "owner/na me", "owner/.git", "a/con"]
)
def test_a_hostile_repository_is_refused(name: str):
    with pytest.raises(BadRequest):
        names.repo(name)


@pytest.mark.parametrize("name", ["../main", "a/b", "", "a..b", "main?x"])
def test_a_hostile_revision_is_refused(name: str):
    with pytest.raises(BadRequest):
        names.revision(name)


@pytest.mark.parametrize(
    "name", ["Qwen3-8B-Q4_K_M.gguf", "UD-Q4/m-00001-of-00003.gguf", "a (1)+b=c@d,e.gguf"]
)
def test_real_names_are_allowed(name: str):
    assert str(names.file(name)) == name


def test_a_link_that_leads_outside_is_refused(tmp_path: Path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "owner").symlink_to(tmp_path)
    with pytest.raises(BadRequest):
        names.inside(tmp_path / "models", "owner", names.file("x.gguf"))
    assert names.inside(tmp_path / "models", "other", names.file("x.gguf"))
