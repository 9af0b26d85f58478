"""Thumbs up and down. A vote brings the prompt and the answer, which are not kept."""

import logging
from typing import Any

from server.errors import BadRequest
from server.protocols.base import Facts, Reply

log = logging.getLogger(__name__)


def accept(body: Any, _facts: Facts) -> Reply:
    """Takes a vote on an answer; nothing of it is kept."""
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    log.info("An answer was voted %s.", "up" if body.get("vote") == "thumbs_up" else "down")
    return Reply({"status": "ok"})
