"""Writes lists of routes, settings and recipes from the code: python -m scripts.reference."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.connect.clients import NO_KEY, RECIPES, Here, Recipe
from scripts.bootstrap.places import ROOT
from server.protocols import ENDPOINTS
from server.protocols.base import Endpoint
from server.settings import DEFAULT_PORT, Settings

DOCS = ROOT / "docs"
STARTER = "SmolLM2-135M-Instruct"
MADE = "<!-- Made from the code by `python -m scripts.reference`: change that, not this file. -->\n"
ROUTES = """# Every route

Moat answers all of these at one address, `http://localhost:7777` unless the settings say otherwise.
[What programs can ask](api.md) says what is understood and what is refused. Each section is a
protocol, named after its folder or module in `server/protocols/`. A route with several paths
answers the same at each.

`POST /mcp` is Moat as an MCP server (streamable HTTP, the revisions 2025-11-25 and 2026-07-28), by
the protocol's own library in `server/web/mcp_server.py`. The first request after a start takes one
to two seconds longer, because it loads that library. It offers the tools `ask` and `embed`, and
those of enabled plugins where the settings let clients use them. Whether a program may use a plugin
is asked in the window once. After that, a client that can ask its own user (elicitation) gets the
questions about actions that change something; for others, and about what cannot be undone, the
window asks. `DELETE /mcp` ends the session that such a client of the older revision has.

Not listed is the link between the window and its server (`/control/`). It has a port of its own and
needs a secret that is made anew at each start.
"""
SETTINGS = """# Every setting

