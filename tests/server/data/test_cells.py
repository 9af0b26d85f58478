import pytest

from server.data.cells import as_number, is_one_unit, reads_as_number, unit


@pytest.mark.parametrize(
    ("text", "number"),
    [("(5)", -5), ("(-5)", -5), ("(5.2%)", -5.2), ("-$5", -5), ("1,234.5", 1234.5)],
)
def test_brackets_mean_below_zero(text: str, number: float) -> None:
    assert reads_as_number(text)
    assert as_number(text) == number


@pytest.mark.parametrize("text", ["(5", "5)", "()", "(012)"])
def test_what_is_no_amount(text: str) -> None:
    assert not reads_as_number(text)


@pytest.mark.parametrize(
    ("text", "number"), [("1,599", 1.599), ("1.234,5", 1234.5), ("1.234", 1234), ("(0,5)", -0.5)]
)
def test_decimals_after_a_comma(text: str, number: float) -> None:
    assert reads_as_number(text, ",")
    assert as_number(text, ",") == number


def test_dates_are_no_amounts_whatever_the_decimal_sign() -> None:
    assert not reads_as_number("01.02.2025", ",")


@pytest.mark.parametrize(
    ("texts", "is_one"),
    [
        (["$1", "$2", "3"], True),
        (["1%", "2%"], True),
        (["1", "2"], True),
        (["$1", "€2", "¥5"], False),
        (["1%", "2"], False),
        (["1%", "$2"], False),
    ],
)
def test_amounts_that_may_be_added(texts: list[str], is_one: bool) -> None:
    assert is_one_unit({unit(text) for text in texts}) is is_one


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$3.4T", 3_400_000_000_000),
        ("€1.2bn", 1_200_000_000),
        ("$500M", 500_000_000),
        ("1.5 million", 1_500_000),
        ("12.5亿", 1_250_000_000),
        ("$  1,452.4", 1452.4),
        ("$ (1,212)", -1212),
        ("$(2,727)", -2727),
        ("(14.3)%", -14.3),
        ("92 %", 92),
        ("5 €", 5),
        ("\u22125", -5),
        ("1'234.50", 1234.5),
        ("12,34,567", 1234567),
        ("₹1,23,45,678.50", 12345678.5),
        ("1'234.5", 1234.5),
    ],
)
def test_amounts_as_people_write_them(text: str, number: float) -> None:
    assert reads_as_number(text)
    assert as_number(text) == number


@pytest.mark.parametrize("text", ["3M", "10K", "1M", "B", "$-", "T", "5.0Q", "K2"])
def test_a_name_or_a_stretch_of_time_is_no_amount(text: str) -> None:
    assert not reads_as_number(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.234,56 €", 1234.56), ("3,4 Mrd. €", 3_400_000_000), ("1 234,5", 1234.5), ("-0,5%", -0.5)],
)
def test_amounts_with_a_comma_before_decimals(text: str, number: float) -> None:
    assert not reads_as_number(text)
    assert reads_as_number(text, ",")
    assert as_number(text, ",") == number
