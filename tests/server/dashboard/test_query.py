from server.dashboard.query import Element, Query, Result, Source, Widget


def test_the_same_source_with_other_arguments_is_another_key() -> None:
    one = Source("o", "w", "u", {"a": 1, "b": 2})
    assert one.key == Source("o", "w", "u", {"b": 2, "a": 1}).key
    assert one.key != Source("o", "w", "u", {"a": 2, "b": 2}).key
    assert one.place == Source("o", "w", "u").place


def test_a_source_finds_its_widget_by_uuid_or_by_place() -> None:
    widgets = (Widget("o", "w", "First", uuid="u1"), Widget("o", "w", "Second", uuid="u2"))
    query = Query((), "", 1, widgets)
    found = query.widget_of(Source("", "", "u2"))
    assert found is not None
    assert found.name == "Second"
    assert query.widget_of(Source("o", "w")) is widgets[0]
    assert query.widget_of(Source("x", "y")) is None


def test_hops_count_since_the_user_spoke() -> None:
    old = Result("get_widget_data", {}, (), (Element(),), turn=1)
    new = Result("get_widget_data", {}, (), (Element(),), turn=2)
    assert Query((), "", 2, results=(old, new, new)).hop == 2


def test_of_a_very_long_question_rules_read_both_ends() -> None:
    query = Query((), "What is the price" + " and so on" * 100_000 + " of TSLA?", 1)
    assert len(query.question) <= 10_000
    assert query.question.startswith("What is the price")
    assert query.question.endswith("of TSLA?")
    assert len(query.asked) > 1_000_000
