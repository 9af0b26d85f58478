"""Reads facts about repositories with the hub's own library, which is slow to import."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub.hf_api import HfApi, ModelInfo, RepoFile
from huggingface_hub.repocard import ModelCard
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    WeakFileLock,
    parse_ratelimit_headers,
    set_client_factory,
)
from yaml import YAMLError

from server import door
from server.egress import Egress
from server.errors import (
    AnswerTooLong,
    HubDisabled,
    HubFailed,
    HubGated,
    HubMissing,
    HubRefused,
)
from server.face.models import HubCard, HubModel, ScanIssue
from server.models import names
from server.models.hub import AGENT, SEARCH, RemoteFile, Repository, TrendingModel, why
from server.sentences import Sentence

T = TypeVar("T")
MAX_PAGES = 20
LONGEST_WAIT_S = 3600
DISABLED = "Access to this resource is disabled."
BAD_TOKEN = "Invalid credentials in Authorization header"
NO_TOKEN = Sentence("The hub needs a token: accept the model's terms on its page, then add it.")
TERMS = Sentence(
    "The hub refuses: accept the model's terms on its page first. A fine-grained token must also "
    "be allowed to read gated repositories."
)
NOT_VALID = Sentence("The hub does not accept the saved token. Save a valid one, or remove it.")
UNSEEN = Sentence(
    "The hub shows no such repository. Check its name; a private one needs its token."
)
MISSING = {
    "RepoNotFound": Sentence("The hub has no such repository."),
    "EntryNotFound": Sentence("The hub has no such file."),
    "RevisionNotFound": Sentence("The hub has no such revision."),
}
EXPANDED: list[Any] = ["downloads", "likes", "gated", "tags", "lastModified", "gguf"]
UNCLEAR = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""The errors that the library raises for malformed answers, since it does not validate them."""


@dataclass(frozen=True, slots=True)
class HubLibrary:
    """A session with the hub's library. Every request goes through `Egress`."""

    egress: Egress
    address: str
    token: str | None
    stall_s: float

    async def search(self, text: str, limit: int) -> list[HubModel]:
        """Returns repositories with GGUF files, the most downloaded first."""

        def work(api: HfApi) -> list[HubModel]:
            found = api.list_models(
                search=text, filter="gguf", sort="downloads", limit=limit, expand=EXPANDED
            )
            return [_model(info) for info in islice(found, limit)]

        return await self._ask(work)

    async def trending(self, publisher: str, limit: int) -> list[TrendingModel]:
        def work(api: HfApi) -> list[TrendingModel]:
            found = api.list_models(
                author=publisher, filter="gguf", sort="trending_score", limit=limit, expand=EXPANDED
            )
            return [TrendingModel(_model(info), _template(info)) for info in islice(found, limit)]

        return await self._ask(work)

    async def repository(self, repo: str, revision: str) -> Repository:
        """Returns a repository at one commit, so that its files cannot change during a download."""

        def work(api: HfApi) -> Repository:
            info = api.model_info(repo, revision=revision)
            commit = names.revision(_text(info.sha) or revision)
            # A renamed repository reports its new name.
            name = names.repo(_text(info.id))
            tree = api.list_repo_tree(name, recursive=True, revision=commit)
            files = tuple(
                RemoteFile(_text(file.path), _count(file.lfs.size), _text(file.lfs.sha256))
                for file in tree
                if isinstance(file, RepoFile) and file.lfs is not None
            )
            return Repository(name, commit, _licence(info), bool(info.gated), files, _day(info))

        return await self._ask(work)

    async def card(self, repo: str) -> HubCard:
        """Returns the authors' licence, and what the hub's scanners found in the files."""

        def work(api: HfApi) -> HubCard:
            info = api.model_info(repo, securityStatus=True)
            card: Any = info.card_data
            said: dict[str, Any] = card.to_dict() if hasattr(card, "to_dict") else {}
            return HubCard(
                names.repo(_text(info.id)),
                names.revision(_text(info.sha)),
                _licence(info),
                _text(said.get("license_name") or ""),
                _text(said.get("license_link") or ""),
                bool(info.gated),
                *_scan(info.security_repo_status),
            )

        return await self._ask(work)

    async def _ask(self, work: Callable[[HfApi], T]) -> T:
        given = door.Pass(
            self.egress,
            SEARCH,
            self.stall_s,
            most_requests=MAX_PAGES + 1,
            headers={"user-agent": AGENT},
        )
        api = HfApi(endpoint=self.address, token=self.token or False)
        try:
            return await door.call(given, lambda: work(api))
        except AnswerTooLong as error:
            raise HubFailed(Sentence("The hub's answer is far too long.")) from error
        except door.WayBroken as error:
            raise HubFailed(why(error.__cause__ or error)) from error
        except UNCLEAR as error:
            raise HubFailed(Sentence("The hub's answer cannot be understood.")) from error


