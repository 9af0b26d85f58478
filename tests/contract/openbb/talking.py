"""An engine for sessions: writes one sentence, or the first value that a schema allows."""

import json
from typing import Any

from server.chat import ChatRequest
from server.engine.base import ModelFacts
from server.events import Finished, Pieces, PromptProgress, TextDelta
from tests.kit.engines import ScriptedEngine

SENTENCE = ("Here is ", "what the data says.")


class TalkingEngine(ScriptedEngine):
    def __init__(self) -> None:
        super().__init__()
        self.facts = ModelFacts(name="talking", context_tokens=8192)

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        yield PromptProgress(1, 2)
        if request.constraint is not None:
            yield TextDelta(json.dumps(first_of(json.loads(request.constraint.source))))
        else:
            for text in SENTENCE:
                yield TextDelta(text)
        yield Finished("stop")

    @property
    def prose(self) -> list[ChatRequest]:
        return [request for request in self.requests if request.constraint is None]

    @property
    def choices(self) -> list[ChatRequest]:
        return [request for request in self.requests if request.constraint is not None]


def first_of(schema: dict[str, Any]) -> Any:
    """Returns the plainest value that fits the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            return {name: first_of(schema["properties"][name]) for name in wanted}
        case "array":
            return [first_of(schema["items"])]
        case "number" | "integer":
            return 1
        case "boolean":
            return True
        case _:
            return "something"
