from collections import Counter

from tests.evaluate import dashboards
from tests.evaluate.questions import KINDS, LANGUAGES, chosen, load


def test_there_are_enough_questions_of_each_kind_and_language() -> None:
    turns = [one.turns[0] for one in load() if len(one.turns) == 1]
    assert len(turns) >= 120
    assert set(Counter(one.kind for one in turns)) == set(KINDS)
    languages = Counter(one.language for one in turns)
    assert all(languages[name] >= 10 for name in LANGUAGES)
    assert len(chosen("followups")) >= 30


def test_a_question_belongs_to_one_set_for_ever() -> None:
    tune, measured = chosen("tune"), chosen("measured")
    assert 0.8 < len(tune) / len(measured) < 1.25
    assert {one.id for one in tune}.isdisjoint(one.id for one in measured)
    assert [one.id for one in measured[:3]] == ["eq-01", "eq-02", "eq-03"]


def test_every_id_is_there_once() -> None:
    ids = Counter(one.id for one in load())
    assert [name for name, count in ids.items() if count > 1] == []


def test_the_dashboards_are_as_big_as_they_are_said_to_be() -> None:
    sizes = {name: len(dashboards.dashboard(name).widgets) for name in (*dashboards.NAMES, "large")}
    assert sizes == {"equities": 25, "macro": 12, "portfolio": 62, "ledger": 20, "large": 200}
