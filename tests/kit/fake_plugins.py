"""Plugins of a core that has none of its own: cards to set, commands written down."""

import json
from typing import Any

from server.face.plugins import (
    Approval,
    FlowCard,
    FormCard,
    OperationCard,
    PluginCard,
    PluginTest,
    ToolCard,
)
from server.observe import Value

PORTFOLIO = PluginCard(
    key="portfolio",
    name="Portfolio",
    description="Values, weights and returns of the positions in your own CSV file.",
    version="1.0.0",
    state="ok",
    enabled=True,
    review=False,
    shipped=True,
    runs_code=True,
    operations=(OperationCard("portfolio_value", "What the positions are worth.", "change"),),
    flows=(FlowCard("value", "What my portfolio is worth."),),
)
CLOCK = ToolCard(
    "clock/now",
    "What time it is.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "zone": {"type": "string", "description": "Which time zone."},
                "exact": {"type": "boolean"},
            },
            "required": ["zone"],
        }
    ),
)
ORDER = Approval(
    id="a1",
    plugin="broker",
    operation="POST /orders",
    risk="change",
    title="POST http://127.0.0.1:9000/orders",
    where="http://127.0.0.1:9000",
    headers=(("Authorization (header)", "•••"),),
    body='{"symbol": "ACME", "quantity": 10}',
    arguments='{"symbol": "ACME", "quantity": 10}',
)
FORM = FormCard(
    id="f1",
    plugin="broker",
    step="start",
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "account": {"type": "string", "enum": ["cash", "margin"]},
                "quantity": {"type": "integer", "description": "How many shares."},
                "statement": {
                    "type": "string",
                    "format": "binary",
                    "description": "The statement to check it against.",
                },
                "note": {"type": "string"},
            },
            "required": ["account", "quantity", "statement"],
        }
    ),
)


class FakePlugins:
    plugins: Value[tuple[PluginCard, ...]]
    approvals: Value[tuple[Approval, ...]]
    forms: Value[tuple[FormCard, ...]]
    looks = 0

    def _take(self, name: str, *arguments: Any) -> None:
        raise NotImplementedError

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        self._take("answer_approval", approval_id, decision, arguments)
        left = (one for one in self.approvals.get() if one.id != approval_id)
        self.approvals.set(tuple(left))

    async def answer_form(self, form_id: str, values: str) -> None:
        self._take("answer_form", form_id, values)
        self.forms.set(tuple(one for one in self.forms.get() if one.id != form_id))

    async def look_at_plugins(self) -> None:
        self.looks += 1

    async def install_plugin(self, path: str) -> str:
        self._take("install_plugin", path)
        return "portfolio"

    async def enable_plugin(self, key: str) -> None:
        self._take("enable_plugin", key)

    async def disable_plugin(self, key: str) -> None:
        self._take("disable_plugin", key)

    async def remove_plugin(self, key: str) -> None:
        self._take("remove_plugin", key)

    async def roll_back_plugin(self, key: str) -> None:
        self._take("roll_back_plugin", key)

    async def set_plugin_secret(self, key: str, name: str, value: str) -> None:
        self._take("set_plugin_secret", key, name, value)

    async def sign_in_plugin(self, key: str) -> str:
        self._take("sign_in_plugin", key)
        return "http://127.0.0.1:9/authorize"

    async def sign_out_plugin(self, key: str) -> None:
        self._take("sign_out_plugin", key)

    async def set_plugin_option(self, key: str, name: str, value: str) -> None:
        self._take("set_plugin_option", key, name, value)

    async def set_operation_policy(self, key: str, operation: str, policy: str) -> None:
        self._take("set_operation_policy", key, operation, policy)

    async def test_plugin(self, key: str, flow: str, question: str, mode: str) -> PluginTest:
        self._take("test_plugin", key, flow, question, mode)
        return PluginTest(
            "It would ask for the value.", ("GET http://127.0.0.1/value",), ("start",)
        )

    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        self._take("find_tools", key)
        return (CLOCK,)

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        self._take("try_tool", key, tool, arguments, mode)
        return PluginTest("It is ten.", (), (tool,))

    async def plugin_log(self, key: str, count: int) -> list[str]:
        self._take("plugin_log", key, count)
        return ["2026-11-15 04:00:00 run value"]
