"""Where a flow goes on: at the step that the model picks (choice), or nowhere (none)."""

from collections import Counter

from server.asking.ask import pick
from server.data.shorten import shorten
from server.events import StatusNote
from server.flows.base import Jump, Signs, Step, Work
from server.flows.templates import NOTE, background, mark_as_data

SYSTEM = "You choose how to go on. Answer with one name of the list and nothing else. " + NOTE
MOST_VOTES = 5


async def run(step: Step, work: Work) -> Signs:
    choices = step.params["choices"]
    names = [str(choice["step"]) for choice in choices]
    lines = "\n".join(
        f"- {choice['step']}: {choice.get('description') or ''}" for choice in choices
    )
    instruction = str(step.params.get("instruction") or step.params.get("propose") or "")

    def prompt(room: int) -> tuple[str, str]:
        return SYSTEM, (
            f"{mark_as_data(shorten(work.data, room // 2))}\n{background(work, room // 4)}\n"
            f"Question: {shorten(work.question, room // 4)}\n{instruction}\n{lines}\nName:"
        )

    votes = step.params.get("votes")
    count = min(max(votes, 1), MOST_VOTES) if isinstance(votes, int) else 1
    picked = [await pick(work, prompt, names) for _ in range(count)]
    chosen = Counter(picked).most_common(1)[0][0]
    yield StatusNote(f"Chose {chosen}")
    yield Jump(chosen)


async def end(_step: Step, _work: Work) -> Signs:
    """none: does nothing; the flow ends here."""
    yield Jump("")
