"""Lists of MCP servers that other programs keep, as plugins that a person reviews."""

import json
from pathlib import Path
from typing import Any

import pytest

from server.data.yaml_with_places import Findings, read
from server.errors import BadRequest
from server.plugins import install
from server.plugins.install import PluginRefused
from server.plugins.manifest import OPTION, read_manifest

CLAUDE = {
    "mcpServers": {
        "GitHub (work)": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-github"],
            "env": {"GITHUB_TOKEN": "ghp_canary", "LOG_LEVEL": "info"},
        },
        "weather": {
            "url": "https://weather.example/mcp",
            "headers": {"Authorization": "Bearer canary", "X-Region": "eu"},
        },
    },
    "globalShortcut": "",
}


def written(folder: Path, content: Any, name: str = "mcp.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_each_server_becomes_a_plugin_without_a_plain_secret(tmp_path: Path) -> None:
    github, weather = install.read_servers(written(tmp_path, CLAUDE))
    assert (github.key, weather.key) == ("github-work", "weather")
    assert github.secrets == {"GITHUB_TOKEN": "ghp_canary"}
    assert weather.secrets == {"Authorization": "Bearer canary"}
    assert "canary" not in json.dumps([github.manifest, weather.manifest])
    assert github.manifest["mcp"]["GitHub (work)"]["env"] == {
        "GITHUB_TOKEN": "${secret:GITHUB_TOKEN}",
        "LOG_LEVEL": "info",
    }
    assert github.manifest["hosts"] == ["https://registry.npmjs.org"]


def test_what_is_made_is_a_manifest_without_findings(tmp_path: Path) -> None:
    for made in install.read_servers(written(tmp_path, CLAUDE)):
        findings = Findings("plugin.json")
        text = json.dumps(made.manifest).encode()
        manifest = read_manifest(made.key, read(text, findings), findings)
        assert manifest
        assert findings.found == []
        assert manifest.secrets == tuple(made.secrets)


def test_a_file_of_vs_code_may_ask_for_its_secrets_and_have_comments(tmp_path: Path) -> None:
    text = """{
      // what the servers need
      "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
      "servers": {"a": {"type": "stdio", "command": "a", "env": {"KEY": "${input:api-key}"}}}
    }"""
    (made,) = install.read_servers(written(tmp_path, text))
    assert made.manifest["mcp"]["a"]["env"] == {"KEY": "${secret:api-key}"}
    assert made.manifest["secrets"] == [{"name": "api-key"}]
    assert made.secrets == {}


def test_folders_in_its_arguments_may_be_read(tmp_path: Path) -> None:
    listed = {"mcpServers": {"files": {"command": "files", "args": ["--root", str(tmp_path)]}}}
    (made,) = install.read_servers(written(tmp_path, listed))
    assert made.folders == (str(tmp_path),)
    assert [option["kind"] for option in made.manifest["options"]] == ["folders"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ([], "lists no MCP servers"),
        ({"mcpServers": {}}, "lists no MCP servers"),
        ({"mcpServers": {"a": 3}}, "is not an object"),
        ({"mcpServers": {"a": {"args": ["x"]}}}, "no command and no address"),
        ({"mcpServers": {"a": {"url": "file:///etc/passwd"}}}, "cannot be used"),
        ({"mcpServers": {"a": {"url": "https://me:secret@x.example/"}}}, "cannot be used"),
        ({"mcpServers": {"a": {"type": "sse", "url": "https://x.example/sse"}}}, "speaks SSE"),
        ({"mcpServers": {"a": {"command": "a", "args": ["${HOME}"]}}}, "has a variable"),
        ({"mcpServers": {"!!": {"command": "a"}}}, "cannot be a plugin's name"),
        ({"mcpServers": {"A": {"command": "a"}, "a": {"command": "a"}}}, "two servers"),
        ({"mcpServers": {str(n): {"command": "a"} for n in range(51)}}, "more than 50"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_a_reason(
    tmp_path: Path, content: Any, why: str
) -> None:
    with pytest.raises(PluginRefused, match=why):
        install.read_servers(written(tmp_path, content))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginRefused, match=r"none\.json cannot be read"):
        install.read_servers(tmp_path / "none.json")


def test_each_common_server_makes_a_plugin_without_findings() -> None:
    servers = install.common_servers()
    assert {"fetch", "filesystem", "git", "memory", "time"} <= {server.name for server in servers}
    for server in servers:
        made = install.make_common_server(server.name, "wiki.test" if server.asks_hosts else "")
        findings = Findings("plugin.json")
        text = json.dumps(made.manifest).encode()
        manifest = read_manifest(made.key, read(text, findings), findings)
        assert manifest
        assert findings.found == []
        assert OPTION.sub(r"<\1>", " ".join(manifest.servers[0].command)) == server.command
        named = {name for part in manifest.servers[0].command for name in OPTION.findall(part)}
        assert named == {option.name for option in manifest.options}
        assert ("https://wiki.test" in manifest.hosts) == server.asks_hosts
        assert all((server.about, server.reaches, server.licence))


@pytest.mark.parametrize(
    ("name", "hosts", "reason"),
    [
        ("nothing", "", "no common MCP server 'nothing'"),
        ("time", "wiki.test", "takes no hosts"),
        ("fetch", " , ", "Name the hosts"),
        ("fetch", "wiki.test, ftp://x", "'ftp://x' is not a host"),
    ],
)
def test_a_common_server_is_added_only_as_it_is_listed(name: str, hosts: str, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        install.make_common_server(name, hosts)
