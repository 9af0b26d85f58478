"""What was said in a kept thread, put together again from its runs."""

from server.chat import Message, ToolCall
from server.conversation.threads.threads import KeptRun, Said, Thread, result_id
from server.events import (
    ClientToolCall,
    MessageOpened,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)


def said_in(thread: Thread | None) -> tuple[Said, ...]:
    if thread is None:
        return ()
    return tuple(one for run in thread.runs for one in (*run.said, *_answered(run)))


def _answered(run: KeptRun) -> list[Said]:
    said: list[Said] = []
    draft = _Draft("")
    names: dict[str, str] = {}
    for event in run.events:
        match event:
            case MessageOpened(message_id):
                said += draft.finish()
                draft = _Draft(message_id)
            case TextDelta(text):
                draft.text += text
            case ToolCallStarted(call) | ClientToolCall(call):
                draft.calls.append(call)
                names[call.id] = call.name
            case ToolCallFinished(call_id, result):
                said += draft.finish()
                draft = _Draft("")
                message = Message("tool", result, tool_call_id=call_id, name=names.get(call_id))
                said.append(Said(result_id(call_id), message))
            case _:
                pass
    return said + draft.finish()


class _Draft:
    def __init__(self, message_id: str) -> None:
        self.id = message_id
        self.text = ""
        self.calls: list[ToolCall] = []

    def finish(self) -> list[Said]:
        if not self.text and not self.calls:
            return []
        return [Said(self.id, Message("assistant", self.text, tool_calls=tuple(self.calls)))]
