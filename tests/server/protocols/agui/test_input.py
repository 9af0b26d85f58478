from typing import Any

import pytest
from ag_ui.core import RunAgentInput

from server.chat import File, Image, Message, ToolCall, ToolChoice
from server.conversation.agents.base import InterruptAnswer
from server.conversation.threads import ThreadMessage
from server.errors import BadRequest
from server.face.models import ModelCard
from server.protocols.agui import routes
from server.protocols.agui.routes import read
from server.protocols.base import Facts

FACTS = Facts("http://x", models=(ModelCard("tiny", "", 1),))
USER = {"id": "u", "role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}


def body(*said: dict[str, Any], **more: Any) -> dict[str, Any]:
    sent = {"threadId": "t", "runId": "r", "messages": list(said)}
    empty = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return sent | empty | more


def test_every_kind_of_message_is_read():
    picture = {
        "type": "image",
        "source": {"type": "data", "value": "eA==", "mimeType": "image/png"},
    }
    sent = body(
        {"id": "d", "role": "developer", "content": "Be kind."},
        {"id": "u", "role": "user", "content": [{"type": "text", "text": "look"}, picture]},
        {"id": "a", "role": "assistant", "toolCalls": [CALL]},
        {"id": "r", "role": "tool", "toolCallId": "c1", "content": "2"},
        {"id": "x", "role": "reasoning", "content": "hm"},
    )
    RunAgentInput.model_validate(sent)
    assert read(sent, "default", FACTS).request.messages == (
        ThreadMessage("d", Message("system", "Be kind.")),
        ThreadMessage("u", Message("user", "look", (Image("image/png", b"x", at=4),))),
        ThreadMessage("a", Message("assistant", "", tool_calls=(ToolCall("c1", "add", {"a": 1}),))),
        ThreadMessage("r", Message("tool", "2", tool_call_id="c1", name="add")),
    )


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "url", "value": "http://elsewhere/x.png"}},
        {"type": "document", "source": {"type": "data", "value": "eA==", "mimeType": "text/csv"}},
        {"type": "binary", "mimeType": "audio/wav", "data": "eA=="},
    ],
)
def test_what_is_no_picture_in_the_message_is_named_and_never_fetched(part: dict[str, Any]):
    (said,) = read(body(USER | {"content": [part]}), "default", FACTS).request.messages
    assert said.message.images == ()
    assert said.message.content == f"[{part['type']} attached]"


def test_older_pictures_and_data_addresses_are_read():
    older = {"type": "binary", "mimeType": "image/gif", "data": "eA=="}
    address = {"type": "image", "source": {"type": "url", "value": "data:image/webp;base64,eA=="}}
    (said,) = read(body(USER | {"content": [older, address]}), "default", FACTS).request.messages
    assert said.message.images == (Image("image/gif", b"x"), Image("image/webp", b"x"))


@pytest.mark.parametrize(
    "sent",
    [
        {},
        None,
        [],
        {"threadId": "t", "runId": "r"},
        {"threadId": "", "runId": "r", "messages": []},
        body({"id": "x", "role": "wizard", "content": ""}),
        body({"id": "x", "content": ""}),
        body({"id": "x", "role": "tool", "content": ""}),
        body({"id": "x", "role": "assistant", "toolCalls": [{"id": "c"}]}),
        body(USER | {"content": [{"type": "binary", "mimeType": "image/png", "data": "***"}]}),
        body(USER | {"content": [{"type": "binary", "mimeType": "image/png", "data": "eA==é"}]}),
        body(USER, tools=[{"description": "nameless"}]),
        body(USER, tools={}),
    ],
)
def test_what_is_no_input_is_refused(sent: Any):
    with pytest.raises(BadRequest):
        read(sent, "default", FACTS)


def test_tools_context_and_parameters_are_read():
    props = {
        "model": "tiny",
        "temperature": 0.5,
        "maxOutputTokens": 9,
        "toolChoice": {"type": "function", "function": {"name": "add"}},
    }
    tools = [{"name": "add", "description": "adds", "parameters": None}]
    context = [{"description": "page", "value": "cats"}]
    sent = body(USER, tools=tools, context=context, forwardedProps=props, protocolVersion="1.0")
    read_input = read(sent, "default", FACTS)
    request = read_input.request
    assert [tool.parameters["type"] for tool in request.tools] == ["object"]
    assert request.context == (("page", "cats"),)
    assert (request.model, request.temperature, request.max_tokens) == ("tiny", 0.5, 9)
    assert request.tool_choice == ToolChoice("required", ("add",))
    assert read_input.speaks_1_0


def test_numbers_of_tools_and_past_calls_are_made_sendable():
    tools = [{"name": "add", "parameters": {"type": "object", "maximum": 2**70}}]
    call = CALL | {"function": {"name": "add", "arguments": f'{{"a": {2**70}}}'}}
    sent = body(USER, {"id": "a", "role": "assistant", "toolCalls": [call]}, tools=tools)
    request = read(sent, "default", FACTS).request
    assert request.tools[0].parameters["maximum"] == float(2**70)
    assert isinstance(request.tools[0].parameters["maximum"], float)
    assert isinstance(request.messages[1].message.tool_calls[0].arguments["a"], float)


