"""Charts and tables that an answer shows: ECharts options and Markdown."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from server.chat import Json

Kind = Literal["line", "bar", "scatter", "pie", "donut"]
ROUND: tuple[Kind, ...] = ("pie", "donut")
MOST_ROWS = 500
MOST_SERIES = 20
LONGEST_LABEL = 200


def chart_option(kind: Kind, title: str, rows: list[Json], x: str, ys: Sequence[str]) -> Json:
    """Draws the columns `ys` over the column `x`. A round chart shows only the first of them."""
    option: Json = {
        "title": {"text": title},
        "tooltip": {},
        "legend": {},
        "dataset": {"dimensions": list(rows[0]) if rows else [], "source": rows},
    }
    if kind in ROUND:
        pie: Json = {"type": "pie", "encode": {"itemName": x, "value": ys[0]}}
        option["series"] = [{**pie, "radius": ["40%", "70%"]} if kind == "donut" else pie]
        return option
    option["xAxis"] = {"type": "category", "name": x}
    option["yAxis"] = {"type": "value"}
    option["series"] = [{"type": kind, "name": y, "encode": {"x": x, "y": y}} for y in ys]
    return option


def kind_of(series: Json) -> str:
    """Returns the kind of chart that a series draws. A pie with a hole is a donut."""
    kind = str(series["type"])
    return "donut" if kind == "pie" and series.get("radius") else kind


def markdown_table(
    names: Sequence[Any], rows: Iterable[Sequence[Any]], write: Callable[[Any], str]
) -> str:
    """Returns a Markdown table. `write` formats a cell; line ends and bars are safe."""

    def line(cells: Sequence[Any]) -> str:
        texts = (" ".join(write(cell).splitlines()).replace("|", "\\|") for cell in cells)
        return "| " + " | ".join(texts) + " |"

    return "\n".join([line(names), line(["---"] * len(names)), *map(line, rows)])
