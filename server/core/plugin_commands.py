"""The part of the core's face that the plugins answer."""

from collections.abc import Awaitable, Callable

from server.egress import Egress
from server.engine.base import Engine
from server.face.plugins import PluginTest, ToolCard
from server.plugins.registry import PluginPlaces, Shared
from server.plugins.service import PluginHouse
from server.settings import PluginSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from server.system.paths import Paths


def furnish(
    paths: Paths,
    parts: tuple[Egress, Keychain, Redactor],
    settings: Callable[[], PluginSettings],
    engine: Callable[[str | None], Awaitable[Engine]],
) -> PluginHouse:
    return PluginHouse(PluginPlaces.find(paths), Shared(*parts), settings, engine)


class Plugged:
    house: PluginHouse

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        self.house.answer_approval(approval_id, decision, arguments)

    async def answer_form(self, form_id: str, values: str) -> None:
        self.house.answer_form(form_id, values)

    async def look_at_plugins(self) -> None:
        await self.house.shelf.look_again()

    async def install_plugin(self, path: str) -> str:
        return await self.house.install_plugin(path)

    async def enable_plugin(self, key: str) -> None:
        await self.house.enable_plugin(key)

    async def disable_plugin(self, key: str) -> None:
        await self.house.disable_plugin(key)

    async def remove_plugin(self, key: str) -> None:
        await self.house.remove_plugin(key)

    async def roll_back_plugin(self, key: str) -> None:
        await self.house.roll_back_plugin(key)

    async def set_plugin_secret(self, key: str, name: str, value: str) -> None:
        await self.house.set_plugin_secret(key, name, value)

    async def sign_in_plugin(self, key: str) -> str:
        return await self.house.sign_in_plugin(key)

    async def sign_out_plugin(self, key: str) -> None:
        await self.house.sign_out_plugin(key)

    async def set_plugin_option(self, key: str, name: str, value: str) -> None:
        await self.house.set_plugin_option(key, name, value)

    async def set_operation_policy(self, key: str, operation: str, policy: str) -> None:
        await self.house.set_operation_policy(key, operation, policy)

    async def test_plugin(self, key: str, flow: str, question: str, mode: str) -> PluginTest:
        return await self.house.test_plugin(key, flow, question, mode)

    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        return await self.house.find_tools(key)

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        return await self.house.try_tool(key, tool, arguments, mode)

    async def plugin_log(self, key: str, count: int) -> list[str]:
        return await self.house.plugin_log(key, count)
