from server.protocols.openbb.query import read_widgets


def test_what_ran_counts_before_what_is_shown_before_the_default() -> None:
    params = [
        {"name": "a", "default_value": 1, "current_value": 2, "executed_value": 3},
        {"name": "b", "default_value": 1, "current_value": 2},
        {"name": "c", "default_value": 1},
        {"name": "d", "default_value": "<<UNDEFINED>>", "current_value": None},
        {"name": "a", "default_value": 9},
        {"type": "nameless"},
        "odd",
    ]
    widget = read_widgets({"primary": [{"name": "W", "params": params}]})[0]
    assert widget.arguments == {"a": 9, "b": 2, "c": 1}


def test_groups_become_tiers_and_odd_groups_nothing() -> None:
    groups = {"primary": [{"name": "a"}], "secondary": None, "extra": [{"name": "b"}, 3]}
    assert [(one.name, one.tier) for one in read_widgets(groups)] == [
        ("a", "primary"),
        ("b", "extra"),
    ]
    assert read_widgets(None) == ()


def test_a_flat_list_is_the_dashboard_of_old_clients() -> None:
    old = {"uuid": "u", "name": "W", "description": "d", "metadata": {"symbol": "ACME"}}
    widget = read_widgets([old])[0]
    assert (widget.tier, widget.uuid, widget.arguments) == ("secondary", "u", {"symbol": "ACME"})


def test_options_have_values_and_labels() -> None:
    options = [{"label": "One", "value": 1}, "two"]
    param = read_widgets([{"params": [{"name": "p", "options": options}]}])[0].params[0]
    assert (param.options, param.labels) == ((1, "two"), ("One", "two"))


def test_iframe_uuids_are_kept_as_they_are() -> None:
    assert read_widgets([{"uuid": "x::iframe::y"}])[0].uuid == "x::iframe::y"
