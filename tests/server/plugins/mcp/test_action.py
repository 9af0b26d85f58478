"""What an MCP tool gives: read whatever its shape, and without the secrets it was told."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.errors import FlowFailed
from server.plugins.manifest import McpServer
from server.plugins.mcp.client import McpAction, McpClient
from server.plugins.secrets import Sealed
from server.system.keychain import Keychain
from server.system.logs import HIDDEN, Redactor
from tests.kit.fake_mcp import piped, program

CANARY = 'canary-"5f\\2c'
ESCAPED = json.dumps(CANARY)[1:-1]


@pytest.fixture
async def sealed(tmp_path: Path) -> Sealed:
    made = Sealed("p", Keychain(tmp_path / "secrets.json"), Redactor())
    await made.keep("key", CANARY)
    await made.opened("${secret:key}")
    return made


@pytest.fixture
async def clients() -> AsyncIterator[list[McpClient]]:
    made: list[McpClient] = []
    yield made
    for client in made:
        await client.close()


async def called(sealed: Sealed, clients: list[McpClient], reply: Any) -> Any:
    clients.append(client := piped(program(tools_call=reply), clean=sealed.clean_all))
    tool = (await client.tools())["add"]
    return await McpAction(McpServer("sums"), tool, client).call({}, {}, 5)


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": f"with {CANARY}"}]},
        {"content": [{"type": "text", "text": f'{{"key": "{ESCAPED}"}}'}]},
        {"content": [{"type": "resource", "resource": {"text": CANARY}}]},
        {"content": [], "structuredContent": {"a": [{CANARY: f"{CANARY}!"}]}},
    ],
)
async def test_an_answer_that_repeats_a_secret_is_blacked_out(
    sealed: Sealed, clients: list[McpClient], result: Any
) -> None:
    output = await called(sealed, clients, {"result": result})
    assert CANARY not in str(output.data)
    assert ESCAPED not in json.dumps(output.data)
    assert HIDDEN in str(output.data)
    assert CANARY not in output.message


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"message": f"no {CANARY}"}},
        {"error": CANARY},
        {"result": {"isError": True, "content": [{"type": "text", "text": CANARY}]}},
    ],
)
async def test_an_error_that_repeats_a_secret_is_blacked_out(
    sealed: Sealed, clients: list[McpClient], reply: Any
) -> None:
    with pytest.raises(FlowFailed, match=HIDDEN) as caught:
        await called(sealed, clients, reply)
    assert CANARY not in str(caught.value)


async def test_a_tool_that_tells_a_secret_in_its_description_is_blacked_out(
    sealed: Sealed, clients: list[McpClient]
) -> None:
    listed = {"result": {"tools": [{"name": "add", "description": f"uses {CANARY}"}]}}
    clients.append(client := piped(program(tools_list=listed), clean=sealed.clean_all))
    assert (await client.tools())["add"].description == f"uses {HIDDEN}"


@pytest.mark.parametrize(
    "content",
    [None, "text", [None, 3, {}], [{"type": "resource", "resource": "x"}], {"type": "text"}],
)
async def test_content_of_another_shape_is_no_text(
    sealed: Sealed, clients: list[McpClient], content: Any
) -> None:
    assert (await called(sealed, clients, {"result": {"content": content}})).data == ""


def test_what_is_nested_without_end_is_cut(tmp_path: Path) -> None:
    deep: Any = CANARY
    for _ in range(500):
        deep = [deep]
    sealed = Sealed("p", Keychain(tmp_path / "secrets.json"), Redactor())
    assert str(sealed.clean_all(deep)).strip("[]'") == HIDDEN
