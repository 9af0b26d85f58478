from dataclasses import replace
from html.parser import HTMLParser

import pytest
from openbb_ai.models import ClientArtifact

from server.dashboard import citations
from server.dashboard.citations import cite, make_report, suggest
from server.dashboard.materials import Material
from server.dashboard.query import Param, Query, Source, Widget
from server.data.documents import Document, read
from server.data.tables import from_grid
from server.events import Artifact
from server.protocols.openbb.writer import artifact
from tests.kit.office_files import pdf

SOURCE = Source("o", "w", "u", {"symbol": "ACME", "none": None})
TABLE = from_grid(["date", "close"], [["2025-01-01", 1.0]], "Prices")
PRICES = Material(
    "Prices", (Document("Prices", tables=(TABLE,)),), (), SOURCE, Widget("o", "w", "Prices")
)


def test_a_source_is_cited_with_its_name_and_arguments() -> None:
    (source,) = cite([PRICES], {}, "q").sources
    assert (source["name"], source["uuid"], source["widget_id"]) == ("Prices", "u", "w")
    assert source["arguments"] == {"symbol": "ACME"}
    assert source["details"] == {"Name": "Prices", "Symbol": "ACME"}


def test_pages_of_a_document_are_cited_one_by_one() -> None:
    paper = Material("Report", (Document("r.pdf", ("a", "b")),), (), SOURCE)
    details = [source["details"] for source in cite([paper], {"r.pdf": (1, 2)}, "q").sources]
    assert details == [{"Filename": "r.pdf", "Page": 1}, {"Filename": "r.pdf", "Page": 2}]


def test_what_held_nothing_is_not_cited() -> None:
    empty = Material("Empty", (), ("HTTP 404",), SOURCE)
    context = Material("Food", (Document("Food", ("pizza",)),))
    assert cite([empty, context], {}, "q").sources == ()


def test_suggestions_come_from_what_is_there() -> None:
    query = Query((), "q", 1, (Widget("o", "w", "Prices"), Widget("o", "n", "News")))
    assert suggest(query, [PRICES]).prompts == (
        "Draw a line chart of close in Prices",
        "What is the highest close in Prices?",
        "What does News show?",
    )
    assert suggest(Query((), "q", 1), []).prompts == ()


def test_citations_that_came_with_the_data_are_passed_on() -> None:
    given = {"source_info": {"type": "web"}}
    cited = cite([replace(PRICES, citations=(given,))], {}, "q").sources
    assert cited[1] == {"name": "Prices", "given": given}


def test_no_more_quotes_are_looked_for_than_are_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def find(_document: Document, page: int, _question: str) -> tuple[()]:
        looked.append(page)
        return ()

    monkeypatch.setattr(citations, "find_on_page", find)
    paper = Material("Report", (Document("r.pdf", ("a", "b", "c")),), (), SOURCE)
    assert len(cite([paper] * 20, {"r.pdf": (1, 2, 3)}, "q").sources) == 8
    assert len(looked) == 8


def test_quotes_are_looked_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(citations, "QUOTES_S", -1.0)
    text = "Risk factors. A strike could delay shipments."
    paper = Material("Report", (read(pdf(text), "r.pdf"),), (), SOURCE)
    (source,) = cite([paper], {"r.pdf": (1,)}, "What could delay shipments?").sources
    assert source["boxes"] == []


SYMBOL = Param("symbol", "ticker", value="ACME", has_value=True)
PERIOD = Param("period", value="annual", has_value=True, options=("annual", "quarter"))
STATEMENT = Widget("o", "w", "Income", params=(SYMBOL, PERIOD))
OTHER = Widget("o", "p", "Prices", params=(replace(SYMBOL, value="DYNA"),))
YEARS = from_grid(
    ["order_id", "fiscalYear", "year_2", "revenue", "net"],
    [[7, 2023, 2023, 5.0, 1.0], [9, 2024, 2024, 6.0, 2.0]],
    "Income",
)
INCOME = Material(
    "Income",
    (Document("Income", tables=(YEARS,)),),
    (),
    Source("o", "w", "u", {"symbol": "ACME", "period": "annual"}),
    STATEMENT,
)


