from server.chat import Message, ToolCall
from server.conversation.agents import langgraph as messages
from server.conversation.agents.base import AgentRequest
from server.conversation.threads import ThreadMessage
from server.events import Interrupted

ASKED = {
    "id": "i1",
    "value": {
        "__copilotkit_interrupt_value__": {"action": "pick", "args": {"of": 2}},
        "__copilotkit_messages__": [
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "pick", "args": {}}]}
        ],
    },
}


def test_messages_of_every_role_come_back_as_they_went():
    said = (
        ThreadMessage("u", Message("user", "hi")),
        ThreadMessage("t", Message("tool", "4", tool_call_id="c")),
    )
    told = [messages.write_message(one) for one in said]
    types = {"user": "human", "tool": "tool"}
    again = tuple(messages.read_message({**one, "type": types[one["role"]]}) for one in told)
    assert again == said


def test_content_in_parts_is_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert messages.message_text({"content": parts}) == "ab"


def test_a_plain_interrupt_is_its_value():
    assert messages.read_interrupt({"value": {"a": 1}}) == Interrupted("interrupt", {"a": 1})


def test_an_interrupt_of_copilotkits_sdk_is_its_value_and_its_messages():
    calls = (ToolCall("c", "pick", {}),)
    said = (Message("assistant", "", tool_calls=calls),)
    value = {"action": "pick", "args": {"of": 2}}
    assert messages.read_interrupt(ASKED) == Interrupted("i1", value, said)


def test_a_thread_waits_for_what_its_tasks_interrupted():
    assert messages.waiting_interrupts(
        {"tasks": [{"interrupts": [ASKED]}, {"interrupts": []}]}
    ) == (messages.read_interrupt(ASKED),)
    assert messages.waiting_interrupts(None) == ()


def test_only_the_user_or_the_page_answers_by_saying_something():
    def asked(*said: Message) -> AgentRequest:
        return AgentRequest("a", "t", "r", tuple(ThreadMessage("x", one) for one in said))

    assert messages.spoken_answer(asked(Message("user", "blue"))) == "blue"
    assert messages.spoken_answer(asked(Message("tool", "4", tool_call_id="c"))) == "4"
    assert messages.spoken_answer(asked(Message("assistant", "no"))) is None
    assert messages.spoken_answer(asked()) is None


def test_interrupts_without_an_id_are_all_asked_and_each_once():
    one, other = {"value": "a?"}, {"value": "b?"}
    asked = (Interrupted("interrupt", "a?"), Interrupted("interrupt-2", "b?"))
    assert messages.waiting_interrupts({"tasks": [{"interrupts": [one, other]}]}) == asked
    reading = messages._Reading(set(), set())
    told = [
        event
        for sent in ([one], [other], [one, other])
        for event in reading.read("values", {"__interrupt__": sent})
        if isinstance(event, Interrupted)
    ]
    assert tuple(told) == asked