def text_of(card: bytes) -> str:
    """Returns a model card's text without the YAML block at its beginning."""
    written = card.decode("utf-8", "replace")
    try:
        return str(ModelCard(written, ignore_metadata_errors=True).text).strip()
    except (*UNCLEAR, YAMLError):
        return written.strip()


def refusal(
    status: int, headers: Mapping[str, str], *, has_token: bool, is_repository: bool = True
) -> HubFailed:
    """Returns the error for a response. The hub explains it in `X-Error-…` headers.

    `is_repository` says whether a repository or a file in one was requested.
    """
    kind, said = headers.get("X-Error-Code", ""), headers.get("X-Error-Message", "")
    if said == DISABLED:
        return HubDisabled(Sentence("The hub has disabled this repository."))
    if status == 401 and is_repository and kind != "GatedRepo" and said != BAD_TOKEN:
        # To strangers the hub does not say whether a repository is private or does not exist.
        return HubMissing(UNSEEN)
    if status in (401, 403):
        return _closed(status, kind, has_token=has_token)
    if status in (404, 410):
        return HubMissing(MISSING.get(kind, Sentence("The hub has no such repository or file.")))
    if status == 429:
        error = HubFailed(Sentence("The hub asks to wait: too many requests."))
        error.retry_after_s = _wait(headers)
        return error
    return HubFailed(Sentence("The hub answered with the error {0}.", status))


def _closed(status: int, kind: str, *, has_token: bool) -> HubRefused:
    if kind == "GatedRepo":
        return HubGated(TERMS if has_token else NO_TOKEN)
    if status == 401:
        return HubRefused(
            NOT_VALID if has_token else Sentence("The hub answers only with a token.")
        )
    if has_token:
        return HubRefused(Sentence("The hub refuses access: the saved token may not read this."))
    return HubRefused(Sentence("The hub refuses access. It may want a token."))


def _wait(headers: Mapping[str, str]) -> int | None:
    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return min(limit.reset_in_seconds, LONGEST_WAIT_S)
    after = headers.get("Retry-After", "")
    return min(int(after), LONGEST_WAIT_S) if after.isdecimal() and len(after) < 10 else None


def _check(response: Any) -> None:
    """Raises for an error response before the library sees it.

    The library would wait and retry by itself, in one of our threads.
    """
    if response.status_code >= 400:
        raise refusal(
            response.status_code,
            response.headers,
            has_token="authorization" in response.request.headers,
            is_repository="/api/models/" in response.request.url.path,
        )


set_client_factory(lambda: door.client(_check))


def _model(info: ModelInfo) -> HubModel:
    gguf = info.gguf if isinstance(info.gguf, dict) else {}
    return HubModel(
        _text(info.id),
        _count(info.downloads or 0),
        _count(info.likes or 0),
        _licence(info),
        bool(info.gated),
        _day(info),
        _text(gguf.get("architecture") or ""),
        _count(gguf.get("total") or 0),
    )


def _template(info: ModelInfo) -> str:
    gguf = info.gguf if isinstance(info.gguf, dict) else {}
    return _text(gguf.get("chat_template") or "")


def _licence(info: ModelInfo) -> str:
    tags = [tag for tag in info.tags or () if isinstance(tag, str)]
    return next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), "")


def _day(info: ModelInfo) -> str:
    return info.last_modified.date().isoformat() if info.last_modified else ""


def _scan(status: object) -> tuple[bool, tuple[ScanIssue, ...]]:
    """Returns whether the scan is complete, and the files with issues."""
    if not isinstance(status, dict):
        return False, ()
    found = status.get("filesWithIssues") or ()
    issues = tuple(ScanIssue(_text(file["path"]), _text(file["level"])) for file in found)
    return status.get("scansDone") is True, issues


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"a text was expected, not {type(given).__name__}")
    return given


def _count(given: object) -> int:
    if not isinstance(given, int) or given < 0:
        raise TypeError("a number was expected")
    return given


@contextmanager
def hold(lock: Path, patience_s: float) -> Iterator[bool]:
    """Takes a lock as the hub's programs do. Yields False if another program keeps it too long."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(WeakFileLock(lock, timeout=patience_s))
            is_held = True
        except TimeoutError:
            is_held = False
        yield is_held
