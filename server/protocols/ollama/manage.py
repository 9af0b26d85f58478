"""Ollama's routes that download, delete, copy and create models."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from server.chat import Json
from server.errors import AppError, KeyMayNot, NotSupported
from server.face.models import Download
from server.models.aliases import Alias, AliasTurn
from server.protocols.base import Facts, Frames, Manage, Managed, ModelKeeper, Reply
from server.protocols.fields import Fields, sampling, stop_texts
from server.protocols.ollama.words import card_of, error_text, frame, refuse

DONE = Reply(text="", content_type="text/plain")
ONLY_FROM = "a model is made from one that is here; name that in 'from'."
NOT_MADE = {
    "template": "a model's own template is used.",
    "files": ONLY_FROM,
    "adapters": ONLY_FROM,
    "draft_files": ONLY_FROM,
    "modelfile": "send 'from', 'system' and 'parameters' in its place.",
    "quantize": "pull the model in the size you want.",
    "quantization": "pull the model in the size you want.",
    "renderer": "a model's own template is used.",
    "parser": "a model's own template is used.",
    "remote_host": "models run on this computer.",
}
KNOWN = ("seed", "num_predict", "top_k", "top_p", "min_p", "typical_p", "repeat_last_n",
         "temperature", "repeat_penalty", "presence_penalty", "frequency_penalty", "stop",
         "mirostat", "mirostat_tau", "mirostat_eta")  # fmt: skip
WITHOUT_EFFECT = ("num_ctx", "num_keep", "num_batch", "num_gpu", "main_gpu", "num_thread",
                  "use_mmap", "use_mlock", "low_vram", "numa")  # fmt: skip
"""Parameters that are accepted but ignored: Moat's settings decide how a model is loaded."""


def pull(body: Any, facts: Facts) -> Manage:
    """Downloads a model from the hub and streams the progress. Not for web pages or named keys."""
    _check_sender(facts)
    fields = Fields(body)
    name = fields.text("model") or fields.some_text("name")
    streamed = fields.flag("stream") is not False

    async def fetch(keeper: ModelKeeper) -> Managed:
        lines = _progress(await keeper.pull(name))
        if streamed:
            return _frames(lines)
        async with aclosing(lines):
            return Reply([progress async for progress in lines][-1])

    return Manage(fetch)


def delete(body: Any, facts: Facts) -> Manage:
    """Deletes a model. Not for web pages or named keys."""
    _check_sender(facts)
    card = card_of(Fields(body), facts)

    async def remove(keeper: ModelKeeper) -> Managed:
        await keeper.delete(card)
        return DONE

    return Manage(remove)


def copy(body: Any, facts: Facts) -> Manage:
    """Gives a model a second name. Not for web pages or named keys."""
    _check_sender(facts)
    fields = Fields(body)
    source, target = card_of(fields, facts, "source"), fields.some_text("destination")

    async def name_it(keeper: ModelKeeper) -> Managed:
        alias = keeper.alias(source) or Alias(path=source.path)
        keeper.name_model(_plain(target), alias.model_copy(update={"is_pulled": False}))
        return DONE

    return Manage(name_it)


def create(body: Any, facts: Facts) -> Manage:
    """Adds a model with its own prompt and parameters. Not for web pages or named keys."""
    _check_sender(facts)
    fields = Fields(body)
    refuse(fields, NOT_MADE)
    target = fields.text("model") or fields.some_text("name")
    source, parameters = card_of(fields, facts, "from"), _parameters(fields)
    given: Json = {
        "system": fields.text("system") or "",
        "licence": "\n".join(fields.texts("license")),
        "messages": tuple(_turns(fields)),
    }

    async def make(keeper: ModelKeeper) -> Managed:
        base = keeper.alias(source) or Alias(path=source.path)
        more = {name: value for name, value in given.items() if value}
        more["parameters"] = {**base.parameters, **parameters}
        keeper.name_model(_plain(target), base.model_copy(update={**more, "is_pulled": False}))
        if fields.flag("stream") is False:
            return Reply({"status": "success"})
        return _frames(_success())

    return Manage(make)


class PagesMayNot(AppError):
    code = "origin_not_allowed"
    status = 403

    def __init__(self) -> None:
        super().__init__("A web page may not change which models are here.")


def _check_sender(facts: Facts) -> None:
    """Raises an error for a web page or a named key: they may ask, but not change the models."""
    if facts.origin:
        raise PagesMayNot
    if facts.holder:
        raise KeyMayNot(facts.holder, "change which models are here")


def push(_body: Any, _facts: Facts) -> Reply:
    """Refuses: Moat does not upload models."""
    raise NotSupported("Moat uploads no models.")


def blob(_body: Any, _facts: Facts) -> Reply:
    """Refuses: Moat does not accept model files."""
    raise NotSupported(f"Files are not taken: {ONLY_FROM}")


def _plain(name: str) -> str:
    return name.removesuffix(":latest")


def _parameters(fields: Fields) -> Json:
    """Reads the model's parameters, checked like the options of a request."""
    given = fields.object("parameters") or Fields({})
    for name in given.body:
        if name not in (*KNOWN, *WITHOUT_EFFECT):
            raise given.wrong(name, "is not known")
    sampling(given)
    stop_texts(given)
    given.integer("num_predict", -(2**31), 2**31 - 1)
    return given.body


def _turns(fields: Fields) -> list[AliasTurn]:
    roles = ("system", "user", "assistant")
    return [
        AliasTurn(role=turn.some_word("role", roles), content=turn.text("content") or "")
        for turn in fields.objects("messages")
    ]


async def _progress(downloads: AsyncGenerator[Download, None]) -> AsyncGenerator[Json, None]:
    yield {"status": "pulling manifest"}
    async with aclosing(downloads):
        async for now in downloads:
            yield _line(now)
    for status in ("verifying sha256 digest", "writing manifest", "success"):
        yield {"status": status}


def _line(now: Download) -> Json:
    if now.phase == "verifying":
        return {"status": "verifying sha256 digest"}
    if now.phase == "paused" or now.reason:
        return {"status": now.reason or "paused in Moat's window"}
    return {
        "status": f"pulling {now.sha256[:12]}",
        "digest": f"sha256:{now.sha256}",
        "total": now.total_bytes,
        "completed": now.done_bytes,
    }


async def _success() -> AsyncGenerator[Json, None]:
    yield {"status": "writing manifest"}
    yield {"status": "success"}


async def _frames(lines: AsyncGenerator[Json, None]) -> Frames:
    """Streams the lines. A failure becomes the last line, because the status is already sent."""
    try:
        async with aclosing(lines):
            async for progress in lines:
                yield frame(progress)
    except AppError as error:
        yield frame({"error": error_text(error)})
