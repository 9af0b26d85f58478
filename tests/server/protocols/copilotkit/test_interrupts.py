from server.chat import Json, Message, ToolCall
from server.events import Interrupted
from server.protocols.copilotkit.response import meta_event


def begin(kind: str, message_id: str) -> Json:
    return {"__typename": kind, "id": message_id}


def test_a_plain_interrupt_carries_its_value_as_text():
    told = meta_event(Interrupted("i", {"ask": "may I?"}), begin)
    assert told == {
        "__typename": "LangGraphInterruptEvent",
        "type": "MetaEvent",
        "name": "LangGraphInterruptEvent",
        "value": '{"ask": "may I?"}',
        "response": None,
    }


def test_one_that_asks_in_messages_brings_them_as_finished_messages():
    call = ToolCall("c", "pick", {"of": 2})
    said = (Message("assistant", "Which?"), Message("assistant", "", tool_calls=(call,)))
    told = meta_event(Interrupted("i", "Which?", said), begin)
    assert told["__typename"] == told["name"] == "CopilotKitLangGraphInterruptEvent"
    text, action = told["data"]["messages"]
    assert told["data"]["value"] == "Which?"
    assert (text["__typename"], text["id"], text["content"]) == (
        "TextMessageOutput", "i-0", ["Which?"],
    )  # fmt: skip
    assert (action["__typename"], action["id"], action["arguments"]) == (
        "ActionExecutionMessageOutput", "c", ['{"of": 2}'],
    )  # fmt: skip
