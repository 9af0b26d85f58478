"""Aliases of models, and the defaults that an alias or a model's own settings add to a request."""

import hashlib
import logging
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from server.chat import ChatRequest, Json, Message, Role
from server.errors import AppError, BadRequest
from server.face.models import ModelCard
from server.sentences import Sentence
from server.settings import OwnSettings
from server.system.files import set_aside, write_atomically

log = logging.getLogger(__name__)
THINKING = "enable_thinking"
"""The chat template option that switches thinking on or off."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:\-]{0,199}")


class NameTaken(AppError):
    code = "name_taken"
    status = 409


class AliasTurn(BaseModel):
    """A message that comes before every conversation with the model."""

    role: Role
    content: str


class Alias(BaseModel):
    """A second name for a model, with defaults for the requests that use it."""

    path: str
    """The path of the model's file."""
    is_pulled: bool = False
    """Whether the model was pulled under this name. If so, deleting the name deletes the model."""
    system: str = ""
    parameters: Json = {}
    """Sampling options under Ollama's names: temperature, stop, num_predict …"""
    messages: tuple[AliasTurn, ...] = ()
    licence: str = ""
    made_at: float = 0.0

    def apply(self, request: ChatRequest, model: str) -> ChatRequest:
        """Returns the request for the model itself. Values in the request win over the alias's."""
        messages = request.messages
        if messages:
            added = tuple(Message(turn.role, turn.content) for turn in self.messages)
            system = Message("system", self.system)
            has_system = messages[0].role == "system"
            first = messages[:1] if has_system else ((system,) if self.system else ())
            messages = (*first, *added, *messages[has_system:])
        stop = self.parameters.get("stop") or ()
        limit = self.parameters.get("num_predict") or 0
        return replace(
            request,
            model=model,
            messages=messages,
            sampling=request.sampling.fill(self.parameters),
            stop=request.stop or tuple([stop] if isinstance(stop, str) else stop),
            max_tokens=request.max_tokens or (limit if limit > 0 else None),
        )


def complete(request: ChatRequest, own: OwnSettings) -> ChatRequest:
    """Adds the model's own settings to the request. Values in the request win."""
    messages = request.messages
    if own.system_prompt and messages and all(message.role != "system" for message in messages):
        messages = (Message("system", own.system_prompt), *messages)
    sampling = request.sampling.fill(own.values)
    return switch_thinking(replace(request, messages=messages, sampling=sampling), own)


def switch_thinking(request: ChatRequest, own: OwnSettings) -> ChatRequest:
    """Switches thinking as the model's settings say, unless the request does so itself."""
    options = request.template_options
    if own.thinking is None or THINKING in dict(options):
        return request
    return replace(request, template_options=(*options, (THINKING, own.thinking == "on")))


_All: TypeAdapter[dict[str, Alias]] = TypeAdapter(dict[str, Alias])


class Aliases:
    """The aliases of all models, kept in a JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._all = self._read()

    def find(self, name: str | None) -> Alias | None:
        return self._all.get(name or "")

    def cards(self, cards: Iterable[ModelCard]) -> tuple[ModelCard, ...]:
        """Returns the models, and one more card for each alias whose name is not taken."""
        models = tuple(cards)
        by_path = {card.path: card for card in models}
        taken = {card.name for card in models}
        more = [
            _card(name, alias, by_path[alias.path])
            for name, alias in self._all.items()
            if alias.path in by_path and name not in taken
        ]
        return (*models, *more)

    def made_from(self, path: str) -> list[str]:
        """Returns the aliases that people gave this file, without the names it was pulled under."""
        return [
            name for name, alias in self._all.items() if alias.path == path and not alias.is_pulled
        ]

    def set(self, name: str, alias: Alias, models: Iterable[ModelCard]) -> None:
        if not NAME.fullmatch(name) or ".." in name:
            raise BadRequest(Sentence("'{0}' cannot be the name of a model.", name), "model")
        if any(card.name == name and not card.base for card in models):
            raise NameTaken(Sentence("There is already a model '{0}'.", name))
        self._write({**self._all, name: alias.model_copy(update={"made_at": time.time()})})

    def remove(self, name: str) -> None:
        self._write({key: alias for key, alias in self._all.items() if key != name})

    def forget(self, path: str) -> None:
        """Removes all aliases of a model file that no longer exists."""
        if any(alias.path == path for alias in self._all.values()):
            self._write({key: alias for key, alias in self._all.items() if alias.path != path})

    def _write(self, aliases: dict[str, Alias]) -> None:
        write_atomically(self._path, _All.dump_json(aliases, indent=1).decode())
        self._all = aliases

    def _read(self) -> dict[str, Alias]:
        try:
            return _All.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValidationError:
            log.warning("The list of other names for models was damaged: %s", set_aside(self._path))
        except OSError:
            log.exception("The list of other names for models cannot be read")
        return {}


def _card(name: str, alias: Alias, model: ModelCard) -> ModelCard:
    digest = model.digest
    if alias.system or alias.parameters or alias.messages:
        own = alias.model_dump_json(exclude={"made_at"})
        digest = hashlib.sha256(f"{digest}\n{own}".encode()).hexdigest()
    return replace(
        model, name=name, base=model.name, digest=digest, modified_at=alias.made_at, starter=False
    )
