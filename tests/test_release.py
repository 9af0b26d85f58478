"""The version is written once, and the changelog has a section for it."""

import re
import subprocess
import tomllib
from pathlib import Path

from server import VERSION

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## \[([^]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.M)
ELSEWHERE = ("CHANGELOG.md", "docs/proof.md", "constraints.txt", "server/__init__.py")
"""They name versions of the past or of others, and the one place itself."""


def tracked(*folders: str) -> list[Path]:
    command = ["git", "ls-files", "-z", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and name not in ELSEWHERE]


def test_the_package_reads_its_version_from_the_one_place() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in configuration["project"]
    assert configuration["project"]["dynamic"] == ["version"]
    read = configuration["tool"]["setuptools"]["dynamic"]["version"]
    assert read == {"attr": "server.VERSION"}


def test_no_other_file_repeats_the_version() -> None:
    """A number of this form in a dependency or an example would be missed at the next release."""
    number = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])")
    repeats = []
    for path in tracked("*.toml", "*.md", "server", "app", "scripts", "packaging", ".github"):
        try:
            text = path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        repeats += [str(path.relative_to(ROOT))] * bool(number.search(text))
    assert repeats == []


def test_the_changelog_begins_with_what_is_unreleased_then_this_version() -> None:
    headings = HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == VERSION
    assert all(day for _, day in headings[1:])
