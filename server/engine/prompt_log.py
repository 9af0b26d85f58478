"""Prompts in the log, for a person who looks for a fault and has asked for it."""

import logging

from server.chat import ChatRequest
from server.engine.base import Engine
from server.errors import AppError

log = logging.getLogger(__name__)
MARGIN = "\n  | "
"""Before each line of a prompt: none can pass for a line of the log's own."""


async def log_prompt(engine: Engine, request: ChatRequest) -> None:
    """As the model gets it."""
    try:
        prompt = request.prompt
        if not isinstance(prompt, str) or request.infill is not None:
            prompt = await engine.apply_template(request)
    except AppError as error:
        log.info("A prompt cannot be shown: %s", error)
        return
    log.info("A prompt for the model:%s", "".join(MARGIN + line for line in prompt.splitlines()))