@pytest.mark.parametrize("arguments", ['{"a": "\\ud83d"}', '{"a":' * 5000 + "1" + "}" * 5000])
def test_past_arguments_that_nobody_could_read_are_none(arguments: str):
    call = CALL | {"function": {"name": "add", "arguments": arguments}}
    sent = body(USER, {"id": "a", "role": "assistant", "toolCalls": [call]})
    (called,) = read(sent, "default", FACTS).request.messages[1].message.tool_calls
    assert called.arguments == {}


@pytest.mark.parametrize("model", [{"provider": "openai"}, ["tiny"], 5])
def test_a_model_that_is_no_name_is_left_alone(model: Any):
    assert read(body(USER, forwardedProps={"model": model}), "default", FACTS).request.model is None


def test_properties_of_a_page_that_only_look_like_parameters_are_left_alone():
    props = {"model": "gpt-4", "temperature": "hot", "maxOutputTokens": True, "toolChoice": 7}
    request = read(body(USER, forwardedProps=props), "default", FACTS).request
    assert (request.model, request.temperature, request.max_tokens) == (None, None, None)
    assert request.tool_choice == ToolChoice()


def test_true_is_no_temperature():
    sent = body(USER, forwardedProps={"temperature": True})
    assert read(sent, "default", FACTS).request.temperature is None


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({"forwardedProps": {"command": {"resume": "yes"}}}, InterruptAnswer("yes")),
        (
            {"resume": [{"interruptId": "i", "status": "resolved", "payload": 1}]},
            InterruptAnswer(1),
        ),
        ({"resume": [{"interruptId": "i", "status": "cancelled"}]}, InterruptAnswer(None)),
        ({"resume": []}, None),
        ({}, None),
    ],
)
def test_an_answer_to_an_interrupt_is_read_in_both_forms(more: dict[str, Any], answer: Any):
    assert read(body(USER, **more), "default", FACTS).request.answer == answer


def test_messages_are_written_as_they_were_read():
    picture = {
        "type": "image",
        "source": {"type": "data", "value": "eA==", "mimeType": "image/png"},
    }
    sent = [
        {"id": "u", "role": "user", "content": [{"type": "text", "text": "look"}, picture]},
        {"id": "a", "role": "assistant", "content": "hm", "toolCalls": [CALL]},
        {"id": "r", "role": "tool", "content": "2", "toolCallId": "c1"},
    ]
    written = [routes.write_message(one) for one in routes.read_messages(sent)]
    written[1]["toolCalls"][0]["function"]["arguments"] = '{"a":1}'
    assert written == sent


def test_calls_that_were_sent_in_messages_of_their_own_are_one_message_again():
    other = {"id": "c2", "type": "function", "function": {"name": "sub", "arguments": "{}"}}
    sent = [
        {"id": "a", "role": "assistant", "content": "hm", "toolCalls": [CALL]},
        {"id": "r", "role": "tool", "content": "2", "toolCallId": "c1"},
        {"id": "a-call-2", "role": "assistant", "toolCalls": [other]},
        {"id": "s", "role": "tool", "content": "3", "toolCallId": "c2"},
        {"id": "x-call-2", "role": "assistant", "toolCalls": [other]},
    ]
    said = routes.read_messages(sent)
    assert [one.id for one in said] == ["a", "r", "s", "x-call-2"]
    assert [call.id for call in said[0].message.tool_calls] == ["c1", "c2"]
    assert said[2].message.name == "sub"


@pytest.mark.parametrize(
    ("part", "file"),
    [
        (
            {"type": "binary", "mimeType": "text/csv", "data": "eA==", "filename": "a.csv"},
            File("a.csv", "text/csv", b"x", part="binary"),
        ),
        (
            {
                "type": "document",
                "source": {"type": "data", "value": "eA==", "mimeType": "application/pdf"},
                "metadata": {"filename": "a.pdf"},
            },
            File("a.pdf", "application/pdf", b"x"),
        ),
    ],
)
def test_documents_are_read_and_written_back_as_they_came(part: dict[str, Any], file: File):
    content = [{"type": "text", "text": "sum"}, part]
    sent = USER | {"content": content}
    (said,) = read(body(sent), "default", FACTS).request.messages
    assert said.message.files == (file,)
    assert said.message.content == f"sum\n{file.mark}"
    assert routes.write_message(said)["content"] == content


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"type": "document", "source": {"type": "url", "value": "http://x/a"}}, "link"),
        ({"type": "file", "source": {"type": "file", "value": "id-1"}}, "link"),
        ({"type": "binary", "mimeType": "application/pdf", "url": "http://x/a.pdf"}, "link"),
        ({"type": "binary", "mimeType": "application/pdf", "data": "***"}, "damaged"),
    ],
)
def test_a_document_that_did_not_come_whole_says_why(part: dict[str, Any], problem: str):
    (said,) = read(body(USER | {"content": [part]}), "default", FACTS).request.messages
    (file,) = said.message.files
    assert problem in file.problem
    assert file.data == b""
    assert routes.write_message(said)["content"] == [
        {"type": "text", "text": f"[{part['type']} attached]"}
    ]


def test_who_reads_reasoning_is_known_by_what_they_send():
    thought = {"id": "t", "role": "reasoning", "content": "hm"}
    routed = Facts("http://x", path={"agent": "default"})
    assert not read(body(USER), "default", FACTS).knows_reasoning
    assert read(body(USER, protocolVersion="1.0"), "default", FACTS).knows_reasoning
    assert read(body(thought, USER), "default", FACTS).knows_reasoning
    assert read(body(USER), "default", routed).knows_reasoning
