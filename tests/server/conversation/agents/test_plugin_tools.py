import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from server.chat import Message, Tool
from server.conversation.agents.plugins import MOST_TOOLS, PluginTools
from server.errors import FlowFailed
from server.flows.base import Flow, Kit, Step
from server.plugins.answering import PluginTalk, UserQuestion
from tests.kit.engines import ScriptedEngine
from tests.kit.plugin_kits import PlainKit, ScriptedAction

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
CALL = Flow("wx", "api/now", "The weather", (Step("start", "mcp", {"server": "a", "tool": "b"}),))
LONG = Flow("wx", "report", "A report", (Step("start", "none"), Step("end", "none")))
SAID = UserQuestion((Message("user", "How is it in Graz?"),), "page")


class Plugins:
    def __init__(self, kit: PlainKit, *flows: Flow, served: bool = True) -> None:
        self._kit = kit
        self._flows = flows
        self._served = served
        self.talk = PluginTalk(self.flows, self.kit, lambda: True)

    def for_clients(self) -> PluginTalk | None:
        return self.talk if self._served else None

    async def flows(self) -> Sequence[Flow]:
        return self._flows

    def kit(self, _flow: Flow, _chat: str) -> Kit:
        return self._kit


def kit(**more: object) -> tuple[PlainKit, ScriptedAction]:
    action = ScriptedAction("a/b", SCHEMA, **more)  # type: ignore[arg-type]
    return PlainKit({"a/b": action}), action


async def offer(house: Plugins) -> tuple[Tool, ...]:
    return await PluginTools(house).offer(ScriptedEngine(), SAID)


async def call(tool: Tool, **arguments: object) -> str:
    assert tool.run is not None
    return await tool.run(arguments)


async def test_a_single_call_is_a_tool_with_its_own_arguments():
    lent, action = kit()
    (tool,) = await offer(Plugins(lent, CALL))
    assert (tool.name, tool.parameters) == ("wx_api_now", SCHEMA)
    assert await call(tool, city="Graz") == '{"got": {"city": "Graz", "days": 1}}'
    assert action.surroundings["question"] == "How is it in Graz?"


async def test_a_flow_of_several_steps_is_asked_in_words():
    (tool,) = await offer(Plugins(kit()[0], LONG))
    assert tool.parameters["required"] == ["question"]
    assert await call(tool, question="now") == "There was nothing to do."


async def test_wrong_arguments_and_a_no_fail_in_words():
    lent, action = kit(risk="change")
    (tool,) = await offer(Plugins(lent, CALL))
    with pytest.raises(FlowFailed, match="not valid"):
        await call(tool)
    lent.allows = False
    with pytest.raises(FlowFailed, match="not allowed"):
        await call(tool, city="Graz")
    assert action.calls == []


async def test_what_cannot_be_reached_and_what_is_too_much_is_not_offered():
    lent, _ = kit()
    lost = Flow("wx", "lost", "", (Step("start", "mcp", {"server": "x", "tool": "y"}),))
    assert [tool.name for tool in await offer(Plugins(lent, lost, LONG))] == ["wx_report"]
    many = [replace(LONG, name=f"report-{number}") for number in range(99)]
    assert len(await offer(Plugins(lent, *many))) == MOST_TOOLS


async def test_nothing_is_offered_while_programs_may_not_use_plugins():
    assert await offer(Plugins(kit()[0], CALL, LONG, served=False)) == ()


@pytest.mark.parametrize(
    "names",
    [("查询域", "删除域配置"), ("x" * 80 + "/read", "x" * 80 + "/delete"), ("a/b", "a_b", "a b")],
)
async def test_no_two_flows_have_one_name_and_a_name_stays_the_same(names: tuple[str, ...]):
    flows = [replace(LONG, plugin="gala-ragdoll", name=name) for name in names]
    tools = await offer(Plugins(kit()[0], *flows))
    assert len({tool.name for tool in tools}) == len(names)
    assert all(re.fullmatch(r"gala-ragdoll_[A-Za-z0-9_-]{1,51}", tool.name) for tool in tools)
    turned = await offer(Plugins(kit()[0], *reversed(flows)))
    assert [tool.name for tool in turned] == [tool.name for tool in reversed(tools)]


async def test_a_declared_flow_stands_before_the_tool_of_the_same_name():
    declared = replace(CALL, description="as its author wants it")
    (tool,) = await offer(Plugins(kit()[0], declared, CALL))
    assert tool.description == "as its author wants it"


@pytest.mark.parametrize(
    "step",
    [
        Step("start", "mcp", {"server": "a", "tool": "b", "arguments": {"city": "Graz"}}),
        Step("start", "wx.a/b", {"city": "Graz", "timeout": 5}),
    ],
)
async def test_what_the_author_has_fixed_no_model_chooses(step: Step):
    lent, action = kit()
    (tool,) = await offer(Plugins(lent, Flow("wx", "graz", "Weather in Graz", (step,))))
    assert tool.parameters["properties"] == {"days": {"type": "integer", "default": 1}}
    assert tool.parameters["required"] == []
    await call(tool, city="Wien", days=3)
    assert action.calls == [{"city": "Graz", "days": 3}]


async def test_of_many_flows_those_that_fit_the_question_are_offered():
    many = [replace(LONG, name=f"report-{number}") for number in range(40)]
    fitting = replace(LONG, name="last", description="How is the weather in Graz")
    tools = await offer(Plugins(kit()[0], *many, fitting))
    assert tools[0].name == "wx_last"


async def test_a_program_gets_every_tool_and_no_model_is_loaded_for_the_list():
    lent, _ = kit()
    loaded: list[ScriptedEngine] = []

    async def load() -> ScriptedEngine:
        loaded.append(ScriptedEngine())
        return loaded[-1]

    many = [replace(LONG, name=f"report-{number}") for number in range(MOST_TOOLS)]
    broken = replace(LONG, name="broken", is_usable=False)
    asked = UserQuestion((), "a program")
    tools = await PluginTools(Plugins(lent, CALL, broken, *many)).list_all(load, asked)
    assert len(tools) == 1 + MOST_TOOLS
    assert await call(tools[0], city="Graz") == '{"got": {"city": "Graz", "days": 1}}'
    assert loaded == []
    assert await call(tools[1], question="now") == "There was nothing to do."
    assert len(loaded) == 1
    unserved = PluginTools(Plugins(lent, CALL, served=False))
    assert await unserved.list_all(load, asked) == ()
