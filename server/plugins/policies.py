"""The file with what is always allowed or blocked. What another version wrote into it stays."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from server.system.files import set_aside, write_atomically

log = logging.getLogger(__name__)


def read(path: Path) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """By operation the policy and the fingerprint it is for; and entries in another form."""
    try:
        found = json.loads(path.read_text("utf-8"))
        entries = found.items()
    except FileNotFoundError:
        return {}, {}
    except (OSError, ValueError, AttributeError):
        log.warning("The permissions cannot be read; every change is asked about again")
        if path.exists():
            set_aside(path)
        return {}, {}
    known = {key: value for key, value in entries if _is_known(value)}
    return known, {key: value for key, value in entries if key not in known}


def write(path: Path, entries: Mapping[str, Any]) -> None:
    try:
        write_atomically(path, json.dumps(entries, indent=1, ensure_ascii=False))
    except OSError as error:
        log.warning("The permissions could not be saved: %s", error.strerror)


def _is_known(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(x, str) for x in value[:2])
