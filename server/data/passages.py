"""Shortens long texts to the passages nearest to a question, in their original order."""

from dataclasses import dataclass

from server.language.ranking import rank

PASSAGE_CHARACTERS = 700
MOST_PASSAGES = 3000


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    page: int
    """The number of the page, from 1. A text without pages is page 1."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    passages: tuple[Passage, ...]
    is_cut: bool

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(passage.page for passage in self.passages))


def excerpt(pages: tuple[str, ...], question: str, characters: int) -> Excerpt:
    """Returns all passages if they fit, else those that rank best for the question."""
    passages = [
        Passage(part, number) for number, page in enumerate(pages, 1) for part in split_text(page)
    ]
    if sum(len(passage.text) for passage in passages) <= characters:
        return Excerpt(tuple(passages), is_cut=False)
    looked_at = passages[:MOST_PASSAGES]
    order = [
        match.index for match in rank(question, [{passage.text: 1.0} for passage in looked_at])
    ]
    ranked = set(order)
    order += [index for index in range(len(looked_at)) if index not in ranked]
    chosen: list[int] = []
    room = characters
    for index in order:
        room -= len(looked_at[index].text)
        if room < 0 and chosen:
            break
        chosen.append(index)
    kept = tuple(looked_at[index] for index in sorted(chosen))
    if room < 0 and len(chosen) == 1:
        kept = (Passage(kept[0].text[: max(characters, 80)], kept[0].page),)
    return Excerpt(kept, is_cut=True)


def split_text(page: str) -> list[str]:
    """Cuts at paragraphs and sentences where possible. No passage is longer than the limit."""
    parts: list[str] = []
    page = page.strip()
    start = 0
    while len(page) - start > PASSAGE_CHARACTERS:
        window = page[start : start + PASSAGE_CHARACTERS]
        place = max(window.rfind("\n\n"), window.rfind("\n"), window.rfind(". ") + 1)
        place = place if place > PASSAGE_CHARACTERS // 3 else PASSAGE_CHARACTERS
        parts.append(window[:place].strip())
        start += place
        while page[start].isspace():
            start += 1
    return [*parts, page[start:]] if page else parts
