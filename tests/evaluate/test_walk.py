"""A widget's data goes its way to the prompt with little back and forth."""

from tests.evaluate.walk import follow


def test_in_a_plan_data_enters_no_module_more_than_twice() -> None:
    walk = follow(is_able=True)
    assert len(walk.stays) <= 20, walk.stays
    assert walk.most_stays() <= 2, walk.stays


def test_by_the_rules_data_does_not_come_back_more_often_than_now() -> None:
    """The figures that stand in the prompt are computed on the way."""
    walk = follow(is_able=False)
    assert len(walk.stays) <= 30, walk.stays
    assert walk.returns <= 14, walk.stays
