"""OpenAI's API, and the routes that llama-server adds. Every path also works without `/v1`."""

from dataclasses import replace

from server.protocols.openai import chat, completions, embeddings, llama_server, models, responses

_ENDPOINTS = (
    *chat.ENDPOINTS,
    *completions.ENDPOINTS,
    *embeddings.ENDPOINTS,
    *llama_server.ENDPOINTS,
    *models.ENDPOINTS,
    *responses.ENDPOINTS,
)
ENDPOINTS = (
    *_ENDPOINTS,
    *(
        replace(endpoint, path=endpoint.path.removeprefix("/v1"))
        for endpoint in _ENDPOINTS
        if endpoint.path.startswith("/v1/")
    ),
)
