from server.protocols.copilotkit.operations import Paths

FIRST = {
    "data": {"answer": {"words": ["a"], "id": "1"}},
    "pending": [{"id": "0", "path": ["answer", "words"]}, {"id": "1", "path": ["answer"]}],
    "hasNext": True,
}


def test_the_first_payload_loses_its_ids():
    assert Paths().initial(FIRST) == {"data": FIRST["data"], "hasNext": True}


def test_items_get_the_index_of_the_first_of_them():
    paths = Paths()
    paths.initial(FIRST)
    one = paths.following({"incremental": [{"id": "0", "items": ["b", "c"]}], "hasNext": True})
    two = paths.following({"incremental": [{"id": "0", "items": ["d"]}], "hasNext": True})
    assert one == {
        "incremental": [{"items": ["b", "c"], "path": ["answer", "words", 1]}],
        "hasNext": True,
    }
    assert two
    assert two["incremental"][0]["path"] == ["answer", "words", 3]


def test_late_data_goes_where_it_belongs():
    paths = Paths()
    paths.initial(FIRST)
    entry = {"id": "1", "subPath": ["inner", 2], "data": {"x": 1}, "errors": [{"message": "m"}]}
    told = paths.following({"incremental": [entry], "hasNext": False})
    placed = {"data": {"x": 1}, "path": ["answer", "inner", 2], "errors": [{"message": "m"}]}
    assert told == {"incremental": [placed], "hasNext": False}


def test_lists_that_open_later_begin_at_zero():
    paths = Paths()
    paths.initial(FIRST)
    opened = {
        "pending": [{"id": "7", "path": ["answer", "words", 0, "letters"]}],
        "incremental": [{"id": "7", "items": ["x"]}],
        "hasNext": True,
    }
    told = paths.following(opened)
    assert told
    assert told["incremental"][0]["path"] == ["answer", "words", 0, "letters", 0]


def test_what_failed_is_null_with_its_errors():
    paths = Paths()
    paths.initial(FIRST)
    failed = {"completed": [{"id": "1", "errors": [{"message": "no"}]}], "hasNext": False}
    placed = {"data": None, "path": ["answer"], "errors": [{"message": "no"}]}
    assert paths.following(failed) == {"incremental": [placed], "hasNext": False}


def test_a_payload_that_carries_nothing_is_dropped_but_the_end_is_told():
    paths = Paths()
    paths.initial(FIRST)
    assert paths.following({"completed": [{"id": "0"}], "hasNext": True}) is None
    assert paths.following({"completed": [{"id": "1"}], "hasNext": False}) == {"hasNext": False}
