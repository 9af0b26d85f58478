"""A widget's data goes its way to the prompt with little back and forth."""

import pytest

from tests.evaluate.walk import QUESTIONS, follow


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("is_able", [True, False])
def test_data_enters_no_module_more_than_twice(question: str, *, is_able: bool) -> None:
    walk = follow(question, is_able=is_able)
    assert len(walk.stays) <= 20, walk.stays
    assert walk.most_stays() <= 2, walk.stays
