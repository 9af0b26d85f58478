import pytest

from server.flows.base import Flow, Step
from server.plugins import answering
from server.plugins.answering import MOST_TOKENS, choose, find_mention, rank
from tests.kit.engines import ScriptedEngine, fails_trial, passes_trial, says

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
    assert find_mention("@p/weights please", FLOWS) == ([FLOWS[1]], "please")
    assert find_mention("@p what is there?", FLOWS) == (FLOWS[:2], "what is there?")
    assert find_mention("@nobody hi", FLOWS) is None
    assert find_mention("mail me @p", FLOWS) is None


async def test_a_choice_reads_little_in_any_language() -> None:
    told = "查询所有主机的漏洞信息并给出修复建议" * 60
    flows = [Flow("p", f"查询{n}", told, (Step("start", "none"),)) for n in range(40)]
    engine = ScriptedEngine(says("none"))
    assert await choose(engine, "主机上有哪些漏洞" * 200, flows, "") is None
    (request,) = engine.requests
    read = await engine.tokenize("".join(one.content for one in request.messages))
    assert len(read) <= MOST_TOKENS


async def test_of_a_plugin_that_was_named_each_flow_may_be_meant() -> None:
    engine = ScriptedEngine(says("2"))
    assert await choose(engine, "现在几点", FLOWS, "", is_named=True) == FLOWS[1]


@pytest.mark.parametrize(
    ("question", "best"), [("Welche Bücher habe ich?", "bücher"), ("Какая погода", "погода")]
)
def test_words_of_other_scripts_are_whole(question: str, best: str) -> None:
    assert rank(question, ["cher b", f"{best} zeigen", "ogoda"]) == [1]


async def test_a_model_that_passed_the_trial_is_asked_without_a_word_in_common() -> None:
    engine = ScriptedEngine(says("1"))
    asked = "Welche Romane stehen bei mir?"
    assert await choose(engine, asked, FLOWS, "", can_plan=fails_trial) is None
    assert await choose(engine, asked, FLOWS, "", can_plan=passes_trial) == FLOWS[0]
    assert await choose(engine, "Hallo!", FLOWS, "", can_plan=passes_trial) is None
    assert len(engine.requests) == 1


def test_the_scores_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def score(question: str, texts: list[str]) -> list[float]:
        computed.append(question)
        return [1.0, 0.0, 9.0]

    monkeypatch.setattr(answering, "_scores", score)
    assert answering.best_of("which one?", FLOWS) == [FLOWS[2]]
    assert computed == ["which one?"]
