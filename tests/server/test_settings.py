import pytest
from pydantic import ValidationError

from server.settings import NetworkSettings, Settings


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


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("", ""),
        ("  ", ""),
        ("proxy.corp:3128", "http://proxy.corp:3128"),
        (" https://user@proxy.corp:3128 ", "https://user@proxy.corp:3128"),
        ("HTTP://[::1]:3128", "HTTP://[::1]:3128"),
    ],
)
def test_a_proxy_needs_no_scheme(written: str, kept: str):
    assert NetworkSettings(proxy=written).proxy == kept


@pytest.mark.parametrize(
    "proxy",
    [
        "http://h:99999",
        "http://h:0",
        "socks5://h:1080",
        "http://",
        ":3128",
        "http://user:secret@",
        "a b:3",
        "http://[::1",
    ],
)
def test_what_is_no_proxy_is_refused_with_a_sentence(proxy: str):
    with pytest.raises(ValidationError) as refused:
        NetworkSettings(proxy=proxy)
    assert refused.value.errors()[0]["msg"] == "A proxy is written as http://host:port."
