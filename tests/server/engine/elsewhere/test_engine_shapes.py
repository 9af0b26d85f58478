"""An engine on another machine that answers in another shape is told of, and breaks nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from server.engine.elsewhere.engine import RemoteAnswer
from server.errors import EngineCrashed
from server.events import ToolCallRequested
from tests.prove.readers import READERS

SSE = next(reader for reader in READERS if reader.name == "sse")


def choice(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **fields}]}


def stream(*chunks: Any) -> bytes:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()


ENDED = choice(delta={}, finish_reason="stop")


@pytest.mark.parametrize(
    "chunk",
    [
        [],
        {"choices": [1]},
        {"choices": {"index": 0}},
        {"usage": {"prompt_tokens": [1]}},
        choice(delta={"content": "x"}, logprobs={"content": ["text"]}),
        choice(delta={"content": 5}),
        choice(delta={"tool_calls": [{"index": "first"}]}),
        choice(delta={"tool_calls": [{"index": 0, "function": {"name": ["f"]}}]}),
        choice(delta={}, finish_reason=["stop"]),
    ],
)
def test_another_shape_is_that_engines_fault(chunk: Any, tmp_path: Path) -> None:
    with pytest.raises(EngineCrashed, match="unexpected answer"):
        SSE.read(stream(chunk, ENDED), tmp_path)


def test_depth_without_end_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(EngineCrashed, match="no JSON"):
        SSE.read(b"data: " + b"[" * 200_000 + b"\n\n", tmp_path)


def test_arguments_of_depth_without_end_are_a_call_that_is_not_valid(tmp_path: Path) -> None:
    call = {"index": 0, "function": {"name": "f", "arguments": "[" * 200_000}}
    with pytest.raises(EngineCrashed, match="a tool that was not offered"):
        SSE.read(stream(choice(delta={"tool_calls": [call]}), ENDED), tmp_path)
    answer = RemoteAnswer()
    answer.feed(choice(delta={"tool_calls": [call]}, finish_reason="stop"))
    asked, _ = answer.finish()
    assert isinstance(asked, ToolCallRequested)
    assert not asked.valid
