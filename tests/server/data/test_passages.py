from server.data.passages import MOST_PASSAGES, PASSAGE_CHARACTERS, excerpt, split_text

PAGES = tuple(f"Page {n}. " + f"Filler about topic{n} and others. " * 30 for n in range(1, 21))


def test_short_texts_are_taken_whole() -> None:
    found = excerpt(("one", "two"), "anything", 100)
    assert [(one.text, one.page) for one in found.passages] == [("one", 1), ("two", 2)]
    assert not found.is_cut


def test_the_passages_that_the_question_speaks_of_are_kept_in_order() -> None:
    pages = (*PAGES[:6], "The secret word is MARZIPAN.", *PAGES[6:])
    found = excerpt(pages, "What is the secret word?", 1500)
    assert found.is_cut
    assert 7 in found.pages
    assert list(found.pages) == sorted(found.pages)
    assert sum(len(one.text) for one in found.passages) <= 1500


def test_a_question_without_a_hit_gets_the_beginning() -> None:
    assert excerpt(PAGES, "zebra", 900).passages[0].page == 1


def test_one_endless_word_is_cut() -> None:
    found = excerpt(("x" * 100_000,), "x", 300)
    assert sum(len(one.text) for one in found.passages) <= 300


def test_the_end_of_a_very_long_text_is_cut_into_passages_too() -> None:
    lines = "revenue margin bond yield equity cash flow\n" * 20 * MOST_PASSAGES
    parts = split_text(f"{lines}The secret total is 4711 euros.")
    assert len(parts) > MOST_PASSAGES
    assert max(map(len, parts)) <= PASSAGE_CHARACTERS
    assert parts[-1].endswith("The secret total is 4711 euros.")
