"""Thumbs up and down: kept on this machine, never sent anywhere."""

import json
import time
from typing import Any

from server import paths
from server.chat import Json
from server.errors import BadRequest
from server.files import open_private
from server.models.trouble import disk_trouble
from server.protocols.base import Facts, Reply

TEXT_CHARACTERS = 4000
KEPT_BYTES = 4 * 1024 * 1024
FIELDS = ("user_comment", "ai_response", "user_prompt", "trace_id")


def accept(body: Any, _facts: Facts) -> Reply:
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    keep(_record(body))
    return Reply({"status": "ok"})


def keep(record: Json) -> None:
    """One line per vote; when the file has grown too big it begins anew, with one older file."""
    file = paths.find().data / "feedback.jsonl"
    with disk_trouble():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > KEPT_BYTES:
            file.replace(file.with_suffix(".old.jsonl"))
        with open(file, "a", encoding="utf-8", opener=open_private) as lines:
            lines.write(json.dumps(record) + "\n")


def _record(body: Json) -> Json:
    tags = body.get("tags")
    texts = {field: str(body.get(field) or "")[:TEXT_CHARACTERS] for field in FIELDS}
    return {
        "at": round(time.time()),
        "vote": "up" if body.get("vote") == "thumbs_up" else "down",
        "tags": [str(tag)[:100] for tag in tags[:20]] if isinstance(tags, list) else [],
        **texts,
    }
