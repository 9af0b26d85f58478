from html.parser import HTMLParser

import pytest
from openbb_ai.models import ClientArtifact

from server.dashboard.report import is_report_wanted, make_report
from server.events import Artifact
from server.protocols.openbb.writer import artifact

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
    assert is_report_wanted(question) is is_wanted
