"""Frames between the server and a worker: msgpack maps behind a 4-byte little-endian length.

Server to worker:
  {"op": "load", "path": str, "options": {...EngineOptions...}}          first frame
  {"op": "generate", "id": int, "job": {...Job...}}
  {"op": "cancel", "id": int}             a running answer gets its "end"; an "ask" gets
                                          no answer any more
  {"op": "ask", "id": int, "with": {...}, "what":
      "tokenize|detokenize|render|embed|rerank|stats|template|calibrate"}
  {"op": "ping", "id": int}               answered by the reader thread
  {"op": "quit"}
Worker to server:
  {"op": "trying"}                                      while it tries its backends, before loading
  {"op": "progress", "done": float}                                      while loading, 0..1
  {"op": "ready", "facts": {...ModelFacts...}}
  {"op": "failed", "code": str, "message": str}         the load failed; the worker exits
  {"op": "step", "of": [item, ...]}                     at most one frame per engine step
      item: [id, "prompt", done, total]
            [id, "text", text, logprobs or None, tokens]    the number of tokens in this text
                logprobs: [[text, bytes, logprob, [[text, bytes, logprob]...]]...]
            [id, "end", reason, {...Usage...}]       reason: stop | length; then the stop
                                                     text, if one occurred
            [id, "error", code, message, {facts}]    ends the request; code is an AppError code
  {"op": "answer", "id": int, "value": any}             embed: {"vectors": [...], "tokens": int}
                                    rerank: {"scores": [...], "tokens": int, "method": str}
  {"op": "refused", "id": int, "code": str, "message": str, ...facts}
  {"op": "pong", "id": int, "steps": int, "running": int, "waiting": int,
      "errands": int, "errands_done": int,      those of the first lane: in hand, done
      "lanes": [[in hand, done], ...],          small, large, vectors; `done` also counts beats
      "beats": int or None, "is_unseen": bool}  progress inside a step, and whether it is invisible
A worker that reads end-of-file on its pipe exits.
"""

import struct
from dataclasses import dataclass, field
from typing import Any

import msgpack

from server.system.limits import beyond_64_bits

LENGTH = struct.Struct("<I")
MAX_FRAME_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Job:
    """A generation as the worker gets it: template input or raw prompt, limits, sampling."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    template_options: dict[str, Any] = field(default_factory=dict)
    prompt: str | list[str | int] | None = None
    infill: dict[str, Any] | None = None
    continue_mark: str = ""
    """Marks the place in the last message where the answer continues; empty for a new message."""
    images: list[bytes] = field(default_factory=list)
    image_mark: str = "<__media__>"
    """Marks the place of an image in the messages."""
    sampling: dict[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    stop: list[str] = field(default_factory=list)
    constraint: dict[str, Any] | None = None
    trigger: str | None = None
    trigger_lead: str | None = None
    trigger_thought: tuple[str, str] | None = None
    """The fields `trigger…` and `visible_tokens` mean the same as in `styles.base.Prepared`."""
    visible_tokens: list[str] = field(default_factory=list)
    top_logprobs: int | None = None
    client: str = ""


def pack(frame: dict[str, Any]) -> bytes:
    """Packs a frame. Text and numbers from clients never fail: what does not fit is replaced."""
    body: bytes = msgpack.packb(
        frame, use_bin_type=True, unicode_errors="replace", default=_otherwise
    )
    return LENGTH.pack(len(body)) + body


def _otherwise(value: Any) -> float | str:
    if not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} cannot travel")
    return beyond_64_bits(value)


def unpack(body: bytes) -> dict[str, Any]:
    """Unpacks a frame. Raises ValueError if the body is not one."""
    frame = msgpack.unpackb(body, raw=False, strict_map_key=False)
    if not isinstance(frame, dict) or not isinstance(frame.get("op"), str):
        raise ValueError("not a frame")  # noqa: TRY004
    return frame
