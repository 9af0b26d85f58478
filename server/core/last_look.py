"""When a new version was last looked for and what was said, kept from one start to the next."""

import logging
from pathlib import Path

from pydantic import BaseModel

from server.system.files import write_atomically

log = logging.getLogger(__name__)
NAME = "last_look.json"


class LastLook(BaseModel):
    due_at: float = 0.0
    """When the next one is due."""
    address: str = ""
    key: str = ""
    """As they were chosen then: who chooses others does not wait for tomorrow."""
    answered_at: float = 0.0
    answer: str = ""
    """With its signature, to be judged again when it is read."""


def load(path: Path) -> LastLook:
    try:
        return LastLook.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return LastLook()


def save(path: Path, look: LastLook) -> None:
    try:
        write_atomically(path, look.model_dump_json(indent=1))
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error)
