from server.dashboard.inventory import Inventory, slug, take_inventory
from server.dashboard.query import Param, Source, Widget

SYMBOL = Param("symbol", "ticker", value="AAPL", has_value=True)
PERIOD = Param("period", value="annual", has_value=True, options=("annual", "quarter"))


def inventory(*widgets: Widget) -> Inventory:
    return take_inventory(widgets)


def test_widgets_have_plain_names_and_tell_their_parameters() -> None:
    found = inventory(Widget("o", "inc", "Income Statement", params=(SYMBOL, PERIOD)))
    line = "- income_statement: Income Statement parameters: symbol=AAPL (ticker); "
    assert found.text() == line + "period=annual (annual|quarter)"


def test_the_order_of_the_request_and_what_is_pointed_at_change_nothing() -> None:
    one, two = Widget("o", "a", "Prices", uuid="1"), Widget("o", "b", "Prices", uuid="2")
    pointed = Widget("o", "b", "Prices", uuid="2", tier="primary")
    texts = {inventory(*given).text() for given in ((one, two), (two, one), (pointed, one))}
    assert texts == {"- prices: Prices\n- prices_2: Prices"}


def test_a_source_is_known_by_its_uuid_or_its_place() -> None:
    found = inventory(Widget("o", "a", "Prices", uuid="1"), Widget("o", "b", "News"))
    assert found.alias_of(Source("", "", "1")) == "prices"
    assert found.alias_of(Source("o", "b")) == "news"
    assert found.alias_of(Source("o", "gone")) == ""


def test_of_many_widgets_the_likeliest_are_told_in_full() -> None:
    many = [
        Widget("o", f"w{number}", f"Series {number}", uuid=str(number)) for number in range(200)
    ]
    found = inventory(*many, Widget("o", "d", "Dividends", "Payouts by year", uuid="d"))
    assert "Payouts" not in found.text()
    assert found.text().count("\n") == 200
    assert found.lines(found.likely("Which dividends were paid?")).startswith(
        "- dividends: Dividends. Payouts"
    )
    assert len(found.likely("Which dividends were paid?")) == 60


def test_names_fit_into_sql() -> None:
    assert slug("Total Revenue (USD)") == "total_revenue_usd"
    assert slug("2024") == "y2024"
    assert slug("10-Year") == "n_10_year"
    assert slug("Umsatz größer") == "umsatz_größer"


def test_options_are_told_with_the_names_that_say_what_they_are() -> None:
    labels = ("Payrolls", "united states", "Consumer sentiment")
    values = ("PAYEMS", "united_states", "UMCSENT")
    param = Param("series", value="PAYEMS", has_value=True, options=values, labels=labels)
    found = inventory(Widget("o", "w", "Series", uuid="w", params=(param,)))
    shown = "(PAYEMS = Payrolls|united_states|UMCSENT = Consumer sentiment)"
    assert f"parameters: series=PAYEMS {shown}" in found.text()
