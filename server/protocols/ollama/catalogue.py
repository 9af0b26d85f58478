"""Ollama's routes that list and describe models, and make embeddings."""

import time
from typing import Any

from server.chat import Json
from server.engine.base import Embeddings
from server.face.models import ModelCard
from server.models.aliases import Alias
from server.models.gguf.header import Header, LongArray
from server.protocols.base import Ask, Facts, Manage, Managed, ModelKeeper, Reply
from server.protocols.fields import Fields
from server.protocols.ollama.words import can_think, card_of, keep_alive, model_name, moment

OLLAMA_VERSION = "0.12.11"
"""The version of Ollama whose API this is: clients refuse a server that is too old for them."""
NEVER = "2318-01-01T00:00:00Z"
"""The expiry time of a model that stays loaded: Ollama's program shows it as "forever"."""
LEFT_OUT = ("general.name", "tokenizer.chat_template")
"""Metadata of the file that `model_info` does not show."""
SCALES = ((10**9, "B"), (10**6, "M"), (10**3, "K"))


def root(_body: Any, facts: Facts) -> Reply:
    """Answers `Ollama is running`, which programs look for. A browser gets a text about Moat."""
    if "text/html" in facts.headers.get("accept", ""):
        return Reply(text="Moat is running. Its Connect page shows what to connect, and how.")
    return Reply(text="Ollama is running", content_type="text/plain")


def tags(_body: Any, facts: Facts) -> Reply:
    """Lists the models of this machine."""
    return Reply({"models": [_card(card) for card in facts.models]})


def running(_body: Any, facts: Facts) -> Reply:
    """Lists the models that are loaded."""
    cards = [card for card in facts.models if card.loaded and not card.base]
    return Reply({"models": [_running(card, facts) for card in cards]})


def show(body: Any, facts: Facts) -> Manage:
    """Describes a model: its template, parameters, licence and capabilities."""
    card = card_of(Fields(body), facts)

    async def look(keeper: ModelKeeper) -> Managed:
        return Reply(_describe(card, await keeper.header(card), keeper.alias(card), facts))

    return Manage(look)


def version(_body: Any, facts: Facts) -> Reply:
    """Returns the version of Ollama whose API this is, and Moat's own version."""
    return Reply({"version": OLLAMA_VERSION, "moat": facts.version})


def status(_body: Any, _facts: Facts) -> Reply:
    """Reports that Ollama's cloud models are disabled."""
    return Reply({"cloud": {"disabled": True, "source": "moat"}})


def embed(body: Any, facts: Facts) -> Ask:
    """Returns the embeddings of one or several texts."""
    fields = Fields(body)
    given = fields.value("input")
    texts = [given] if isinstance(given, str) and given else given or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise fields.wrong("input", "must be a string or an array of strings")
    shown = {"model": fields.text("model") or facts.default_model}
    model, keep_s, began = model_name(body, facts), keep_alive(fields), time.perf_counter_ns()
    dimensions = fields.integer("dimensions", 0, 2**31 - 1) or 0
    fields.flag("truncate")
    if not texts:
        return Ask("load", model, {}, lambda _made: Reply({**shown, "embeddings": []}), keep_s)

    def reply(made: Embeddings) -> Reply:
        vectors = [_shorten(vector, dimensions) for vector in made.vectors]
        took = time.perf_counter_ns() - began
        counted = {"embeddings": vectors, "prompt_eval_count": made.tokens}
        return Reply({**shown, **counted, "total_duration": took, "load_duration": 0})

    return Ask("embed", model, {"texts": texts}, reply, keep_s)


def embed_one(body: Any, facts: Facts) -> Ask:
    """Returns the embedding of one prompt: the older form of `/api/embed`."""
    fields = Fields(body)
    prompt, model = fields.text("prompt") or "", model_name(body, facts)
    keep_s = keep_alive(fields)
    if not prompt:
        return Ask("load", model, {}, lambda _made: Reply({"embedding": []}), keep_s)

    def reply(made: Embeddings) -> Reply:
        return Reply({"embedding": made.vectors[0]})

    return Ask("embed", model, {"texts": [prompt]}, reply, keep_s)


def _shorten(vector: list[float], dimensions: int) -> list[float]:
    """Cuts the vector to its first numbers and scales it to length 1 again."""
    if not 0 < dimensions < len(vector):
        return vector
    some = vector[:dimensions]
    length = sum(number * number for number in some) ** 0.5
    return [number / length for number in some] if length else some


