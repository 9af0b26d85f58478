"""All protocols of Moat. To add one: a module with ENDPOINTS, and a line here."""

from collections.abc import Callable

from server.protocols import anthropic, copilotkit, health, ollama, openai, openbb
from server.protocols.base import Reply

ENDPOINTS = (
    *anthropic.ENDPOINTS,
    *copilotkit.ENDPOINTS,
    *health.ENDPOINTS,
    *ollama.ENDPOINTS,
    *openai.ENDPOINTS,
    *openbb.ENDPOINTS,
)

WORDINGS: tuple[tuple[str, Callable[[Exception], Reply] | None], ...] = (
    ("/api/copilotkit", None),
    ("/api", ollama.failed),
    ("/v1/messages", anthropic.failed),
)


def wording(path: str) -> Callable[[Exception], Reply] | None:
    """Returns how errors below a path are worded, even if it has no route; None: OpenAI's form."""
    found = (failed for root, failed in WORDINGS if path == root or path.startswith(f"{root}/"))
    return next(found, None)
