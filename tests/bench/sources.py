"""A folder of mixed documents as a source: how long indexing takes, and what is found in it.

python -m tests.bench.sources [--documents N]

The documents are generated: PDF, Word, Excel, text and Markdown about made-up companies, with ten
facts hidden among them. Each fact is asked for in words other than its own.
"""

import argparse
import asyncio
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from server.data.sources import Sources
from server.face.core import FoundPassage
from tests.kit.office_files import docx, pdf, workbook

FIRST = 5
"""How many passages are searched for the fact."""
LEAST_FOUND = 9
MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fact:
    text: str
    question: str
    proof: str
    """Text that only the right passage contains."""


FACTS = (
    Fact(
        "The lease of the Rotterdam warehouse ends on 30 June 2031.",
        "When does the lease for the warehouse in Rotterdam end?",
        "30 June 2031",
    ),
    Fact(
        "Halvorsen Shipping pays a dividend of 2.75 crowns per share.",
        "What is the payout per share at Halvorsen Shipping?",
        "2.75 crowns",
    ),
    Fact(
        "Dr. Amara Okafor was appointed chief risk officer in March.",
        "Who became chief risk officer?",
        "Amara Okafor",
    ),
    Fact(
        "The Tallinn data centre draws 14.2 megawatts at full load.",
        "How many megawatts does the data centre in Tallinn need?",
        "14.2 megawatts",
    ),
    Fact(
        "Patent EP4471120 covers the ceramic separator of the battery.",
        "Which patent protects the ceramic separator?",
        "EP4471120",
    ),
    Fact(
        "Kestrel Foods recalled 18,400 jars of almond butter because of glass splinters.",
        "Why were jars of almond butter recalled?",
        "glass splinters",
    ),
    Fact(
        "The arbitration with Borealis Cement was settled for 61 million euros.",
        "What did the settlement of the Borealis arbitration cost?",
        "61 million euros",
    ),
    Fact(
        "The pension fund lowered its discount rate to 3.35 percent.",
        "What discount rate does the pension fund use?",
        "3.35 percent",
    ),
    Fact(
        "Project Lighthouse moves payroll to the new ledger in week 37.",
        "In which week does Project Lighthouse change the payroll?",
        "week 37",
    ),
    Fact(
        "The covenant forbids net debt above 3.1 times operating profit.",
        "What is the limit for net debt in the covenant?",
        "3.1 times",
    ),
)
COMPANIES = (
    "Alder", "Arco", "Brightwell", "Corvus", "Delmar", "Elbe",
    "Fenwick", "Gorse", "Hadley", "Iris", "Juno", "Kolding",
)  # fmt: skip
THINGS = (
    "warehouse", "fleet", "refinery", "portfolio", "factory", "bridge",
    "clinic", "vineyard", "cable", "turbine",
)  # fmt: skip
PLACES = (
    "Porto", "Lyon", "Graz", "Turku", "Cork", "Lodz",
    "Malmo", "Bilbao", "Gent", "Trieste",
)  # fmt: skip
MATTERS = (
    "revenue", "operating profit", "net debt", "the dividend", "the payroll", "the pension fund",
    "the lease", "the patent", "energy use", "the discount rate",
)  # fmt: skip


def sentence(made: random.Random) -> str:
    pick = made.choice
    return (
        f"{pick(COMPANIES)} {pick(('Group', 'Holding', 'Partners'))} says that {pick(MATTERS)} of "
        f"its {pick(THINGS)} in {pick(PLACES)} {pick(('rose', 'fell', 'stayed'))} by "
        f"{made.randint(1, 90)}.{made.randint(0, 9)} percent in {made.randint(2015, 2026)}."
    )


def paragraphs(made: random.Random, count: int) -> list[str]:
    return [" ".join(sentence(made) for _ in range(made.randint(4, 8))) for _ in range(count)]


def make_folder(folder: Path, count: int) -> dict[str, str]:
    """Writes the documents. Returns the file that contains each fact."""
    made = random.Random(31)
    places = dict(zip(made.sample(range(count), len(FACTS)), FACTS, strict=True))
    writers: tuple[tuple[str, Callable[[list[str]], bytes]], ...] = (
        ("pdf", lambda texts: pdf(*texts)),
        ("docx", lambda texts: docx(*texts)),
        ("xlsx", _as_workbook),
        ("txt", lambda texts: "\n\n".join(texts).encode()),
        ("md", lambda texts: ("# Notes\n\n" + "\n\n".join(texts)).encode()),
    )
    found = {}
    for number in range(count):
        texts = paragraphs(made, made.randint(3, 9))
        fact = places.get(number)
        if fact:
            place = made.randrange(len(texts))
            texts[place] = f"{texts[place]} {fact.text} {sentence(made)}"
        kind, write = writers[number % len(writers)]
        path = folder / f"part-{number % 12}" / f"document-{number}.{kind}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(write(texts))
        if fact:
            found[fact.question] = str(path)
    return found


