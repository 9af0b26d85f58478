import pytest

from server.dashboard.titles import plain_better_prompt, plain_title, widget_info


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("compare two bonds, please?", "Compare two bonds, please"),
        ('say "hi"\n now', "Say hi now"),
        ("one two three four five six seven eight", "One two three four five six seven"),
        ("", "Conversation"),
    ],
)
def test_a_title_is_the_first_words(text: str, title: str) -> None:
    assert plain_title(text) == title


def test_a_better_prompt_names_the_widgets() -> None:
    assert plain_better_prompt("price?", ["Price History"]) == (
        "Price? Use the data of Price History."
    )
    assert plain_better_prompt("", []) == "Describe the data?"


def test_a_widget_s_category_comes_from_its_columns() -> None:
    info = widget_info([{"issuer": "A", "coupon": 3, "maturity": "2030-01-01"}], "", "")
    assert (info["category"], info["title"]) == ("Fixed Income", "Issuer coupon maturity")
    assert widget_info("plain text", "", "")["category"] == "Other"
