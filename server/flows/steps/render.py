"""render: draw the rows of the last step; the model picks only the kind of chart."""

from server.asking.ask import ask_json
from server.data import charts
from server.data.shorten import shorten
from server.events import Artifact, StatusNote
from server.flows.base import Output, Signs, Step, Work
from server.flows.templates import NOTE, mark_as_data

SYSTEM = "You choose how to draw a table for a question. " + NOTE
USUAL = {"chart": "bar", "stacked": False, "ring": False, "scale": "linear", "title": ""}
MOST_TOKENS = 120


async def run(step: Step, work: Work) -> Signs:
    rows, part = charts.rows_of(work.data), charts.part_of(work.data)

    def prompt(room: int) -> tuple[str, str]:
        shown = mark_as_data(shorten(rows[:5], room // 2))
        return SYSTEM, f"Rows: {shown}\nQuestion: {shorten(work.question, room // 3)}"

    fixed = {key: step.params[key] for key in USUAL if key in step.params}
    picked = None
    if "chart" not in fixed:
        picked = await ask_json(work, prompt, charts.CHOICE, MOST_TOKENS, must=True)
    option = charts.build(rows, {**USUAL, **(picked or {}), **fixed})
    yield StatusNote(f"Drew a {option['series'][0]['type']} chart")
    name = option["title"]["text"] or work.flow.name
    about = " ".join(filter(None, (work.flow.description[:200], f"({part})" if part else "")))
    yield Artifact("chart", name, about, charts.artifact(option))
    yield Output(option, f"A chart of {part or f'{len(rows)} rows'}.")
