"""The programs that people connect: what each needs, and the first requests it would send."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog

from app.desktop.probe import Step
from app.look.controls import Button, Card, Choice, CodeBox, CopyButton, Label, put, row
from app.look.translate import tr
from server.chat import Json
from server.errors import AppError
from server.system.files import write_atomically

WORKSPACE_ORIGIN = "https://pro.openbb.co"
NO_KEY = "moat"
KEY_PLACE = "YOUR-ACCESS-KEY"
"""Stands for the access key in what is shown."""
USUAL_CONTEXT = 8192
"""In tokens. Stands for the model's context until a model is loaded."""


@dataclass(frozen=True, slots=True)
class Client:
    """A program. `snippet` has the places of `Here`; `path` follows the server's address."""

    id: str
    name: str
    advice: str
    path: str
    snippet: str
    steps: tuple[Step, ...]
    older: str = ""
    """The snippet for programs that use an older form of the client."""
    older_advice: str = ""


@dataclass(frozen=True, slots=True)
class Here:
    """The values for the places in a snippet: $address, $model, $key and $context."""

    address: str
    model: str
    key: str
    context_tokens: int = 0
    """0 if no model is loaded, so that nobody knows yet."""

    def fill(self, snippet: str) -> str:
        return Template(snippet).substitute(
            address=self.address,
            model=self.model or "MODEL",
            key=self.key,
            context=self.context_tokens or USUAL_CONTEXT,
        )


_OPENAI = """from openai import OpenAI

client = OpenAI(base_url="$address/v1", api_key="$key")
answer = client.chat.completions.create(
    model="$model",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)"""
_COPILOTKIT = """import { CopilotChat, CopilotKitProvider } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";

<CopilotKitProvider
  runtimeUrl="$address/api/copilotkit"
  headers={{ Authorization: "Bearer $key" }}
>
  <CopilotChat />
</CopilotKitProvider>"""
_OLDER_COPILOTKIT = """import { CopilotKit } from "@copilotkit/react-core";
import { CopilotChat } from "@copilotkit/react-ui";
import "@copilotkit/react-ui/styles.css";

<CopilotKit
  runtimeUrl="$address/api/copilotkit"
  headers={{ Authorization: "Bearer $key" }}
>
  <CopilotChat />
</CopilotKit>"""
_EDITOR = """models:
  - name: Moat
    provider: openai
    model: $model
    apiBase: $address/v1
    apiKey: $key"""
_OLLAMA = """export OLLAMA_HOST=$address
ollama list
ollama run $model"""
_WORKSPACE = """Agent URL   $address
Header      Authorization
Value       Bearer $key"""
_TERMINAL = """Copilot URL   $address"""


def all_clients() -> tuple[Client, ...]:
    return (_workspace(), _openai(), _copilotkit(), _editors(), _ollama(), _terminal())


def _workspace() -> Client:
    advice = tr("Open the copilot's menu in OpenBB Workspace, choose to add an agent, and paste:")
    steps = (
        Step("OPTIONS", "/agents.json", origin=WORKSPACE_ORIGIN),
        Step("GET", "/agents.json", origin=WORKSPACE_ORIGIN, read=_agent),
    )
    return Client("workspace", "OpenBB Workspace", advice, "", _WORKSPACE, steps)


def _terminal() -> Client:
    advice = tr("Older OpenBB programs read another file from the same address:")
    name = tr("OpenBB Terminal (legacy)")
    step = Step("GET", "/copilots.json", origin=WORKSPACE_ORIGIN, read=_agent)
    return Client("terminal", name, advice, "", _TERMINAL, (step,))


def _openai() -> Client:
    advice = tr("Any program that uses the OpenAI API works with this base URL:")
    step = Step("GET", "/v1/models", read=_listed("data", "id"))
    return Client("openai", "OpenAI SDK", advice, "/v1", _OPENAI, (step,))


def _copilotkit() -> Client:
    advice = tr("Use this runtime URL in your React app; if its origin is not allowed yet, add it:")
    step = Step("GET", "/api/copilotkit/info", read=_agents)
    return Client(
        "copilotkit",
        "CopilotKit",
        advice,
        "/api/copilotkit",
        _COPILOTKIT,
        (step,),
        _OLDER_COPILOTKIT,
        tr("The older form, for apps with @copilotkit/react-ui:"),
    )


