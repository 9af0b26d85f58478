"""What Ollama's programs call a model, found on the hub: hf.co/owner/repo:quant, llama3.2:1b."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from server.errors import BadRequest, HubRefused
from server.face.models import HubModel
from server.models import catalogue
from server.models.repository import QUANTISATION

HUBS = ("hf.co", "huggingface.co", "www.huggingface.co")
LIBRARIES = ("registry.ollama.ai", "ollama.com", "www.ollama.com")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*")
WHERE = "Name a repository instead: hf.co/owner/repository, or hf.co/owner/repository:Q4_K_M."
Search = Callable[[str], Awaitable[list[HubModel]]]


class NotOnHub(HubRefused):
    code = "model_not_found"
    status = 404


@dataclass(frozen=True, slots=True)
class Wanted:
    """`repo` is owner/name, or a bare name that has to be looked for; `tag` may be empty."""

    repo: str
    tag: str = ""

    @property
    def is_bare(self) -> bool:
        return "/" not in self.repo

    @property
    def quantisation(self) -> str:
        found = QUANTISATION.findall(self.tag)
        return found[-1].upper() if found else ""

    @property
    def words(self) -> str:
        """The name with its size: llama3.2-1b."""
        size = QUANTISATION.sub("", self.tag).strip("-._")
        return f"{self.repo}-{size}" if size else self.repo


def read(name: str) -> Wanted:
    plain = SCHEME.sub("", name.strip()).strip("/")
    base, _, tag = plain.partition(":")
    host, *parts = base.split("/")
    if host.lower() not in (*HUBS, *LIBRARIES):
        host, parts = "", [host, *parts]
    if host.lower() not in HUBS and len(parts) > 1 and parts[0] == "library":
        parts = parts[1:]
    most = 2 if host.lower() in HUBS or len(parts) > 1 else 1
    if len(parts) != most or not all(PART.fullmatch(part) for part in parts) or "/" in tag:
        raise BadRequest(f"'{name}' is not the name of a model on the hub. {WHERE}", "model")
    return Wanted("/".join(parts), "" if tag == "latest" else tag)


async def find(name: str, search: Search) -> tuple[str, str]:
    """The repository and the file or quantisation in it; an empty one is chosen later."""
    wanted = read(name)
    if not wanted.is_bare:
        return wanted.repo, wanted.tag
    start = _condensed(wanted.words)
    for entry in catalogue.read().models:
        if _begins(entry.repo, start):
            return entry.repo, wanted.quantisation or entry.file
    for text in dict.fromkeys((wanted.words, _spelled(wanted.words))):
        if found := _most_used(await search(text), start):
            return found, wanted.quantisation
    raise NotOnHub(f"model '{name}' not found on the hub. {WHERE}")


def _most_used(models: Iterable[HubModel], start: str) -> str:
    fitting = [one for one in models if _begins(one.repo, start)]
    return max(fitting, key=lambda one: one.downloads).repo if fitting else ""


def _begins(repo: str, start: str) -> bool:
    """Whether the repository's own name begins so, and not in the middle of a number."""
    name = _condensed(repo.partition("/")[2])
    return name.startswith(start) and not (start[-1:].isdigit() and name[len(start) :][:1] == ".")


def _condensed(text: str) -> str:
    return re.sub(r"[-_ ]", "", text.lower())


def _spelled(words: str) -> str:
    """As repositories write it: llama-3.2-1b."""
    return re.sub(r"([A-Za-z])(\d)", r"\1-\2", words)
