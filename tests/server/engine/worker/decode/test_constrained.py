"""What a grammar waits for counts where it is meant, however it is cut."""

import pytest

from server.engine.worker.decode.sampling import Trigger

CALL = '{"name": '
THOUGHT = ("<think>", "</think>")
in_cuts = pytest.mark.parametrize("size", [1, 3, 1000])


def heard(trigger: Trigger, text: str, size: int) -> int | None:
    """How much of the text was heard when the trigger was."""
    said = text.encode()
    for at in range(0, len(said), size):
        rest = trigger.hear(said[at : at + size])
        if rest is not None:
            return min(at + size, len(said)) - len(rest)
    return None


@in_cuts
def test_it_counts_anywhere(size: int) -> None:
    text = "Well.\n<call>"
    assert heard(Trigger("<call>"), f"{text}x", size) == len(text)
    assert heard(Trigger("<call>"), "Well.<cal", size) is None


@in_cuts
def test_at_the_start_only(size: int) -> None:
    prose = f"Here is the JSON you asked for:\n```json\n{CALL}"
    assert heard(Trigger(CALL, ""), prose, size) is None
    assert heard(Trigger(CALL, ""), f'\n{CALL}"x', size) == 1 + len(CALL)


@in_cuts
def test_at_the_start_of_a_line(size: int) -> None:
    plan = "Plan: one Action: two\nthree\n\nAction:"
    assert heard(Trigger("Action:", "\n"), f"{plan} x", size) == len(plan)
    assert heard(Trigger("Action:", "\n"), "Action: x", size) == 7
    assert heard(Trigger("Action:", "\n"), "Call to\nan Action: x", size) is None


@in_cuts
@pytest.mark.parametrize("lead", [None, ""])
@pytest.mark.parametrize("opened", [True, False])
def test_a_thought_is_not_listened_to(size: int, lead: str | None, opened: bool) -> None:
    marks = ("" if opened else THOUGHT[0], THOUGHT[1])
    text = f"{marks[0]}{CALL} or not?\n{THOUGHT[1]}\n\n"
    assert heard(Trigger(CALL, lead, marks), text, size) is None
    assert heard(Trigger(CALL, lead, marks), f'{text}{CALL}"x', size) == len(text + CALL)


@in_cuts
def test_an_answer_without_a_thought_is_listened_to_at_once(size: int) -> None:
    assert heard(Trigger("<tool_call>", None, THOUGHT), "<tool_call>x", size) == 11
