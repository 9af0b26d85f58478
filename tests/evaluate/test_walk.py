import pytest

from tests.evaluate.walk import follow

MOST_STAYS = 20
MOST_ENTRIES = 2


@pytest.mark.parametrize("is_able", [True, False])
def test_data_reaches_the_prompt_without_going_back_and_forth(is_able: bool) -> None:
    walk = follow(is_able=is_able)
    assert len(walk.stays) <= MOST_STAYS, walk.stays
    assert walk.most_stays() <= MOST_ENTRIES, walk.stays
