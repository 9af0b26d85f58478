"""The plugins of a fake core: tests set the cards, and it records the commands it receives."""

import json
from collections.abc import Callable

from server.face.plugins import (
    Approval,
    CommonServer,
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
    """Implements server.face.plugins.PluginsFace. `take` records a call and may refuse it."""

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take
        self.cards: Value[tuple[PluginCard, ...]] = Value(())
        self.approvals: Value[tuple[Approval, ...]] = Value(())
        self.forms: Value[tuple[FormCard, ...]] = Value(())
        self.unwatched: Value[tuple[str, ...]] = Value(())
        self.common: tuple[CommonServer, ...] = ()
        self.looks = 0

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        self._take("plugins.answer_approval", approval_id, decision, arguments)
        left = (one for one in self.approvals.get() if one.id != approval_id)
        self.approvals.set(tuple(left))

    async def answer_form(self, form_id: str, values: str) -> None:
        self._take("plugins.answer_form", form_id, values)
        self.forms.set(tuple(one for one in self.forms.get() if one.id != form_id))

    async def look_again(self) -> None:
        self.looks += 1

    async def import_servers(self, path: str) -> list[str]:
        self._take("plugins.import_servers", path)
        return []

    async def common_servers(self) -> list[CommonServer]:
        return list(self.common)

    async def add_server(self, name: str, hosts: str) -> str:
        self._take("plugins.add_server", name, hosts)
        return name

    async def install(self, path: str) -> str:
        self._take("plugins.install", path)
        return "portfolio"

    async def enable(self, key: str) -> None:
        self._take("plugins.enable", key)

    async def disable(self, key: str) -> None:
        self._take("plugins.disable", key)

    async def remove(self, key: str) -> None:
        self._take("plugins.remove", key)

    async def roll_back(self, key: str) -> None:
        self._take("plugins.roll_back", key)

    async def set_secret(self, key: str, name: str, value: str) -> None:
        self._take("plugins.set_secret", key, name, value)

    async def sign_in(self, key: str) -> str:
        self._take("plugins.sign_in", key)
        return "http://127.0.0.1:9/authorize"

    async def sign_out(self, key: str) -> None:
        self._take("plugins.sign_out", key)

    async def set_option(self, key: str, name: str, value: str) -> None:
        self._take("plugins.set_option", key, name, value)

    async def set_policy(self, key: str, operation: str, policy: str) -> None:
        self._take("plugins.set_policy", key, operation, policy)

    async def test(self, key: str, flow: str, question: str, mode: str) -> PluginTest:
        self._take("plugins.test", key, flow, question, mode)
        return PluginTest(
            "It would ask for the value.", ("GET http://127.0.0.1/value",), ("start",)
        )

    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        self._take("plugins.find_tools", key)
        return (CLOCK,)

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        self._take("plugins.try_tool", key, tool, arguments, mode)
        return PluginTest("It is ten.", (), (tool,))

    async def read_log(self, key: str, count: int) -> list[str]:
        self._take("plugins.read_log", key, count)
        return ["2026-11-15 04:00:00 run value"]
