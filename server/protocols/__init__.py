"""Every protocol we speak. To add one: a module with ENDPOINTS, and a line here."""

from server.protocols import anthropic, copilotkit, health, ollama, openai, openbb

ENDPOINTS = (
    *anthropic.ENDPOINTS,
    *copilotkit.ENDPOINTS,
    *health.ENDPOINTS,
    *ollama.ENDPOINTS,
    *openai.ENDPOINTS,
    *openbb.ENDPOINTS,
)