def _card(card: ModelCard) -> Json:
    family = card.architecture or "unknown"
    details = {
        "parent_model": card.base,
        "format": "remote" if card.hosts else "gguf",
        "family": family,
        "families": [family],
        "parameter_size": _count(card.parameters),
        "quantization_level": card.quantisation or "unknown",
    }
    remote = {"remote_model": card.base or card.name, "remote_host": ", ".join(card.hosts)}
    return {
        "name": card.name,
        "model": card.name,
        **(remote if card.hosts else {}),
        "modified_at": moment(card.modified_at),
        "size": card.size_bytes,
        "digest": card.digest,
        "details": details,
    }


def _running(card: ModelCard, facts: Facts) -> Json:
    """Describes a loaded model. Its expiry is NEVER while it answers, or if it stays loaded."""
    found = next((loaded for loaded in facts.loaded if loaded.name == card.name), None)
    known = found.facts if found else None
    on_card = known.extra.get("gpu_bytes", card.size_bytes) if known else 0
    size = max(card.size_bytes, on_card)
    leaves_at = found.leaves_at if found else None
    return {
        **_card(card),
        "size": size,
        "size_vram": on_card if known and known.device == "gpu" else 0,
        "context_length": known.context_tokens if known else card.trained_context_tokens,
        "expires_at": NEVER if leaves_at is None else moment(leaves_at),
    }


def _describe(card: ModelCard, header: Header, alias: Alias | None, facts: Facts) -> Json:
    shown = _card(card)
    shown["details"]["parameter_size"] = _count(header.parameters or card.parameters)
    parameters = _parameters(card, alias, facts)
    described: Json = {
        "template": header.template,
        "parameters": parameters,
        "license": (alias.licence if alias else "") or header.licence,
        "system": alias.system if alias else "",
        "messages": [turn.model_dump() for turn in alias.messages] if alias else [],
        "model_info": _model_info(header),
        "capabilities": _capabilities(card, header),
    }
    described["modelfile"] = _modelfile(card, described)
    return {
        **shown,
        **{name: value for name, value in described.items() if value or name == "model_info"},
    }


def _parameters(card: ModelCard, alias: Alias | None, facts: Facts) -> str:
    """Returns a line for each parameter. `num_ctx` is the context of the model as it is loaded."""
    found = next(
        (loaded for loaded in facts.loaded if loaded.name == (card.base or card.name)), None
    )
    context = found.facts.context_tokens if found else 0
    given: Json = {
        **({"num_ctx": context} if context else {}),
        **(alias.parameters if alias else {}),
    }
    pairs = [
        (name, entry)
        for name, value in given.items()
        for entry in (value if isinstance(value, list) else [value])
    ]
    shown = [(name, f'"{value}"' if isinstance(value, str) else value) for name, value in pairs]
    return "\n".join(f"{name:<30} {value}" for name, value in shown)


def _modelfile(card: ModelCard, described: Json) -> str:
    lines = [f"FROM {card.base or card.name}"]
    lines += [
        f"PARAMETER {parameter_line}" for parameter_line in described["parameters"].splitlines()
    ]
    lines += [f'SYSTEM """{described["system"]}"""'] if described["system"] else []
    lines += [f"MESSAGE {turn['role']} {turn['content']}" for turn in described["messages"]]
    return "\n".join(lines) + "\n"


def _model_info(header: Header) -> Json:
    """Returns the file's metadata. A long list is None."""
    info: Json = {"general.parameter_count": header.parameters}
    for name, value in header.metadata.items():
        if name not in LEFT_OUT:
            info[name] = None if isinstance(value, LongArray) else value
    return info


def _capabilities(card: ModelCard, header: Header) -> list[str]:
    if header.is_embedder:
        return ["embedding"]
    found = ["completion", "tools"]
    found += ["vision"] if card.has_eyes else []
    return found + (["thinking"] if can_think(header) else [])


def _count(parameters: int) -> str:
    """Formats a number of parameters like Ollama: 134.5M, 8.0B."""
    scale, letter = next((step for step in SCALES if parameters >= step[0]), (1, ""))
    return f"{parameters / scale:.1f}{letter}" if parameters else ""
