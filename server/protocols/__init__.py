"""The protocols that Moat speaks. To add one, write a module with ENDPOINTS and list it here."""

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
    ("/messages", anthropic.failed),
)
"""The error format below each path; the first match wins. None: OpenAI's format."""


def wording(path: str) -> Callable[[Exception], Reply] | None:
    """Returns the function that formats errors for a path, even an unknown one; None: OpenAI's."""
    found = (failed for root, failed in WORDINGS if path == root or path.startswith(f"{root}/"))
    return next(found, None)
