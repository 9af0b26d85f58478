"""The programs people connect: what to give each, and the first request it will send."""

from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from typing import Any

from app.desktop.probe import Step
from app.look.translate import tr
from server.chat import Json

WORKSPACE_ORIGIN = "https://pro.openbb.co"
NO_KEY = "moat"
KEY_PLACE = "YOUR-ACCESS-KEY"


@dataclass(frozen=True, slots=True)
class Client:
    """`snippet` has the places $address, $model and $key; `path` follows the server's address."""

    id: str
    name: str
    advice: str
    path: str
    snippet: str
    steps: tuple[Step, ...]
    older: str = ""
    """What programs paste that do not have the newest form of the client yet."""
    older_advice: str = ""


@dataclass(frozen=True, slots=True)
class Here:
    """What goes into a snippet."""

    address: str
    model: str
    key: str

    def fill(self, snippet: str) -> str:
        return Template(snippet).substitute(
            address=self.address, model=self.model or "MODEL", key=self.key
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
