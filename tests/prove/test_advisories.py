"""Advisories are read as they are published, and a vulnerable package is found."""

import json
from pathlib import Path

import pytest
from packaging.version import Version

from tests.prove import advisories
from tests.prove.advisories import read, within

PYSEC = """\
id: PYSEC-2026-1
modified: 2026-02-03T00:00:00Z
affected:
- package: {ecosystem: PyPI, name: Some.Part}
  ranges:
  - {type: GIT, events: [{introduced: "0"}]}
  - {type: ECOSYSTEM, events: [{introduced: "1.0"}, {fixed: 1.2}, {introduced: "2.0"}]}
  versions: ["0.9"]
"""


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    folder = tmp_path / "vulns" / "some-part"
    folder.mkdir(parents=True)
    (folder / "PYSEC-2026-1.yaml").write_text(PYSEC)
    (folder / "PYSEC-2026-2.yaml").write_text(
        PYSEC.replace("2026-1", "2026-2") + "withdrawn: 2026-03-01T00:00:00Z\n"
    )
    return tmp_path


def test_a_hole_is_found_in_the_versions_that_have_it(authority: Path) -> None:
    (known,) = read(authority, {"some-part", "other"})
    assert (known.about, known.day) == ("PYSEC-2026-1", "2026-02-03")
    affected = [one for one in ("0.8", "0.9", "1.1", "1.2", "2.5") if known.affects(Version(one))]
    assert affected == ["0.9", "1.1", "2.5"]


def test_a_hole_up_to_a_version_includes_it() -> None:
    events = [{"introduced": "0"}, {"last_affected": "5.6.3"}]
    assert within(events, Version("5.6.3"))
    assert not within(events, Version("5.6.4"))


def test_the_other_format_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    told = {"$meta": {"timestamp": 1775023247}, "Some_Part": ["<1.2", ">=2,<2.1"], "other": ["<9"]}
    (tmp_path / "data" / "insecure.json").write_text(json.dumps(told))
    known = read(tmp_path, {"some-part"})
    assert [one.day for one in known] == ["2026-04-01"] * 2
    assert [one.affects(Version("2.0")) for one in known] == [False, True]


def test_a_folder_without_advisories_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no advisories"):
        read(tmp_path, {"some-part"})


def test_several_folders_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(advisories.VARIABLE, "/a:/b")
    assert advisories.folders() == [Path("/a"), Path("/b")]
