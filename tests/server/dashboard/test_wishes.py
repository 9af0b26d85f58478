import pytest

from server.dashboard.wishes import named_wish, read_wishes


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Plot it", True), ("a bar chart", True), ("line item", False), ("Raise the bar", False),
     ("Zeichne den Kurs als Liniendiagramm", True), ("Zeig mir eine Grafik dazu", True),
     ("Montre un graphique du cours", True), ("Quelle est la courbe des taux ?", False),
     ("Haz un gráfico de barras", True), ("用折线图显示价格", True), ("收益率曲线是什么", False)],
)  # fmt: skip
def test_when_a_chart_is_wanted(question: str, expected: bool) -> None:
    assert read_wishes(question).chart is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [("als Tabelle bitte", True), ("Fais un tableau des prix", True), ("en una tabla", True),
     ("用表格显示", True), ("the table", False), ("Tabellenplatz?", False)],
)  # fmt: skip
def test_when_a_table_is_wanted(question: str, expected: bool) -> None:
    assert read_wishes(question).table is expected


@pytest.mark.parametrize(
    ("question", "wish"),
    [("Balkendiagramm bitte", "bar chart"), ("un camembert", "pie chart"), ("画出来", "画出"),
     ("un gráfico de líneas", "line chart"), ("What is it?", "")],
)  # fmt: skip
def test_the_kind_of_chart_is_named_in_five_languages(question: str, wish: str) -> None:
    assert named_wish(question) == wish


@pytest.mark.parametrize(
    ("question", "is_wanted"),
    [
        ("Write a short report about Apple's revenue", True),
        ("Show this as a report", True),
        ("Erstelle einen Bericht über den Umsatz", True),
        ("Schreibe mir einen Quartalsbericht", True),
        ("Rédige un rapport sur Apple", True),
        ("Haz un informe de ventas", True),
        ("请写一份关于苹果的报告", True),
        ("What does the annual report say about risks?", False),
        ("When is the next earnings report?", False),
    ],
)
def test_a_report_is_made_when_one_is_asked_for(question: str, is_wanted: bool) -> None:
    assert read_wishes(question).report is is_wanted