def _as_workbook(texts: list[str]) -> bytes:
    rows = [["number", "remark"], *([str(n), text] for n, text in enumerate(texts, 1))]
    return workbook({"Remarks": rows})


async def until_ready(sources: Sources, folder: Path, told: Callable[[str], None]) -> None:
    await sources.index(str(folder))
    ready = asyncio.Event()

    def look(_: object) -> None:
        card = next((card for card in sources.cards.get() if card.path == str(folder)), None)
        if card and card.phase == "reading" and card.done % 100 == 0:
            told(f"{card.done} of {card.total} files")
        if card and card.phase != "reading":
            ready.set()

    end = sources.cards.connect(look)
    await ready.wait()
    end()


def is_found(fact: Fact, path: str, passages: list[FoundPassage]) -> bool:
    """Whether the fact is found in the right file and, in a PDF, with its page."""
    hits = [one for one in passages if fact.proof in one.text and one.path == path]
    return bool(hits) and (not path.endswith(".pdf") or hits[0].page > 0)


def write(line: str, to: TextIO = sys.stdout) -> None:
    to.write(f"{line}\n")
    to.flush()


def seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure(folder: Path, home: Path, count: int) -> int:
    places = make_folder(folder, count)
    held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    sources = Sources(home / "index.db")
    before, began = peak_mb(), seconds()
    await until_ready(sources, folder, lambda text: write(text, sys.stderr))
    took = seconds() - began
    (card,) = sources.cards.get()
    size = sum(path.stat().st_size for path in home.iterdir())
    found = 0
    began = seconds()
    for fact in FACTS:
        passages = await sources.find([str(folder)], fact.question, FIRST)
        is_hit = is_found(fact, places[fact.question], passages)
        found += is_hit
        where = next((one for one in passages if fact.proof in one.text), None)
        write(f"| {fact.question} | {'found' if is_hit else 'missed'} | {_place(where)} |")
    asked_s = (seconds() - began) / len(FACTS)
    write(f"\n| files | {card.files} ({held / MB:.1f} MB) |")
    write(f"| passages | {card.passages} |")
    write(f"| index: processor time | {took:.1f} s |")
    write(f"| index: size | {size / MB:.1f} MB |")
    write(f"| index: memory above the start | {peak_mb() - before:.0f} MB |")
    write(f"| a question: processor time | {asked_s * 1000:.0f} ms |")
    write(f"| found in the first {FIRST} | {found} of {len(FACTS)} |")
    write(f"| a changed file is found again | {await finds_changed(sources, folder)} |")
    write(f"| cancel leaves after | {await cancel(sources, folder) * 1000:.0f} ms |")
    await sources.close()
    return 0 if found >= LEAST_FOUND else 1


def _place(passage: FoundPassage | None) -> str:
    if passage is None:
        return "-"
    return f"{passage.name}" + (f", page {passage.page}" if passage.page else "")


async def finds_changed(sources: Sources, folder: Path) -> bool:
    path = next(folder.rglob("*.txt"))
    path.write_text("The zeppelin hangar in Friedrichshafen holds four airships.")
    passages = await sources.find([str(folder)], "Where is the zeppelin hangar?", FIRST)
    return any("four airships" in one.text for one in passages)


async def cancel(sources: Sources, folder: Path) -> float:
    """Returns the seconds from cancelling to the end, while all files are being read again."""
    for path in folder.rglob("*.*"):
        os.utime(path)
    reading = asyncio.Event()
    end = sources.cards.connect(lambda cards: reading.set() if any(x.done for x in cards) else None)
    await sources.index(str(folder))
    await reading.wait()
    end()
    began = time.monotonic()
    await sources.stop(str(folder))
    return time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1000)
    count = parser.parse_args().documents
    write(f"| question among {count} documents | in the first {FIRST} | where |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        return asyncio.run(measure(Path(folder), Path(home), count))


if __name__ == "__main__":
    sys.exit(main())