def _editors() -> Client:
    advice = tr("In Continue's config.yaml; Cursor and others have the same three fields:")
    body: Json = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    step = Step("POST", "/v1/chat/completions", body=body, read=_said)
    name = tr("Code editors (Continue, Cursor)")
    return Client("editors", name, advice, "/v1", _EDITOR, (step,))


def _ollama() -> Client:
    advice = tr("Programs made for Ollama only need a different host:")
    steps = (
        Step("GET", "/api/version", read=lambda told: str(told["version"])),
        Step("GET", "/api/tags", read=_listed("models", "name")),
    )
    return Client("ollama", tr("Ollama programs"), advice, "", _OLLAMA, steps)


def _agent(told: Any) -> str:
    (name,) = [agent["name"] for agent in told.values() if agent["endpoints"]["query"]]
    return tr("It found the agent “{name}”.").format(name=name)


def _agents(told: Any) -> str:
    return tr("It found: {names}.").format(names=", ".join(sorted(told["agents"])))


def _said(told: Any) -> str:
    tokens = told["usage"]["completion_tokens"]
    model = told["model"]
    return tr("{model} answered ({count} token requested).").format(model=model, count=tokens)


def _listed(key: str, name: str) -> Callable[[Any], str]:
    def read(told: Any) -> str:
        names = [one[name] for one in told[key]]
        if not names:
            return tr("The connection works, but no model is installed yet.")
        return tr("It found: {names}.").format(names=", ".join(names[:4]))

    return read


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of an editor or agent. `snippet` and `start` have the places of `Here`."""

    name: str
    file: str
    """The file that the program reads."""
    snippet: str
    start: str
    """What to do next: a command, or where to click."""
    is_whole: bool = True
    """Whether the file holds nothing else. Then Moat may write it; if not, lines are added."""
    other_hosts: tuple[str, ...] | None = None
    """The hosts that it asked by itself when it was run with this file. None if it was not run."""


RECIPES = (
    Recipe(
        "Continue",
        "~/.continue/config.yaml",
        """name: Moat
version: 1.0.0
schema: v1
models:
  - name: Moat
    provider: openai
    model: $model
    apiBase: $address/v1
    apiKey: $key
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: $context""",
        "cn --config ~/.continue/config.yaml",
        other_hosts=("api.continue.dev",),
    ),
    Recipe(
        "VS Code Copilot (Ollama)",
        "settings.json",
        """{
  "github.copilot.chat.byok.ollamaEndpoint": "$address"
}""",
        "Copilot Chat: Manage Models… > Ollama",
        is_whole=False,
    ),
    Recipe(
        "Zed",
        "~/.config/zed/settings.json",
        """{
  "language_models": {
    "openai_compatible": {
      "Moat": {
        "api_url": "$address/v1",
        "available_models": [
          { "name": "$model", "max_tokens": $context }
        ]
      }
    }
  }
}""",
        "MOAT_API_KEY=$key zed",
        is_whole=False,
    ),
    Recipe(
        "Claude Code",
        "~/.claude/moat.json",
        """{
  "env": {
    "ANTHROPIC_BASE_URL": "$address",
    "ANTHROPIC_AUTH_TOKEN": "$key",
    "ANTHROPIC_MODEL": "$model",
    "ANTHROPIC_SMALL_FAST_MODEL": "$model",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1"
  }
}""",
        "claude --settings ~/.claude/moat.json",
        other_hosts=(),
    ),
    Recipe(
        "Codex",
        "~/.codex/config.toml",
        """model = "$model"
model_context_window = $context
model_provider = "moat"
check_for_update_on_startup = false

[model_providers.moat]
name = "Moat"
base_url = "$address/v1"
wire_api = "responses"
stream_idle_timeout_ms = 3600000
http_headers = { Authorization = "Bearer $key" }

[analytics]
enabled = false

[features]
apps = false
plugins = false""",
        "codex",
        other_hosts=("raw.githubusercontent.com",),
    ),
    Recipe(
        "Aider",
        "~/.aider.conf.yml",
        """model: openai/$model
openai-api-base: $address/v1
openai-api-key: $key
analytics-disable: true
check-update: false
show-model-warnings: false
set-env:
  - LITELLM_LOCAL_MODEL_COST_MAP=True""",
        "aider",
        other_hosts=("raw.githubusercontent.com",),
    ),
    Recipe(
        "Open WebUI",
        "~/open-webui.env",
        """OPENAI_API_BASE_URL=$address/v1
