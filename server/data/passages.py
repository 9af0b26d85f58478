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
    order += [index for index in range(len(looked_at)) if index not in set(order)]
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
    """Splits a page into passages, at paragraphs, lines and sentences where possible."""
    parts: list[str] = []
    rest = page.strip()
    while len(rest) > PASSAGE_CHARACTERS:
        window = rest[:PASSAGE_CHARACTERS]
        place = max(window.rfind("\n\n"), window.rfind("\n"), window.rfind(". ") + 1)
        place = place if place > PASSAGE_CHARACTERS // 3 else PASSAGE_CHARACTERS
        parts.append(rest[:place].strip())
        rest = rest[place:].strip()
        if len(parts) > MOST_PASSAGES:
            break
    return [*parts, rest] if rest else parts
