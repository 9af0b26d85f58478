"""Which flow a question is for: the best by words, then one bound pick that may say none."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from server.engine.base import Engine
from server.flows.asking import pick
from server.flows.base import Flow
from server.flows.cutting import shorten
from server.flows.words import terms

MOST = 12
K1 = 1.2
B = 0.75
CONTEXT_SHARE = 0.25
CHARS_PER_TOKEN = 2
NONE = "none"
SYSTEM = (
    "You decide which tool helps with the user's message. Answer with its number, or with 'none' "
    "when no tool fits and it should simply be answered."
)
MENTION = re.compile(r"\s*@([A-Za-z0-9_.-]{1,64})(?:/(\S{1,128}))?(?:\s+|$)(.*)", re.DOTALL)


def rank(question: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts that share words with the question, best first."""
    counts = [Counter(terms(text)) for text in texts]
    wanted = set(terms(question))
    if not counts or not wanted:
        return []
    usual = sum(count.total() for count in counts) / len(counts) or 1.0
    having = Counter(term for count in counts for term in count if term in wanted)
    scores = []
    for count in counts:
        weight = K1 * (1 - B + B * count.total() / usual)
        score = 0.0
        for term in wanted & count.keys():
            rarity = math.log(1 + (len(counts) - having[term] + 0.5) / (having[term] + 0.5))
            score += rarity * count[term] * (K1 + 1) / (count[term] + weight)
        scores.append(score)
    order = sorted(range(len(texts)), key=lambda place: -scores[place])
    return [place for place in order if scores[place] > 0]


async def choose(engine: Engine, question: str, flows: Sequence[Flow], client: str) -> Flow | None:
    """The flow that answers the question; None for a plain answer."""
    order = rank(question, [f"{flow.name} {flow.description}" for flow in flows])
    best = [flows[place] for place in order[:MOST]]
    if not best:
        return None
    room = int((engine.facts.context_tokens or 4096) * CONTEXT_SHARE * CHARS_PER_TOKEN)
    each = max(room // len(best), 60)
    lines = "\n".join(
        f"{number}. {shorten(f'{flow.name}: {flow.description}', each)}"
        for number, flow in enumerate(best, 1)
    )

    def prompt(room: int) -> tuple[str, str]:
        return SYSTEM, f"Tools:\n{lines}\nMessage: {shorten(question, room // 2)}\nNumber or none:"

    names = [NONE, *(str(number) for number in range(1, len(best) + 1))]
    answer = await pick(engine, prompt, names, client)
    return None if answer == NONE else best[int(answer) - 1]


def mentioned(question: str, flows: Sequence[Flow]) -> tuple[list[Flow], str] | None:
    """'@plugin …' or '@plugin/flow …': the flows meant, and the question without the mention."""
    match = MENTION.match(question)
    if match is None:
        return None
    plugin, name, rest = match.groups()
    meant = [flow for flow in flows if flow.plugin == plugin and name in (None, flow.name)]
    return (meant, rest.strip()) if meant else None