The Settings page of the window is made from the same declarations (`server/settings.py`). The
settings are kept in `settings.json` ([where](../README.md#where-data-lives)): a group is an object,
a setting is a member of it. A value that is not valid is set aside, and the default holds.
"""
CLIENTS = """# Recipes for other programs

Each starts from a file. The Connect page of the window fills in the address, the model and the key,
and writes or copies it (*Editors and agents*). Here they are for the starter model, without a key.

Agents send long prompts: Claude Code and Codex need a model with 32,000 tokens of context or more
that knows tools. With a smaller model give Claude Code `--tools "" --system-prompt "…"`.

## What was run

On 2026-11-18 and 19, each against a Moat of that day, from its file or with the address of its row.
What could not be had here: Zed and VS Code (on no package registry), LibreChat and AnythingLLM (not
on npm). Their files follow their documentation.

Programs ask other hosts by themselves, for versions, news or lists. Five ran from their files in a
network that had nothing but this computer, where every name that they looked up was written down:
Claude Code and Open WebUI looked up none, Codex and Aider `raw.githubusercontent.com` (news; a list
of prices), Continue `api.continue.dev` (its newest version; it sends an identifier of the
computer). Without the settings in the files Codex also asked `ab.chatgpt.com`, `chatgpt.com`,
`github.com` and `api.github.com`, Claude Code `downloads.claude.ai` and `github.com`, and Open
WebUI waited for `huggingface.co` before it started.

| client | version | model | what it did |
|---|---|---|---|
| Claude Code | 2.1.197 | Qwen2.5-Coder-0.5B | `-p`: answered; with Bash: ran `ls` |
| Continue's `cn` | 1.5.47 | starter | `-p`: answered |
| Codex | 0.169.0 | Qwen2.5-Coder-0.5B | `exec`: answered (2) |
| Open WebUI | 0.12.4 | both | in a browser: answered; passages of a file embedded (5) |
| Aider | 0.86.2 | starter | `--edit-format ask --message`: answered |
| Open Interpreter | 0.4.3 | starter | answered, as a stream |
| `llm`, `llm-ollama` | 0.36, 0.19.1 | starter | answer, object by schema, tool; listed |
| OpenAI SDK for Python | 3.51.0 | both | chat, Responses, objects, tools, embeddings, 20 at once |
| OpenAI SDK for JavaScript | 6.49.0 | starter | chat, object, tools; Responses as a stream |
| Anthropic SDK for Python, JavaScript | 2.9.0, 1.9.0 | starter | message, stream, tool runner |
| Ollama SDK for Python, JavaScript | 0.6.3, 0.6.4 | starter | lists, chat, stream, tool, create |
| Vercel AI SDK, `openai-compatible` | 6.0.326, 2.0.87 | starter | text, stream, tool, object (1) |
| Vercel AI SDK, `openai`, `anthropic` | 3.0.139, 3.0.138 | starter | text, stream, tool, object |
| Vercel AI SDK, `ollama-ai-provider-v2` | 3.6.0 | starter | text, stream, tool, object |
| LangChain, `-openai` and `-ollama` | 1.7.3, 1.1.0 | starter | answer, stream, object, tool |
| LangChain, `-anthropic` | 1.7.7 | starter | answer, stream, object, tool |
| LangChain for JavaScript, `openai`, `ollama` | 1.5.8, 1.3.0 | starter | answer, stream, object |
| LiteLLM | 1.83.0 | starter | seven providers: answer, stream, tool, object; rerank |
| LlamaIndex (`openai-like`, `ollama`) | 0.8.1, 0.11.0 | starter | answer, stream, tool, object |
| pydantic-ai | 2.38.0 | starter | chat, Responses, Ollama: answer, object, stream |
| instructor | 1.17.0 | starter | tools, JSON schema, Responses, Anthropic: an object each |
| OpenAI Agents SDK | 0.24.0 | starter | chat; Responses with an object |
| smolagents | 1.26.0 | starter | answer, tool |
| DSPy | 3.4.1 | starter | `openai/…`, `ollama_chat/…`, `anthropic/…`: answered |
| AutoGen (`autogen-ext`) | 0.7.5 | starter | OpenAI and Ollama: tool, object, stream |
| Semantic Kernel | 1.45.0 | starter | answer, function |
| Haystack | 3.4.0 | starter | answer, tool, embedding; Ollama |
| CrewAI, magentic | 1.15.30, 0.41.1 | starter | answer; object |
| Outlines (OpenAI, vLLM, SGLang) | 1.3.3 | starter | object, choice, expression |
| Guidance | 0.3.1 | starter | answer, object |
| Agent Framework (`-openai`) | 1.17.0 | starter | chat, Responses: answer, stream, object, tool |
| OpenAI Agents SDK for JavaScript | 0.20.0 | starter | answer, stream, tool, object (3) |
| Mastra | 0.24.9 | starter | answer, stream, object; tool (called) |
| Ax | 24.0.21 | starter | answer, stream, tool |
| aisuite | 0.2.0 | starter | OpenAI, Ollama, Anthropic: answer, tool (called) |
| Agno, Strands, Griptape | 3.1.10, 1.62.0, 1.13.0 | starter | answer |
| MCP's SDK for Python, JavaScript | 2.3.0, 1.32.2 | starter | `/mcp`: tools, `ask`, `embed` (4) |
| MCP Inspector, `--cli` | 2.12.0 | starter | `/mcp`, both revisions: the same (4) |

(1) With `supportsStructuredOutputs: true`; without it the SDK does not send the schema.

(2) After 3 minutes on two quiet cores: its first prompt has 8,370 tokens. Codex gives up after five
minutes without an event; Moat sends events while it reads, and the recipe has a longer
`stream_idle_timeout_ms`. `[agents] enabled = false` in `config.toml` leaves out the tools for
sub-agents, which makes the prompt shorter. With `required = true` in its table an MCP server of
Codex is there from the first question on.

(3) By chat completions; with Responses the starter's object was longer than the 80 tokens it had.

(4) On 2026-11-19. Both SDKs also got a readable error for arguments that do not fit.

(5) After 2 minutes with the 0.5B: it sends many tools of its own with every question.

Newer versions of VS Code have no Ollama provider; add Moat there as a *Custom Endpoint* with the
address of `/v1/chat/completions`.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what is old")
    parser.add_argument("--into", type=Path, default=DOCS, help="the folder; docs if not given")
    options = parser.parse_args(arguments)
    old = outdated(options.into)
    if not options.check:
        for name in old:
            (options.into / name).write_text(PAGES[name](), encoding="utf-8")
        return 0
    for name in old:
        sys.stderr.write(f"{name} is not what the code says: run python -m scripts.reference\n")
    return 1 if old else 0


def outdated(folder: Path) -> list[str]:
    """Returns the pages that are missing or differ from the code."""
    return [name for name, made in PAGES.items() if _read(folder / name) != made()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def routes_page(endpoints: Iterable[Endpoint] = ENDPOINTS) -> str:
    sections: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        sections.setdefault(_protocol(endpoint), []).append(endpoint)
    parts = [ROUTES, MADE]
    for name, of_protocol in sections.items():
        about = import_module(f"server.protocols.{name}").__doc__ or ""
        parts.append(f"## {name}\n\n{about.strip()}\n")
        parts.append(_table(("method", "path", "what it does"), _route_rows(of_protocol)))
    return "\n".join(parts)


def _protocol(endpoint: Endpoint) -> str:
    module: str = _function(endpoint).__module__
    return module.removeprefix("server.protocols.").partition(".")[0]


def _function(endpoint: Endpoint) -> Callable[..., Any]:
    accept = endpoint.accept
    return accept.func if isinstance(accept, partial) else accept


def _route_rows(endpoints: Iterable[Endpoint]) -> Iterator[tuple[str, ...]]:
    """Yields a row for each function that takes requests, with all its methods and paths."""
    rows: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        rows.setdefault(id(endpoint.accept), []).append(endpoint)
    for together in rows.values():
        methods = dict.fromkeys(endpoint.method for endpoint in together)
        paths = dict.fromkeys(f"`{_plain(endpoint.path)}`" for endpoint in together)
        yield ", ".join(methods), " · ".join(paths), _what_it_does(together[0])


def _plain(path: str) -> str:
    """Returns the path without the patterns of its parameters: {id} instead of {id:.+}."""
    return "".join(
        part if at % 2 == 0 else "{" + part.partition(":")[0] + "}"
        for at, part in enumerate(path.replace("}", "{").split("{"))
    )


def _what_it_does(endpoint: Endpoint) -> str:
    """Returns the first paragraph of the docstring of the function that takes the request."""
    function = _function(endpoint)
    about = (function.__doc__ or "").strip().partition("\n\n")[0]
    if not about:
        sys.exit(
            f"{endpoint.method} {endpoint.path}: {function.__module__}.{function.__qualname__} "
            "has no docstring that says what the route does."
        )
    return " ".join(about.split())


def settings_page(settings: type[Settings] = Settings) -> str:
    parts = [SETTINGS, MADE]
    for name, group in settings.model_fields.items():
        parts.append(f"## {group.title or name}\n\nThe group `{name}`.\n")
        fields = getattr(group.annotation, "model_fields", {})
        head = ("setting", "title", "value", "default", "meaning")
        parts.append(_table(head, (_setting_row(field, info) for field, info in fields.items())))
        for field, info in fields.items():
            if entry := _entry_of(info):
                parts.append(f"Each entry of `{field}` is an object:\n")
                rows = (_setting_row(one, held) for one, held in entry.model_fields.items())
                parts.append(_table(head, rows))
    return "\n".join(parts)


def _entry_of(info: FieldInfo) -> type[BaseModel] | None:
    """Returns the model of a list's entries; None if the setting is not a list of objects."""
    held = get_args(info.annotation)[0] if get_origin(info.annotation) is tuple else None
    return held if isinstance(held, type) and issubclass(held, BaseModel) else None


def _setting_row(name: str, info: FieldInfo) -> tuple[str, ...]:
    default, needed = info.get_default(call_default_factory=True), info.is_required()
    shown = f"`{json.dumps(default)}`" if default not in ("", ()) and not needed else "empty"
    shown = "needed" if needed else "unset" if default is None else shown
    return f"`{name}`", info.title or name, _kind(info), shown, info.description or ""


def _kind(info: FieldInfo) -> str:
    kind = _without_none(info.annotation)
    if kind is bool:
        return "`true` or `false`"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{json.dumps(choice)}`" for choice in get_args(kind))
    if _entry_of(info):
        return "list of objects"
    if get_origin(kind) is tuple:
        return "list of numbers" if get_args(kind)[0] is float else "list of texts"
    if kind not in (int, float):
        return "text"
    least = next((bound.ge for bound in info.metadata if hasattr(bound, "ge")), None)
    most = next((bound.le for bound in info.metadata if hasattr(bound, "le")), None)
    return f"{least} to {most}"


def _without_none(kind: Any) -> Any:
    """Returns the type of an optional setting without None."""
    kinds = [held for held in get_args(kind) if held is not type(None)]
    return kinds[0] if get_origin(kind) in (UnionType, Union) and len(kinds) == 1 else kind


def clients_page(recipes: Iterable[Recipe] = RECIPES) -> str:
    parts = [CLIENTS, MADE]
    here = Here(f"http://localhost:{DEFAULT_PORT}", STARTER, NO_KEY)
    for recipe in recipes:
        where = "In" if recipe.is_whole else "Added to"
        parts.append(f"## {recipe.name}\n\n{where} `{recipe.file}`:\n")
        parts.append(
            f"```\n{here.fill(recipe.snippet)}\n```\n\nThen: `{here.fill(recipe.start)}`\n"
        )
    return "\n".join(parts)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


PAGES: dict[str, Callable[[], str]] = {
    "routes.md": routes_page,
    "settings.md": settings_page,
    "clients.md": clients_page,
}

if __name__ == "__main__":
    sys.exit(main())
