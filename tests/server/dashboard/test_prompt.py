from server.asking.ask import Means
from server.chat import Message
from server.dashboard.figures.compute import Figure
from server.dashboard.materials import Material
from server.dashboard.prompt import Prompt, compose
from server.dashboard.query import Query, Said, Skill
from server.data.documents import Document
from server.data.tables import from_grid
from server.engine.base import ModelFacts
from tests.kit.engines import ScriptedEngine

TABLE = from_grid(["n", "v"], [[n, n * 1.5] for n in range(5000)], "Numbers")
BIG = Material("Numbers", (Document("Numbers", tables=(TABLE,)),))
PAPER = Material("Paper", (Document("p.pdf", ("One.", "Two."), is_paged=True),))


async def composed(query: Query, *materials: Material, window: int = 4096) -> Prompt:
    engine = ScriptedEngine()
    engine.facts = ModelFacts(name="m", context_tokens=window)
    figures = [Figure("Sum of v: 7", [], "", "Numbers")]
    return await compose(Means(engine), query, materials, figures if materials else [])


def text(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


async def test_a_plain_question_stays_as_it_is() -> None:
    query = Query((Said("user", "Hello", 1),), "Hello", 1)
    prompt = await composed(query)
    assert prompt.messages[-1] == Message("user", "Hello")


async def test_data_comes_before_the_question_and_fits_the_window() -> None:
    for window in (1024, 4096, 32_768):
        prompt = await composed(Query((), "The sum?", 1), BIG, window=window)
        # This engine counts a byte as a token.
        assert len(text(prompt).encode()) <= window - prompt.max_tokens
        assert "Sum of v: 7" in text(prompt)
        assert prompt.messages[-1].content.endswith("Question: The sum?")
        assert prompt.cuts == ["Numbers: a summary of 5000 rows was read"]


async def test_pages_that_were_read_are_remembered() -> None:
    prompt = await composed(Query((), "q", 1), PAPER)
    assert prompt.pages == {"p.pdf": (1, 2)}
    assert "[page 2] Two." in text(prompt)


async def test_history_alternates_and_the_newest_is_kept() -> None:
    said = [Said("user", "old " * 400, 1), Said("assistant", "old " * 400, 1)]
    said += [Said("user", "a", 2), Said("assistant", "b", 2), Said("assistant", "c", 2)]
    prompt = await composed(Query((*said, Said("user", "now", 3)), "now", 3))
    assert [(one.role, one.content) for one in prompt.messages[1:]] == [
        ("user", "a"),
        ("assistant", "b\nc"),
        ("user", "now"),
    ]


async def test_skills_language_and_length_are_followed() -> None:
    options = {"answer-language": "German", "answer-length": "short"}
    query = Query((), "q", 1, skills=(Skill("s", "", "Be brief."),), options=options)
    prompt = await composed(query)
    assert "Be brief." in prompt.messages[0].content
    assert "Answer in German." in prompt.messages[0].content
    assert prompt.max_tokens == 120


async def test_a_long_question_keeps_its_ends_and_the_cut_is_said() -> None:
    question = "FIRST " + "word " * 9000 + "LAST"
    prompt = await composed(Query((), question, 1))
    asked = prompt.messages[-1].content
    assert asked.startswith("FIRST ")
    assert asked.endswith(" LAST")
    assert prompt.cuts == ["the question: only its beginning and end were read"]
    assert len(text(prompt)) < 4096


async def test_what_was_said_before_is_cut_and_that_is_said() -> None:
    said = (Said("user", "FIRST " + "a" * 9000 + " LAST", 1), Said("assistant", "b", 1))
    query = Query((*said, Said("user", "now", 2)), "now", 2)
    engine = ScriptedEngine()
    engine.facts = ModelFacts(name="m", context_tokens=32_768, device="cuda")
    prompt = await compose(Means(engine), query, [], [])
    kept = prompt.messages[1].content
    assert kept.startswith("FIRST ")
    assert kept.endswith(" LAST")
    assert prompt.cuts == ["what was said before: only a part of it was read"]


async def test_a_figure_over_a_part_is_not_called_one_over_all() -> None:
    part = Figure("Sum of v (over the first 2 of 3 rows): 7", [], "", "N", is_whole=False)
    engine = ScriptedEngine()
    engine.facts = ModelFacts(name="m", context_tokens=4096)
    prompt = await compose(Means(engine), Query((), "q", 1), [BIG], [part])
    assert "all rows, exact" not in text(prompt)
    assert "over the first 2 of 3 rows" in text(prompt)
