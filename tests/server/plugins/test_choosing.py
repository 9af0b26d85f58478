import pytest

from server.flows.base import Flow, Step
from server.plugins.choosing import choose, mentioned, rank
from tests.engines import ScriptedEngine, says

FLOWS = [
    Flow("p", "list_books", "List the books on the shelf", (Step("start", "none"),)),
    Flow("p", "weights", "Chart the weights of the portfolio", (Step("start", "none"),)),
    Flow("q", "cve", "查询所有主机的CVE漏洞信息", (Step("start", "none"),)),
]
TEXTS = [f"{flow.name} {flow.description}" for flow in FLOWS]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Which book is on my shelf?", 0),
        ("draw my portfolio as a chart", 1),
        ("主机上有哪些漏洞", 2),
    ],
)
def test_words_and_pairs_of_characters_find_the_flow(question: str, best: int) -> None:
    assert rank(question, TEXTS)[0] == best


@pytest.mark.parametrize("question", ["", "hello there", "what is it?", "你好"])
def test_small_talk_finds_nothing(question: str) -> None:
    assert rank(question, TEXTS) == []


async def test_the_pick_may_be_none() -> None:
    engine = ScriptedEngine(says("1"), says("none"))
    assert await choose(engine, "the books", FLOWS, "") == FLOWS[0]
    assert await choose(engine, "the books", FLOWS, "") is None
    constraint = engine.requests[0].constraint
    assert constraint
    assert constraint.source == "none|1"


async def test_without_a_word_in_common_the_model_is_not_asked() -> None:
    engine = ScriptedEngine()
    assert await choose(engine, "good morning", FLOWS, "") is None
    assert engine.requests == []


def test_a_mention_names_the_plugin_or_the_flow() -> None:
    assert mentioned("@p/weights please", FLOWS) == ([FLOWS[1]], "please")
    assert mentioned("@p what is there?", FLOWS) == (FLOWS[:2], "what is there?")
    assert mentioned("@nobody hi", FLOWS) is None
    assert mentioned("mail me @p", FLOWS) is None
