"""Recipes for editors, agents and chat programs: what each reads, where, and a way to write it."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QFileDialog

from app.connect.clients import KEY_PLACE, NO_KEY, Here
from app.look.code_box import CodeBox
from app.look.controls import Button, Card, CopyButton, Label, row
from app.look.translate import tr
from server.system.files import write_atomically


@dataclass(frozen=True, slots=True)
class Recipe:
    """`snippet` and `start` have the places $address, $model and $key, as that of a client has."""

    name: str
    file: str
    """Where the program reads it."""
    snippet: str
    start: str
    """What to do then: a command, or where to click."""
    is_whole: bool = True
    """The file holds nothing else, so it can be written. Otherwise the lines are added to it."""


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
    roles: [chat, edit, apply]""",
        "cn --config ~/.continue/config.yaml",
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
          { "name": "$model", "max_tokens": 8192 }
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
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"
  }
}""",
        "claude --settings ~/.claude/moat.json",
    ),
    Recipe(
        "Codex",
        "~/.codex/config.toml",
        """model = "$model"
model_provider = "moat"

[model_providers.moat]
name = "Moat"
base_url = "$address/v1"
wire_api = "responses"
http_headers = { Authorization = "Bearer $key" }""",
        "codex",
    ),
    Recipe(
        "Aider",
        "~/.aider.conf.yml",
        """model: openai/$model
openai-api-base: $address/v1
openai-api-key: $key
analytics-disable: true""",
        "aider",
    ),
    Recipe(
        "Open WebUI",
        "~/open-webui.env",
        """OPENAI_API_BASE_URL=$address/v1
OPENAI_API_KEY=$key
ENABLE_OLLAMA_API=false""",
        "set -a; . ~/open-webui.env; open-webui serve",
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
GENERIC_OPEN_AI_MODEL_TOKEN_LIMIT=8192
GENERIC_OPEN_AI_API_KEY=$key""",
        "Settings > LLM",
        is_whole=False,
    ),
)


class _Choice(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # Scrolling the page must not choose another program under the pointer.
        event.ignore()


class RecipesCard(Card):
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._here = Here("", "", "")
        self.choice = _Choice()
        self.choice.setAccessibleName(tr("Program"))
        for recipe in RECIPES:
            self.choice.addItem(recipe.name)
        self.file = Label("", "muted", wrap=True)
        self.snippet = CodeBox(tr("What the program reads"))
        self.copy = CopyButton(tr("what the program reads"), lambda: self._fill(), "icon")
        self.save = Button(tr("Write the file…"), "download")
        self.start = Label("", "small", wrap=True)
        self.written = Label("", "good", wrap=True)
        self.column.addLayout(row(Label(tr("Editors and agents"), "headline"), 0, self.choice))
        self.column.addWidget(self.file)
        self.column.addLayout(row(self.snippet, self.copy))
        self.column.addWidget(self.start)
        self.column.addLayout(row(self.save, 0))
        self.column.addWidget(self.written)
        self.choice.currentIndexChanged.connect(lambda _index: self._show())
        self.save.clicked.connect(self._pick)
        self._show()

    @property
    def recipe(self) -> Recipe:
        return RECIPES[self.choice.currentIndex()]

    def show_here(self, address: str, model: str, key: str) -> None:
        """The key itself is only ever copied or written, not shown."""
        self._here = Here(address, model, key)
        self._show()

    def write_to(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{self._fill()}\n")
        except OSError as error:
            words = tr("The file could not be written: {why}.").format(why=error.strerror)
            self.failed.emit(words)
            return
        self.written.tell(tr("Written: {path}").format(path=path))

    def _fill(self, *, hidden: bool = False) -> str:
        here = self._here
        key = (KEY_PLACE if hidden else here.key) if here.key else NO_KEY
        return Here(here.address, here.model, key).fill(self.recipe.snippet)

    def _show(self) -> None:
        recipe, is_serving = self.recipe, bool(self._here.address)
        words = tr("Into {file}:") if recipe.is_whole else tr("Add this to {file}:")
        self.file.setText(words.format(file=recipe.file))
        self.snippet.show_text(self._fill(hidden=True))
        key = KEY_PLACE if self._here.key else NO_KEY
        self.start.setText(tr("Then: {what}").format(what=recipe.start.replace("$key", key)))
        self.save.setVisible(recipe.is_whole)
        self.save.setEnabled(is_serving)
        self.copy.setEnabled(is_serving)
        self.written.tell("")

    def _pick(self) -> None:
        usual = str(Path(self.recipe.file).expanduser())
        picked, _ = QFileDialog.getSaveFileName(self, tr("Write the file"), usual)
        if picked:
            self.write_to(Path(picked))