def suggested(question: str, *materials: Material) -> tuple[str, ...]:
    return suggest(Query((), question, 1, (STATEMENT, OTHER)), materials or (INCOME,)).prompts


def test_other_companies_and_other_periods_are_suggested() -> None:
    assert suggested("How is ACME doing?") == (
        "What does Income show for DYNA?",
        "What is the highest net in Income?",
        "What does Income show for quarter?",
    )
    assert "What does Income show for DYNA?" not in suggested("Compare ACME and DYNA")


def test_what_was_just_asked_is_not_suggested() -> None:
    assert "What is the average revenue in Income?" in suggested("What was the highest revenue?")
    for question in suggested("x"):
        assert question not in suggested(question)
    for question in suggested("Was ist das?"):
        assert question not in suggested(question)


def test_ids_and_years_are_nothing_to_compute_of() -> None:
    plain = from_grid(["order_id", "fiscalYear"], [[7, 2023], [9, 2024]], "Orders")
    orders = Material("Orders", (Document("Orders", tables=(plain,)),), (), SOURCE)
    assert suggest(Query((), "q", 1), [orders]).prompts == ()


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Wie hoch war der Umsatz von ACME?", "Was zeigt Income für DYNA?"),
        ("Quelle était la marge ?", "Que montre Income pour DYNA ?"),
        ("¿Cuál fue el margen?", "¿Qué muestra Income para DYNA?"),
        ("ACME 的收入是多少", "Income 中 DYNA 的数据如何"),
        ("Revenue?", "What does Income show for DYNA?"),
    ],
)
def test_suggestions_speak_the_language_of_the_question(question: str, begins: str) -> None:
    assert suggested(question)[0] == begins


def test_a_chart_is_suggested_where_there_is_none() -> None:
    query = Query((), "q", 1)
    assert "Draw a line chart of close in Prices" in suggest(query, [PRICES]).prompts
    drawn = suggest(query, [PRICES], has_chart=True).prompts
    assert "Draw a line chart of close in Prices" not in drawn


def test_half_a_question_is_not_suggested() -> None:
    long = replace(PRICES, documents=(Document("x", tables=(replace(TABLE, name="x" * 130),)),))
    assert suggest(Query((), "q", 1), [long]).prompts == ()


TEXT = """# Apple in 2025
It **grew**. See [this](https://evil.example/x) <script>alert(1)</script>

- one <img src=x onerror=alert(1)>
- two

## Outlook
Fine."""
ROWS = [{"year": 2024, "<b>revenue</b>": 1234567.5}, {"year": 2025, "note": "<a href='//x'>y</a>"}]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, name) for name, _ in attrs} or {(tag, "")}


def test_a_report_holds_the_text_its_tables_and_its_sources() -> None:
    made = make_report(TEXT, [Artifact("table", "Revenue", "", {"rows": ROWS})], ["Income"])
    page = made.content["text"]
    assert (made.kind, made.name) == ("html", "Apple in 2025")
    assert "<h1>Apple in 2025</h1>" in page
    assert "It <strong>grew</strong>." in page
    assert "<h2>Outlook</h2>\n<p>Fine.</p>" in page
    assert ">1,234,567.5</td>" in page
    assert "<small>Income</small>" in page


def test_nothing_in_it_runs_or_leads_elsewhere() -> None:
    tags = Tags()
    rows = Artifact("chart", "<script>", "", {"rows": ROWS})
    tags.feed(make_report(TEXT, [rows], ["<iframe>"]).content["text"])
    assert {tag for tag, _ in tags.found} <= {
        "div", "h1", "h2", "p", "ul", "li", "strong", "br", "small",
        "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert {name for _, name in tags.found} <= {"", "style"}


def test_the_sdk_accepts_it() -> None:
    sent = artifact(make_report("It grew.", [], []))
    assert sent["type"] == "html"
    assert ClientArtifact.model_validate(sent).content == sent["content"]
