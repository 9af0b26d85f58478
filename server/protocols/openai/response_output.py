"""Our events as the Responses API's output items and stream events."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from server.chat import Json, Message, ToolCall
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from server.protocols.frames import dumped, logprob
from server.protocols.messages import arguments_of

TEXT_KINDS = {"message": "output_text", "reasoning": "reasoning_text"}


class Output:
    """The items of one response. `see` yields what a stream must say about each event."""

    def __init__(self, head: Json) -> None:
        self.response: Json = {**head, "output": [], "status": "in_progress"}
        self._sequence = 0
        self._places: dict[int, int] = {}
        self._open: int | None = None

    @property
    def items(self) -> list[Json]:
        items: list[Json] = self.response["output"]
        return items

    def begin(self) -> Iterator[Json]:
        yield self._event("response.created", response=dict(self.response))
        yield self._event("response.in_progress", response=dict(self.response))

    def see(self, event: Event) -> Iterator[Json]:
        match event:
            case TextDelta(text, logprobs):
                yield from self._text("message", text, list(map(logprob, logprobs)))
            case ReasoningDelta(text):
                yield from self._text("reasoning", text, [])
            case CallOpened(index, call_id, name):
                yield from self._call(call_id, name)
                self._places[index] = len(self.items) - 1
            case CallArguments(index, text):
                yield from self._arguments(self._places[index], text)
            case ClientToolCall(call) if not self._has_call(call.id):
                yield from self._call(call.id, call.name)
                yield from self._arguments(len(self.items) - 1, dumped(call.arguments))
            case Finished(reason, usage):
                yield from self._finish(reason, usage)

    def said(self) -> Message:
        """The answer as the next request's history has it."""
        calls = tuple(
            ToolCall(item["call_id"], item["name"], arguments_of(item["arguments"]))
            for item in self.items
            if item["type"] == "function_call"
        )
        thought = self._said_as("reasoning") or None
        return Message("assistant", self._said_as("message"), tool_calls=calls, reasoning=thought)

    def _said_as(self, kind: str) -> str:
        items = (item for item in self.items if item["type"] == kind)
        return "".join(part["text"] for item in items for part in item["content"])

    def _text(self, kind: str, text: str, logprobs: list[Json]) -> Iterator[Json]:
        if self._open is None or self.items[self._open]["type"] != kind:
            yield from self._add(_text_item(kind))
            yield self._event("response.content_part.added", part=_part(kind), **self._at())
        part = self._part()
        part["text"] += text
        if kind == "message":
            part["logprobs"] += logprobs
            yield self._event(
                "response.output_text.delta", delta=text, logprobs=logprobs, **self._at()
            )
        else:
            yield self._event("response.reasoning_text.delta", delta=text, **self._at())

    def _call(self, call_id: str, name: str) -> Iterator[Json]:
        item = {
            "id": "fc_" + uuid4().hex,
            "type": "function_call",
            "call_id": call_id,
            "name": name,
            "arguments": "",
            "status": "in_progress",
        }
        yield from self._add(item)

    def _arguments(self, place: int, text: str) -> Iterator[Json]:
        item = self.items[place]
        item["arguments"] += text
        yield self._event(
            "response.function_call_arguments.delta",
            delta=text,
            item_id=item["id"],
            output_index=place,
        )

    def _add(self, item: Json) -> Iterator[Json]:
        yield from self._close("completed")
        self.items.append(item)
        self._open = len(self.items) - 1
        shown = {**item, "content": []} if "content" in item else dict(item)
        yield self._event("response.output_item.added", item=shown, output_index=self._open)

    def _close(self, status: str) -> Iterator[Json]:
        if self._open is None:
            return
        item = self.items[self._open]
        item["status"] = status
        if item["type"] == "function_call":
            yield self._event(
                "response.function_call_arguments.done",
                arguments=item["arguments"],
                name=item["name"],
                item_id=item["id"],
                output_index=self._open,
            )
        else:
            yield from self._close_text(item["type"])
        yield self._event("response.output_item.done", item=dict(item), output_index=self._open)
        self._open = None

    def _close_text(self, kind: str) -> Iterator[Json]:
        part = self._part()
        more = {"logprobs": part["logprobs"]} if kind == "message" else {}
        name = TEXT_KINDS[kind]
        yield self._event(f"response.{name}.done", text=part["text"], **self._at(), **more)
        yield self._event("response.content_part.done", part=dict(part), **self._at())

    def _finish(self, reason: str, usage: Usage) -> Iterator[Json]:
        cut = reason == "length"
        yield from self._close("incomplete" if cut else "completed")
        self.response["status"] = "incomplete" if cut else "completed"
        if cut:
            self.response["incomplete_details"] = {"reason": "max_output_tokens"}
        self.response["usage"] = _usage(usage)
        yield self._event(f"response.{self.response['status']}", response=dict(self.response))

    def failed(self, error: Json) -> Json:
        if self.response["status"] == "cancelled":
            return self._event("response.failed", response=dict(self.response))
        self.response["status"] = "failed"
        self.response["error"] = {"code": "server_error", "message": error["message"]}
        return self._event("response.failed", response=dict(self.response))

    def _has_call(self, call_id: str) -> bool:
        return any(item.get("call_id") == call_id for item in self.items)

    def _at(self) -> Json:
        assert self._open is not None
        return {
            "item_id": self.items[self._open]["id"],
            "output_index": self._open,
            "content_index": 0,
        }

    def _part(self) -> Json:
        assert self._open is not None
        part: Json = self.items[self._open]["content"][0]
        return part

    def _event(self, kind: str, **data: Any) -> Json:
        self._sequence += 1
        return {"type": kind, "sequence_number": self._sequence - 1, **data}


def _text_item(kind: str) -> Json:
    if kind == "reasoning":
        return {
            "id": "rs_" + uuid4().hex,
            "type": kind,
            "summary": [],
            "content": [_part(kind)],
            "status": "in_progress",
        }
    return {
        "id": "msg_" + uuid4().hex,
        "type": kind,
        "role": "assistant",
        "content": [_part(kind)],
        "status": "in_progress",
    }


def _part(kind: str) -> Json:
    if kind == "reasoning":
        return {"type": "reasoning_text", "text": ""}
    return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