OPENAI_API_KEY=$key
ENABLE_OLLAMA_API=false
OFFLINE_MODE=true
RAG_EMBEDDING_ENGINE=openai
RAG_EMBEDDING_MODEL=$model
RAG_OPENAI_API_BASE_URL=$address/v1
RAG_OPENAI_API_KEY=$key""",
        "set -a; . ~/open-webui.env; open-webui serve",
        other_hosts=(),
    ),
    Recipe(
        "LibreChat",
        "librechat.yaml",
        """version: 1.2.1
endpoints:
  custom:
    - name: Moat
      apiKey: $key
      baseURL: $address/v1
      models:
        default: ["$model"]
        fetch: true
      titleConvo: true
      titleModel: current_model""",
        "npm run backend",
    ),
    Recipe(
        "AnythingLLM",
        "server/.env",
        """LLM_PROVIDER=generic-openai
GENERIC_OPEN_AI_BASE_PATH=$address/v1
GENERIC_OPEN_AI_MODEL_PREF=$model
GENERIC_OPEN_AI_MODEL_TOKEN_LIMIT=$context
GENERIC_OPEN_AI_API_KEY=$key""",
        "Settings > LLM",
        is_whole=False,
    ),
)


def _hosts(recipe: Recipe) -> str:
    if recipe.other_hosts is None:
        return tr("Whether it asks other hosts by itself was not tried here.")
    if not recipe.other_hosts:
        return tr("With these settings it asked no other host when it was tried.")
    told = tr("Even with these settings it asks {hosts} by itself.")
    return told.format(hosts=", ".join(recipe.other_hosts))


class RecipesCard(Card):
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._here = Here("", "", "")
        self.choice = Choice()
        self.choice.setAccessibleName(tr("Program"))
        for recipe in RECIPES:
            self.choice.addItem(recipe.name)
        self.file = Label("", "muted", wrap=True)
        self.snippet = CodeBox(tr("What the program reads"))
        self.copy = CopyButton(tr("what the program reads"), lambda: self._fill(), "icon")
        self.save = Button(tr("Write the file…"), "download")
        self.start = Label("", "small", wrap=True)
        self.hosts = Label("", "small", wrap=True)
        self.written = Label("", "good", wrap=True)
        head = row(Label(tr("Editors and agents"), "headline"), 0, self.choice)
        put(self.column, head, self.file, row(self.snippet, self.copy))
        put(self.column, self.start, self.hosts, row(self.save, 0), self.written)
        self.choice.currentIndexChanged.connect(lambda _index: self._show())
        self.save.clicked.connect(self._pick)
        self._show()

    @property
    def recipe(self) -> Recipe:
        return RECIPES[self.choice.currentIndex()]

    def show_here(self, here: Here) -> None:
        """Sets the values. The key is only copied or written, never shown."""
        self._here = here
        self._show()

    def write_to(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{self._fill()}\n")
        except OSError as error:
            words = tr("The file could not be written: {why}.").format(why=error.strerror)
            self.failed.emit(AppError(words))
            return
        self.written.tell(tr("Written: {path}").format(path=path))

    def _fill(self, *, hidden: bool = False) -> str:
        here = self._here
        key = (KEY_PLACE if hidden else here.key) if here.key else NO_KEY
        return replace(here, key=key).fill(self.recipe.snippet)

    def _show(self) -> None:
        recipe, is_serving = self.recipe, bool(self._here.address)
        words = tr("Into {file}:") if recipe.is_whole else tr("Add this to {file}:")
        self.file.setText(words.format(file=recipe.file))
        self.snippet.show_text(self._fill(hidden=True))
        key = KEY_PLACE if self._here.key else NO_KEY
        self.start.setText(tr("Then: {what}").format(what=recipe.start.replace("$key", key)))
        self.hosts.tell(_hosts(recipe))
        self.save.setVisible(recipe.is_whole)
        self.save.setEnabled(is_serving)
        self.copy.setEnabled(is_serving)
        self.written.tell("")

    def _pick(self) -> None:
        usual = str(Path(self.recipe.file).expanduser())
        picked, _ = QFileDialog.getSaveFileName(self, tr("Write the file"), usual)
        if picked:
            self.write_to(Path(picked))
