"""Collects the sentences that the server shows to people from its source, as templates."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "resources" / "catalogue.json"
COMMON_SERVERS = ROOT / "resources" / "mcp_servers.json"
SAYING = (
    "app/desktop/autostart.py",
    *(f"app/chat/{name}.py" for name in (
        "chats", "turn", "dialects",
    )),
    "app/shell/link.py",
    "server/core/*.py",
    *(f"server/{name}.py" for name in (
        "egress", "errors",
    )),
    "server/system/keychain.py",
    *(f"server/data/{name}.py" for name in (
        "documents", "charts", "sql", "sqlite",
    )),
    "server/conversation/run.py",
    "server/protocols/constraints.py",
    "server/engine/*.py",
    *(f"server/schemas/{name}.py" for name in (
        "bounded", "patterns",
    )),
    "server/engine/elsewhere/*.py",
    "server/models/*.py",
    "server/models/downloads/*.py",
    "server/models/gguf/*.py",
    "server/engine/worker/decode/sampling.py",
    *(f"server/engine/worker/load/{name}.py" for name in (
        "context", "model",
    )),
    *(f"server/engine/worker/schedule/{name}.py" for name in (
        "draft", "scheduler",
    )),
    "server/engine/worker/main.py",
    *(f"server/engine/worker/prompt/{name}.py" for name in (
        "pictures", "prepare", "template", "vision",
    )),
    "server/asking/ask.py",
    *(f"server/flows/{name}.py" for name in (
        "calling", "runner", "steps",
    )),
    "server/plugins/api/action.py",
    *(f"server/plugins/{name}.py" for name in (
        "approvals", "service", "install", "kit", "plugin", "secrets", "sign_in",
    )),
    "server/plugins/python/host.py",
    *(f"server/plugins/mcp/{name}.py" for name in (
        "client", "oauth", "packages", "servers", "session", "sign_in",
    )),
    *(f"server/web/{name}.py" for name in (
        "app", "body", "guard", "lifecycle", "listener",
    )),
)  # fmt: skip
"""Files with sentences that people see in the window. Findings are for the makers of plugins."""
CLAUSES = {
    "app/chat/dialects.py": r"Tool: \{0\}",
    "server/conversation/agents/remote.py": "remote agents",
    "server/core/engines_elsewhere.py": r"the engine \{0\}|testing .*",
    "server/core/graphics.py": "(fetching|looking for) support for .*",
    "server/core/updates.py": "check for .*",
    "server/data/sources.py": r"There is no file .*|\{0\} more files .*",
    "server/engine/causes.py": "(?!about ).* .*|unknown",
    "server/engine/elsewhere/engine.py": r"the engine on another machine|status \{0\}|none",
    "server/engine/link.py": "it .*",
    "server/engine/watch.py": ".* .*",
    "server/engine/worker/prompt/render.py": "its? .*",
    "server/engine/worker/prompt/template.py": "(it|the) .*",
    "server/errors.py": "none",
    "server/flows/calling.py": r"Calling \{0\}",
    "server/flows/steps.py": r"Chose \{0\}|Drew a \{0\} chart|\{0\} rows",
    "server/models/fit.py": r"(?!\{0\} GB|runs well|does not fit|The setups).* .*",
    "server/models/gguf/files.py": ".* .*",
    "server/models/gguf/parse.py": ".* .*",
    "server/models/gguf/plausible.py": r"(?!\{0\} is \{1\}$).* .*",
    "server/models/gguf/templates.py": r"line \{0\}",
    "server/models/hub.py": "(searching|downloading) .*",
    "server/models/library.py": "damaged, .*|Starter model.*",
    "server/plugins/answering.py": r"(Using|Step) \{0\}",
    "server/plugins/plugin.py": r"plugin \{0\}",
    "server/plugins/mcp/packages.py": r"Fetching the package .*",
    "server/plugins/python/host.py": "(took|ended) .*",
    "server/settings.py": "(A web page|A proxy|An engine) is (allowed|written) .*",
    "server/web/listener.py": ".* .*",
    "server/web/lifecycle.py": r" by \{0\}",
}
"""Patterns of a file's texts that are parts of sentences, or notes that are not sentences."""
NOT_IN_THE_WINDOW = {
    " There are: {0}.",
    "A chart of {0}.",
    "An empty text has no embedding.",
    "Here is what each means. Say 'cancel' to stop.",
    "That does not fit yet: {0}. Say 'cancel' to stop.",
    "The answer came from another provider.",
    "The embedding could not be computed.",
    "The provider did not sign you in. Close this page.",
    "The text needs {0} tokens; an embedding has room for {1}.",
    "There is nothing here.",
    "This model cannot make embeddings.",
    "This model ranks documents; it makes no embeddings.",
}
"""Sentences that only a browser, a connected program or the answer of a flow shows."""
_PLACE = re.compile(r"(\{\w+\})")
_WORD = re.compile(r"[A-Za-z]{2,}")
_QUOTING_END = re.compile(r"[:.] \{\d+\}$")
_NOT_FOR_PEOPLE = ("log", "re")


