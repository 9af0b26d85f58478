"""Which flow a question is for: the best by words, then one bound pick that may say none."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from server.asking.ask import pick
from server.data.shorten import shorten
from server.engine.base import Engine
from server.errors import FlowFailed
from server.flows.base import Flow
from server.language.words import terms

MOST = 12
K1 = 1.2
B = 0.75
MOST_TOKENS = 600
"""Of the question to the model: reading more takes long on a machine without a graphics card."""
SHORTEST_LINE = 20
SHORTEST_QUESTION = 60
FAR = 0.2
"""The share of the best score below which a flow does not fit at all."""
NONE = "none"
SYSTEM = (
    "You decide which tool helps with the user's message. Answer with its number, or with 'none' "
    "when no tool fits and it should simply be answered."
)
MENTION = re.compile(r"\s*@([A-Za-z0-9_.-]{1,64})(?:/(\S{1,128}))?(?:\s+|$)(.*)", re.DOTALL)


def rank(question: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts that share words with the question, best first."""
    scores = _scores(question, texts)
    order = sorted(range(len(texts)), key=lambda place: -scores[place])
    return [place for place in order if scores[place] > 0]


def best_of(question: str, flows: Sequence[Flow], most: int = MOST) -> list[Flow]:
    """The flows that fit the question best, without those that are far behind the first."""
    texts = [_told(flow) for flow in flows]
    scores = _scores(question, texts)
    least = FAR * max(scores, default=0.0)
    return [flows[place] for place in rank(question, texts)[:most] if scores[place] >= least]


def _told(flow: Flow) -> str:
    return f"{flow.name} {flow.description}"


def _scores(question: str, texts: Sequence[str]) -> list[float]:
    """BM25 over words, and over pairs of characters where words are not written apart."""
    counts = [Counter(terms(text)) for text in texts]
    wanted = set(terms(question))
    usual = sum(count.total() for count in counts) / max(len(counts), 1) or 1.0
    having = Counter(term for count in counts for term in count if term in wanted)
    scores = []
    for count in counts:
        weight = K1 * (1 - B + B * count.total() / usual)
        score = 0.0
        for term in wanted & count.keys():
            rarity = math.log(1 + (len(counts) - having[term] + 0.5) / (having[term] + 0.5))
            score += rarity * count[term] * (K1 + 1) / (count[term] + weight)
        scores.append(score)
    return scores


async def choose(
    engine: Engine, question: str, flows: Sequence[Flow], client: str, *, is_named: bool = False
) -> Flow | None:
    """The flow that answers the question; None for a plain answer.

    `is_named`: the person named their plugin, so each of them may be meant, in any language.
    """
    best = best_of(question, flows)
    if is_named:
        best = [*best, *(flow for flow in flows if flow not in best)][:MOST]
    while best:
        try:
            return await _pick(engine, question, best, client)
        except FlowFailed as error:
            if error.fault != "too_large":
                raise
            best = best[: len(best) // 2]
    return None


async def _pick(engine: Engine, question: str, best: Sequence[Flow], client: str) -> Flow | None:
    """One question to the model, which may say none; FlowFailed when even this is too long."""

    def prompt(room: int) -> tuple[str, str]:
        each = max(room // (2 * len(best)), SHORTEST_LINE)
        lines = "\n".join(
            f"{number}. {shorten(f'{flow.name}: {flow.description}', each)}"
            for number, flow in enumerate(best, 1)
        )
        asked = shorten(question, max(room // 3, SHORTEST_QUESTION))
        return SYSTEM, f"Tools:\n{lines}\nMessage: {asked}\nNumber or none:"

    names = [NONE, *(str(number) for number in range(1, len(best) + 1))]
    answer = await pick(engine, prompt, names, client, MOST_TOKENS)
    return None if answer == NONE else best[int(answer) - 1]


def mentioned(question: str, flows: Sequence[Flow]) -> tuple[list[Flow], str] | None:
    """'@plugin …' or '@plugin/flow …': the flows meant, and the question without the mention."""
    named = named_in(question)
    if named is None:
        return None
    plugin, name, rest = named
    meant = [flow for flow in flows if flow.plugin == plugin and name in (None, flow.name)]
    return (meant, rest) if meant else None


def named_in(question: str) -> tuple[str, str | None, str] | None:
    """The plugin and the flow that a question begins with, and what follows them."""
    match = MENTION.match(question)
    return (match[1], match[2], match[3].strip()) if match else None
