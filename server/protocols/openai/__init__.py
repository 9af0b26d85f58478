"""OpenAI's API."""

from server.protocols.openai import chat, completions, embeddings, llama_server, models, responses

ENDPOINTS = (
    *chat.ENDPOINTS,
    *completions.ENDPOINTS,
    *embeddings.ENDPOINTS,
    *llama_server.ENDPOINTS,
    *models.ENDPOINTS,
    *responses.ENDPOINTS,
)