def templates() -> list[str]:
    """Returns all templates, each once, in the order of the files."""
    found: dict[str, None] = {}
    for pattern in SAYING:
        for path in sorted(ROOT.glob(pattern)):
            found.update(dict.fromkeys(filter(is_sentence, texts(path))))
    for name, pattern in CLAUSES.items():
        found.update(dict.fromkeys(clauses(ROOT / name, pattern)))
    models = json.loads(CATALOGUE.read_text("utf-8"))["models"]
    found.update(dict.fromkeys(escaped(model["good_at"]) for model in models))
    for server in json.loads(COMMON_SERVERS.read_text("utf-8")).values():
        labels = [option["label"] for option in server.get("options", ())]
        found.update(dict.fromkeys(map(escaped, (server["about"], server["reaches"], *labels))))
    return list(found)


def clauses(path: Path, pattern: str) -> list[str]:
    return [text for text in texts(path) if re.fullmatch(pattern, text)]


def is_sentence(text: str) -> bool:
    """Whether the text has words of its own and an end. Texts that begin with 'You' are for
    models."""
    if len(_WORD.findall(_PLACE.sub("", text))) < 2 or " " not in text or "\n" in text:
        return False
    if text.startswith("You ") or text in NOT_IN_THE_WINDOW:
        return False
    if text.endswith((".", "!", "?")):
        return True
    return bool(_QUOTING_END.search(text)) and (text[0] == "{" or text[0].isupper())


def texts(path: Path) -> Iterator[str]:
    """Yields every text of a file that contains a word and does not go to the log."""
    for node in _literals(ast.parse(path.read_text("utf-8"))):
        text = template(node)
        if _WORD.search(_PLACE.sub("", text)):
            yield text


def template(node: ast.JoinedStr | ast.Constant) -> str:
    """Returns the text with {0}, {1} … in the places that are filled in."""
    parts: list[str] = []
    count = 0
    for part in _parts(node):
        if part:
            parts.append(escaped(part))
        elif part is None and (not parts or not re.fullmatch(r"\{\d+\}", parts[-1])):
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _parts(node: ast.JoinedStr | ast.Constant) -> Iterator[str | None]:
    """Yields texts, and None for each place. Plain text with {name} in it is filled in later."""
    if isinstance(node, ast.Constant):
        for number, part in enumerate(_PLACE.split(str(node.value))):
            yield None if number % 2 else part
        return
    for value in node.values:
        yield str(value.value) if isinstance(value, ast.Constant) else None


def _literals(tree: ast.Module) -> Iterator[ast.JoinedStr | ast.Constant]:
    passed = {id(inside) for node in ast.walk(tree) for inside in _passed_over(node)}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()):
                yield node


def _passed_over(node: ast.AST) -> Iterator[ast.AST]:
    """Yields docstrings, parts of a larger text, and texts that go to the log."""
    match node:
        case ast.Expr(value=ast.Constant()):
            yield node.value
        case ast.JoinedStr():
            yield from (inside for inside in ast.walk(node) if inside is not node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in _NOT_FOR_PEOPLE:
            yield from ast.walk(node)
        case ast.Call(func=ast.Name(id="tr")):
            # A text of the window, which is collected with the window's texts.
            yield from ast.walk(node)
