from pathlib import Path

import pytest

from scripts.server_sentences import (
    CLAUSES,
    NOT_IN_THE_WINDOW,
    ROOT,
    SAYING,
    clauses,
    is_sentence,
    templates,
    texts,
)


def written(source: str, folder: Path) -> list[str]:
    path = folder / "said.py"
    path.write_text(source, "utf-8")
    return list(texts(path))


def test_values_become_numbered_places(tmp_path: Path) -> None:
    source = 'f"{a.b} needs {len(c):,} of {d!r}."'
    assert written(f"x = {source}", tmp_path) == ["{0} needs {1} of {2}."]


def test_values_side_by_side_are_one_place(tmp_path: Path) -> None:
    source = """x = f"It ended ({code}{f': {said}' if said else ''})." """
    assert written(source, tmp_path) == ["It ended ({0})."]


def test_braces_of_the_text_are_doubled_and_names_are_places(tmp_path: Path) -> None:
    assert written('x = f"Write {{}} in {name}."', tmp_path) == ["Write {{}} in {0}."]
    assert written('x = "It lies in {path}."', tmp_path) == ["It lies in {0}."]


def test_neither_docstrings_nor_the_log_are_said(tmp_path: Path) -> None:
    source = '"""What it is."""\nlog.info("It is %s.", f"So it is {x}.")\ny = "Said to people."'
    assert written(source, tmp_path) == ["Said to people."]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The hub stopped responding.", True),
        ("The engine at {0} reports: {1}", True),
        ("llama.cpp could not load {0}; the log says why.", True),
        ("{0} {1}.", False),
        ("Bearer {0}", False),
        ("You choose a tool.", False),
        ("{0}\nAnswer this from the data: {1}", False),
    ],
)
def test_a_sentence_has_words_and_an_end(text: str, is_one: bool) -> None:
    assert is_sentence(text) is is_one


def test_every_file_and_every_clause_named_is_there() -> None:
    assert [one for one in SAYING if not list(ROOT.glob(one))] == []
    assert [name for name, pattern in CLAUSES.items() if not clauses(ROOT / name, pattern)] == []
    found = {text for one in SAYING for path in ROOT.glob(one) for text in texts(path)}
    assert found >= NOT_IN_THE_WINDOW


def test_what_people_are_told_is_among_them() -> None:
    found = templates()
    assert len(found) == len(set(found))
    assert {
        "The hub answered with the error {0}.",
        "This system has no usable keyring: secrets are stored unencrypted in {0}.",
        "it exited by itself (code {0})",
        "Short answers on very small machines; reads pictures.",
    } <= set(found)
    assert not [text for text in found if text.startswith("You ") or "'next'" in text]
