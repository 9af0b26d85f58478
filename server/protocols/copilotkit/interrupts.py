"""Interrupts as the meta events of pages: plain ones, and those that ask in messages."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from server.chat import Json, Message
from server.events import Interrupted

PLAIN = "LangGraphInterruptEvent"
IN_MESSAGES = "CopilotKitLangGraphInterruptEvent"
Begin = Callable[[str, str], Json]
"""Makes the common fields of a finished message of that kind and id."""


def meta_event(event: Interrupted, begin: Begin) -> Json:
    value = event.value if isinstance(event.value, str) else _dumped(event.value)
    if not event.said:
        return _event(PLAIN) | {"value": value}
    asked = [
        written
        for number, message in enumerate(event.said)
        for written in _written(message, f"{event.id}-{number}", begin)
    ]
    return _event(IN_MESSAGES) | {"data": {"value": value, "messages": asked}}


def _event(name: str) -> Json:
    return {"__typename": name, "type": "MetaEvent", "name": name, "response": None}


def _written(message: Message, message_id: str, begin: Begin) -> Iterator[Json]:
    if message.content:
        text = {"role": "assistant", "content": [message.content], "parentMessageId": None}
        yield begin("TextMessageOutput", message_id) | text
    for call in message.tool_calls:
        yield begin("ActionExecutionMessageOutput", call.id) | {
            "name": call.name,
            "arguments": [_dumped(call.arguments)],
            "scope": None,
            "parentMessageId": message_id,
        }


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
