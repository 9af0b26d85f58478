import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from server.errors import BadRequest, FlowFailed
from server.flows.base import FormAnswer, Missing
from server.plugins.kit import Forms
from server.tasks import spawn

MISSING = Missing(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "file": {"type": "string", "format": "binary"},
        },
        "required": ["name", "file"],
    },
    {},
)


async def asked(forms: Forms) -> tuple[asyncio.Task[Any], str]:
    task = spawn(forms.ask("p", "start", MISSING), "asking")
    while not forms.pending.get():
        await asyncio.sleep(0)
    (shown,) = forms.pending.get()
    assert json.loads(shown.schema) == MISSING.schema
    return task, shown.id


async def test_values_and_a_picked_file_are_told(tmp_path: Path) -> None:
    picked = tmp_path / "a.csv"
    picked.write_text("x")
    forms = Forms()
    task, number = await asked(forms)
    forms.answer(number, json.dumps({"name": "n", "file": str(picked)}))
    assert await task == FormAnswer({"name": "n", "file": "a.csv"}, {"a.csv": str(picked)})
    assert forms.pending.get() == ()


@pytest.mark.parametrize(
    ("values", "why"),
    [("[1]", "object"), ("{", "JSON"), ('{"x": 1}', "no field"), ('{"file": "/nowhere"}', "file")],
)
async def test_a_wrong_answer_leaves_the_form_open(values: str, why: str) -> None:
    forms = Forms()
    task, number = await asked(forms)
    with pytest.raises(BadRequest, match=why):
        forms.answer(number, values)
    assert forms.pending.get()
    forms.answer(number, "")
    with pytest.raises(FlowFailed, match="closed") as caught:
        await task
    assert caught.value.fault == "denied"
    with pytest.raises(BadRequest, match="no longer"):
        forms.answer(number, "")


async def test_a_form_does_not_wait_for_ever_and_is_withdrawn() -> None:
    with pytest.raises(FlowFailed, match="in time"):
        await Forms(0.01).ask("p", "start", MISSING)
    forms = Forms()
    task, _ = await asked(forms)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert forms.pending.get() == ()


async def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    picked = [tmp_path / folder / "r.pdf" for folder in ("a", "b", "c")]
    for path in picked:
        path.parent.mkdir()
        path.write_text(path.parent.name)
    one, two, three = map(str, picked)
    file = {"type": "string", "format": "binary"}
    parts = {"old": file, "new": file, "more": {"type": "array", "items": file}}
    forms = Forms()
    task = spawn(forms.ask("p", "start", Missing({"properties": parts}, {})), "asking")
    while not forms.pending.get():
        await asyncio.sleep(0)
    answer = {"old": one, "new": two, "more": [one, three]}
    forms.answer(forms.pending.get()[0].id, json.dumps(answer))
    assert await task == FormAnswer(
        {"old": "r.pdf", "new": "r (2).pdf", "more": ["r.pdf", "r (3).pdf"]},
        {"r.pdf": one, "r (2).pdf": two, "r (3).pdf": three},
    )
