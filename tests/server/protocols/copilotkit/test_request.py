import json
from typing import Any

import pytest

from server.chat import File, Image, Message, ToolCall, ToolChoice
from server.conversation.agents.base import InterruptAnswer, Topics
from server.conversation.threads import ThreadMessage
from server.errors import BadRequest
from server.face.models import ModelCard
from server.protocols.base import Facts
from server.protocols.copilotkit.operations import read_request

FACTS = Facts("http://x", models=(ModelCard("tiny", "", 1),))


def said(message_id: str, **kind: Any) -> dict[str, Any]:
    return {"id": message_id, "createdAt": "2026-01-01T00:00:00Z", **kind}


def text(message_id: str, role: str, content: str) -> dict[str, Any]:
    return said(message_id, textMessage={"role": role, "content": content})


def data(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"metadata": {}, "frontend": {"actions": []}, "messages": list(messages)} | more


def test_every_kind_of_message_is_read():
    request = read_request(
        data(
            text("s", "developer", "Be kind."),
            text("u", "user", "hi"),
            said("i", imageMessage={"format": "png", "bytes": "eA==", "role": "user"}),
            said("c1", actionExecutionMessage={"name": "add", "arguments": '{"a":1}'}),
            said("c2", actionExecutionMessage={"name": "add", "arguments": "{broken"}),
            said(
                "r", resultMessage={"actionExecutionId": "c1", "actionName": "add", "result": "2"}
            ),
            said("a", agentStateMessage={"state": "{}"}),
        ),
        FACTS,
    )
    calls = (ToolCall("c1", "add", {"a": 1}), ToolCall("c2", "add", {}))
    assert request.messages == (
        ThreadMessage("s", Message("system", "Be kind.")),
        ThreadMessage("u", Message("user", "hi")),
        ThreadMessage("i", Message("user", "", (Image("image/png", b"x"),))),
        ThreadMessage("c1", Message("assistant", "", tool_calls=calls)),
        ThreadMessage("r", Message("tool", "2", tool_call_id="c1", name="add")),
    )
    assert request.question == ""


@pytest.mark.parametrize("arguments", ['{"a": "\\ud83d"}', '{"a":' * 5000 + "1" + "}" * 5000])
def test_past_arguments_that_nobody_could_read_are_none(arguments: str):
    action = {"name": "add", "arguments": arguments}
    (told,) = read_request(data(said("c", actionExecutionMessage=action)), FACTS).messages
    assert told.message.tool_calls[0].arguments == {}


def test_numbers_of_actions_and_past_calls_are_made_sendable():
    schema = json.dumps({"type": "object", "maximum": 2**70})
    actions = [{"name": "add", "description": "", "jsonSchema": schema}]
    action = {"name": "add", "arguments": f'{{"a": {2**70}}}'}
    called = said("c", actionExecutionMessage=action)
    request = read_request(data(called, frontend={"actions": actions}), FACTS)
    assert isinstance(request.tools[0].parameters["maximum"], float)
    assert isinstance(request.messages[0].message.tool_calls[0].arguments["a"], float)


@pytest.mark.parametrize(("wanted", "limit"), [(1e300, 2**31 - 1), (-5.0, None), (None, None)])
def test_the_longest_answer_is_a_number_a_worker_knows(wanted: float | None, limit: int | None):
    assert read_request(data(forwardedParameters={"maxTokens": wanted}), FACTS).max_tokens == limit


@pytest.mark.parametrize("sent", ["***", "eA==é"])
def test_an_image_that_is_none_is_refused(sent: str):
    image = {"format": "png", "bytes": sent, "role": "user"}
    with pytest.raises(BadRequest, match="base64"):
        read_request(data(said("i", imageMessage=image)), FACTS)


