"""Every protocol we speak. To add one: a module with ENDPOINTS, and a line here."""

from server.protocols import health, openai, openbb

ENDPOINTS = (
    *health.ENDPOINTS,
    *openai.ENDPOINTS,
    *openbb.ENDPOINTS,
)
