"""Puts the messages of a stored thread together from its runs."""

from server.chat import Message, ToolCall
from server.conversation.threads.threads import KeptRun, Thread, ThreadMessage, result_id
from server.events import (
    ClientToolCall,
    MessageOpened,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)


def messages_of(thread: Thread | None) -> tuple[ThreadMessage, ...]:
    if thread is None:
        return ()
    return tuple(kept for run in thread.runs for kept in (*run.messages, *_answers_of(run)))


def _answers_of(run: KeptRun) -> list[ThreadMessage]:
    answers: list[ThreadMessage] = []
    draft = _Draft("")
    names: dict[str, str] = {}
    for event in run.events:
        match event:
            case MessageOpened(message_id):
                answers += draft.finish()
                draft = _Draft(message_id)
            case TextDelta(text):
                draft.text += text
            case ToolCallStarted(call) | ClientToolCall(call):
                draft.calls.append(call)
                names[call.id] = call.name
            case ToolCallFinished(call_id, result):
                answers += draft.finish()
                draft = _Draft("")
                message = Message("tool", result, tool_call_id=call_id, name=names.get(call_id))
                answers.append(ThreadMessage(result_id(call_id), message))
            case _:
                pass
    return answers + draft.finish()


class _Draft:
    def __init__(self, message_id: str) -> None:
        self.id = message_id
        self.text = ""
        self.calls: list[ToolCall] = []

    def finish(self) -> list[ThreadMessage]:
        if not self.text and not self.calls:
            return []
        return [
            ThreadMessage(self.id, Message("assistant", self.text, tool_calls=tuple(self.calls)))
        ]