def test_only_enabled_actions_are_offered():
    schema = json.dumps({"type": "object", "properties": {}})
    actions = [
        {"name": name, "description": "", "jsonSchema": schema, "available": available}
        for name, available in (("a", "enabled"), ("b", "disabled"), ("c", "remote"), ("d", None))
    ]
    request = read_request(data(frontend={"actions": actions}), FACTS)
    assert [tool.name for tool in request.tools] == ["a", "d"]


@pytest.mark.parametrize(
    ("forwarded", "choice"),
    [
        ({"toolChoice": "function", "toolChoiceFunctionName": "x"}, ToolChoice("required", ("x",))),
        ({"toolChoice": "required"}, ToolChoice("required")),
        ({"toolChoice": "none"}, ToolChoice("none")),
        ({"toolChoice": "auto"}, ToolChoice()),
        ({}, ToolChoice()),
    ],
)
def test_the_choice_of_tools_is_honoured(forwarded: dict[str, Any], choice: ToolChoice):
    assert read_request(data(forwardedParameters=forwarded), FACTS).tool_choice == choice


def test_parameters_of_the_model_are_read_and_a_clouds_model_is_not_meant():
    forwarded = {"temperature": 9, "maxTokens": 12.0, "stop": ["x"], "model": "gpt-4"}
    request = read_request(data(forwardedParameters=forwarded), FACTS)
    assert (request.temperature, request.max_tokens, request.stop) == (2.0, 12, ("x",))
    assert request.model is None
    assert read_request(data(forwardedParameters={"model": "tiny"}), FACTS).model == "tiny"


def test_what_the_page_shows_is_told_once():
    context = [{"description": "page", "value": "cats"}]
    prompted = read_request(data(text("s", "system", "The page: cats"), context=context), FACTS)
    assert prompted.context == ()
    assert read_request(data(context=context), FACTS).context == (("page", "cats"),)


def test_a_session_names_the_agent_its_thread_and_its_state():
    request = read_request(
        data(
            threadId="outer",
            agentSession={"agentName": "demo", "threadId": "inner"},
            agentStates=[{"agentName": "demo", "state": '{"count": 1}'}],
            metaEvents=[
                {"name": "LangGraphInterruptEvent", "value": "", "response": '{"ok":true}'}
            ],
        ),
        FACTS,
    )
    assert (request.agent, request.thread_id, request.state) == ("demo", "inner", {"count": 1})
    assert request.answer == InterruptAnswer({"ok": True})


def test_without_a_thread_one_is_made():
    one, other = read_request(data(), FACTS), read_request(data(), FACTS)
    assert one.thread_id != other.thread_id
    assert one.agent == "default"


def test_topics_come_from_the_clouds_rules():
    rules = {"guardrails": {"inputValidationRules": {"allowList": ["a"], "denyList": ["b"]}}}
    assert read_request(data(cloud=rules), FACTS).topics == Topics(("a",), ("b",))


@pytest.mark.parametrize(("kind", "is_kept"), [("Chat", True), (None, True), ("Task", False)])
def test_a_task_is_no_part_of_the_conversation(kind: str | None, is_kept: bool):
    assert read_request(data(metadata={"requestType": kind}), FACTS).is_kept is is_kept


@pytest.mark.parametrize(
    ("sent", "file"),
    [
        ("pdf", File("attachment.pdf", "", b"x")),
        ("application/pdf", File("", "application/pdf", b"x")),
        ("CSV", File("attachment.csv", "", b"x")),
    ],
)
def test_a_document_that_comes_as_an_image_is_a_document(sent: str, file: File):
    image = {"format": sent, "bytes": "eA==", "role": "user"}
    (one,) = read_request(data(said("i", imageMessage=image)), FACTS).messages
    assert one.message == Message("user", "", files=(file,))


@pytest.mark.parametrize("sent", ["png", "image/png", "PNG"])
def test_the_format_of_an_image_may_be_its_whole_media_type(sent: str):
    image = {"format": sent, "bytes": "eA==", "role": "user"}
    (one,) = read_request(data(said("i", imageMessage=image)), FACTS).messages
    assert one.message.images == (Image("image/png", b"x"),)
