import pytest
from pydantic import ValidationError

from server.settings import Settings


def test_a_change_is_a_new_value_and_leaves_the_old_alone():
    before = Settings()
    after = before.changed("model.slots", 8)
    assert (before.model.slots, after.model.slots) == (4, 8)
    assert after != before


@pytest.mark.parametrize(
    ("field", "value"), [("server.port", 80), ("server.port", "x"), ("window.theme", "pink")]
)
def test_a_value_out_of_bounds_is_refused(field: str, value: object):
    with pytest.raises(ValidationError):
        Settings().changed(field, value)


def test_an_unknown_field_is_refused():
    with pytest.raises(KeyError):
        Settings().changed("server.colour", 1)


def test_every_field_has_a_title():
    for group in Settings.model_fields:
        fields = type(getattr(Settings(), group)).model_fields
        assert [name for name, field in fields.items() if not field.title] == []
