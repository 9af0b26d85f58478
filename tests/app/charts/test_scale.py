import pytest

from app.charts.figure import Figure, Kind, Series
from app.charts.view import linear, logarithmic, upwards


def figure(kind: Kind, *values: tuple[float | None, ...], **more: bool) -> Figure:
    labels = tuple(str(at) for at in range(len(values[0])))
    return Figure(kind, labels, tuple(Series("s", one) for one in values), **more)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 77, (0, 20, 40, 60, 80)),
        (-3, 8, (-5.0, -2.5, 0, 2.5, 5.0, 7.5, 10)),
        (0.001, 0.004, (0.001, 0.002, 0.003, 0.004)),
        (5, 5, (2, 3, 4, 5, 6, 7, 8)),
        (0, 0, (-1, -0.5, 0, 0.5, 1)),
    ],
)
def test_ticks_are_round_and_hold_all_values(
    low: float, high: float, ticks: tuple[float, ...]
) -> None:
    scale = linear(low, high)
    assert scale.ticks == pytest.approx(ticks)
    assert scale.low <= low <= high <= scale.high
    assert (scale.part(scale.low), scale.part(scale.high)) == (0, 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [(1e-15, 4e-15), (0.0, 1e-300), (1.0, 1.0000000000000002), (-1e300, 1e300), (1e300, 1e300)],
)
def test_numbers_of_any_size_have_an_axis(low: float, high: float) -> None:
    scale = linear(low, high)
    assert scale.low <= low <= high <= scale.high
    assert 0 <= scale.part(low) <= scale.part(high) <= 1
    assert 2 <= len(scale.ticks) <= 12


def test_a_logarithmic_axis_has_powers_of_ten() -> None:
    scale = logarithmic(0.5, 1200)
    assert scale.ticks == pytest.approx((0.1, 1, 10, 100, 1000, 10_000))
    assert scale.part(1) == pytest.approx(0.2)
    assert scale.part(-5) == 0


def test_bars_begin_at_nought_and_lines_where_they_are() -> None:
    assert upwards(figure("bar", (90.0, 100.0))).low == 0
    assert upwards(figure("line", (90.0, 100.0))).low == 90
    assert upwards(figure("line", (10.0, 100.0))).low == 0
    assert upwards(figure("bar", (3.0, -4.0))).low < -3


def test_what_is_stacked_fits() -> None:
    stacked = figure("bar", (60.0, None), (70.0, -20.0), is_stacked=True)
    assert upwards(stacked).high >= 130
    assert upwards(stacked).low <= -20


def test_a_logarithmic_axis_needs_something_positive() -> None:
    assert upwards(figure("line", (0.0, 100.0), is_log=True)).is_log
    assert not upwards(figure("line", (-1.0, 0.0), is_log=True)).is_log
