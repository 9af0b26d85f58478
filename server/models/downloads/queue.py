"""The queue of downloads: starts, pauses, resumes and cancels them, also after a restart.

A lock file makes sure that only one program works on a download.
"""

import asyncio
import errno
import hashlib
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from server.errors import AppError, BadRequest, DiskFailed, DiskFull, HubRefused, describe_causes
from server.face.models import Download, DownloadPhase
from server.models import hub_cache, names
from server.models.downloads import download
from server.models.downloads.download import FileHost, Restart, Throttle, Transfer, TransferLimits
from server.models.downloads.journal import DownloadJournal, DownloadPlan, disk_trouble
from server.models.hub import RemoteFile, Repository
from server.models.hub_cache import HubCache
from server.observe import Value
from server.sentences import Sentence
from server.system.files import try_lock
from server.tasks import spawn, stop

NAME = "lock"

_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


class Claim:
    """A lock on a download's folder. Raises BadRequest if another program holds it."""

    def __init__(self, folder: Path) -> None:
        self._file: int | None = None
        try:
            self._file = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return  # The disk is full or the folder is missing: the download itself will report it.
        try:
            try_lock(self._file)
        except OSError as error:
            self.release()
            # Some network file systems have no locks. That must not prevent a download.
            if error.errno in _TAKEN:
                raise BadRequest(
                    Sentence("Another program is downloading this file."), "id"
                ) from None

    def release(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


log = logging.getLogger(__name__)
FOLDER = ".downloads"
AT_A_TIME = 2
TICK_S = 0.25
DISK_LOOK_S = 5.0
MAX_RESTARTS = 3


class AlreadyHere(BadRequest):
    """All files of the download are already installed."""


class _Job:
    """A download in the queue: its journal, and its transfer while it runs."""

    def __init__(self, journal: DownloadJournal) -> None:
        self.journal = journal
        self.transfer: Transfer | None = None
        self.task: asyncio.Task[Any] | None = None
        self.claim: Claim | None = None
        self.phase: DownloadPhase = "paused" if journal.paused else "waiting"
        self.reason = ""
        self.details = ""
        if journal.failed:
            self.phase, self.reason, self.details = "failed", journal.failed, journal.details

    def let_go(self) -> None:
        if self.claim is not None:
            self.claim.release()

    def describe(self) -> Download:
        plan, transfer = self.journal.plan, self.transfer
        total = plan.total_bytes
        done = total if self.phase == "done" else self.journal.done_bytes
        speed, left = 0.0, None
        if transfer is not None and self.phase in ("running", "verifying", "waiting"):
            done = min(total, transfer.done_bytes)
            speed, left = transfer.pace.bytes_per_s, transfer.pace.left_s(total - done)
        reason = self.reason or (transfer.note if transfer else "")
        left_s = round(left, 1) if left is not None else None
        return Download(
            plan.id,
            plan.name,
            plan.repo,
            self.phase,
            done,
            total,
            round(speed),
            left_s,
            reason,
            plan.files[0].sha256,
            self.details if self.phase == "failed" else "",
        )


class Downloads:
    """All downloads, with their state in `all`. At most `AT_A_TIME` of them run at once."""

    def __init__(
        self,
        hub: FileHost,
        models: Path,
        limit_bytes_s: Callable[[], float],
        on_installed: Callable[[], None],
        limits: TransferLimits | None = None,
        folder: str = FOLDER,
    ) -> None:
        self.all: Value[tuple[Download, ...]] = Value(())
        self._hub = hub
        self._models = models
        self._folder = models / folder
        self._cache = HubCache(models)
        self._limits = limits or TransferLimits()
        self._throttle = Throttle(limit_bytes_s)
        self._on_installed = on_installed
        self._jobs: dict[str, _Job] = {}
        self._turns = asyncio.Semaphore(AT_A_TIME)
        self._ticking: asyncio.Task[None] | None = None

    def restore(self, *, run: bool = True) -> None:
        """Resumes the downloads that ran at the last exit; deletes folders without a journal."""
        folder = self._folder
        with suppress(OSError):
            for place in sorted(folder.iterdir()) if folder.is_dir() else ():
                journal = DownloadJournal.read(place)
                if journal is None or journal.plan.id != place.name:
                    _throw_away(place)
                    continue
                self._jobs[journal.plan.id] = job = _Job(journal)
                if job.phase == "waiting" and run:
                    try:
                        self._run(job)
                    except AppError as error:
                        job.phase, job.reason = "failed", str(error)
                        job.details = error.details
        self._tell()

    async def close(self) -> None:
        """Stops the work. Unfinished downloads resume at the next start."""
        for job in self._jobs.values():
            await stop(job.task)
        await stop(self._ticking)

    def start(
        self,
        repository: Repository,
        files: tuple[RemoteFile, ...],
        *,
        replaces: bool = False,
        cache: str = "",
    ) -> str:
        """Starts a download, or resumes the same one if it was begun before. Returns its id.

        `replaces` means that files with these names are installed and will be overwritten. `cache`
        is the folder of Hugging Face's cache if the files shall go there.
        """
        if not files:
            raise BadRequest(Sentence("There is nothing to download."), "file")
        key = "\n".join([repository.repo, *(file.path for file in files)])
        number = hashlib.sha256(key.encode()).hexdigest()[:16]
        known = self._jobs.get(number)
        if known is not None and known.phase != "done":
            self._resume(known)
            return number
        plan = DownloadPlan(
            number,
            Path(files[0].path).name,
            names.repo(repository.repo),
            names.revision(repository.revision),
            files,
            self._limits.piece_bytes,
            replaces,
            cache,
        )
        if not replaces and all(target.exists() for target in self._targets(plan)):
            raise AlreadyHere(Sentence("{0} is already installed.", plan.name), "file")
        job = _Job(DownloadJournal(self._folder / number, plan))
        self._run(job, anew=True)
        self._jobs[number] = job
        self._tell()
        return number

    async def pause(self, download_id: str) -> None:
        job = self._find(download_id)
        if job.phase in ("done", "failed"):
            return
        await stop(job.task)
        job.phase, job.reason = "paused", ""
        with suppress(DiskFailed):
            job.journal.set_paused(paused=True)
        self._tell()

    async def resume(self, download_id: str) -> None:
        self._resume(self._find(download_id))

    async def cancel(self, download_id: str) -> None:
        """Stops a download and deletes all of its data."""
        job = self._find(download_id)
        await stop(job.task)
        job.journal.remove()
        del self._jobs[download_id]
        self._tell()

    def _find(self, number: str) -> _Job:
        if number not in self._jobs:
            raise BadRequest(Sentence("There is no such download."), "id")
        return self._jobs[number]

    def _resume(self, job: _Job) -> None:
        if job.phase != "done" and (job.task is None or job.task.done()):
            self._run(job)

    def _targets(self, plan: DownloadPlan) -> list[Path]:
        place = partial(self.target_of, plan.repo, plan.revision, cache=plan.cache)
        return [place(file.path) for file in plan.files]

    def target_of(self, repo: str, revision: str, path: str, *, cache: str) -> Path:
        """Returns the path that a file will be installed at."""
        if cache:
            return hub_cache.target_of(Path(cache), repo, revision, path)
        return names.inside(self._models, repo, names.file(path))

    def _run(self, job: _Job, *, anew: bool = False) -> None:
        """Starts a job. Raises BadRequest if another program runs it, DiskFailed on disk faults."""
        claim = _take_up(job, anew=anew)
        job.phase, job.reason = "waiting", ""
        job.task = spawn(self._work(job), f"download-{job.journal.plan.id}")
        job.task.add_done_callback(lambda _task: claim.release())
        if self._ticking is None or self._ticking.done():
            self._ticking = spawn(self._tick(), "download-progress")
        self._tell()

    async def _work(self, job: _Job) -> None:
        try:
            async with self._turns:
                await self._transfer(job)
        except AppError as error:
            log.warning("The download of %s failed: %s", job.journal.plan.name, error)
            _fail(job, str(error), error.details)
        except Exception as error:
            log.exception("The download of %s failed", job.journal.plan.name)
            details = "\n".join(describe_causes(error))
            _fail(job, Sentence("Something went wrong inside Moat."), details)
        else:
            job.phase, job.reason = "done", ""
            job.let_go()
            job.journal.remove()
            self._drop_older(job.journal.plan)
            self._on_installed()
        finally:
            job.transfer = None
            self._tell()

    async def _transfer(self, job: _Job) -> None:
        """Transfers all files. Waits while the disk is full, starts over if a file has changed."""
        restarts = 0
        while True:
            plan = job.journal.plan
            targets = self._targets(plan)
            put: download.Put = download.put
            if plan.cache:
                put = self._cache.put
                await asyncio.to_thread(self._link_known, plan, targets)
            job.transfer = Transfer(
                self._hub, job.journal, targets, self._throttle, self._limits, put
            )
            try:
                await job.transfer.run()
            except DiskFull as error:
                job.phase, job.reason = (
                    "waiting",
                    Sentence("{0} It continues when there is space.", error),
                )
                self._tell()
                await self._wait_for_room(job)
                job.reason = ""
            except Restart:
                restarts += 1
                if restarts > MAX_RESTARTS:
                    raise HubRefused(Sentence("The hub's file changes again and again.")) from None
            else:
                return

    def _link_known(self, plan: DownloadPlan, targets: list[Path]) -> None:
        for target, file in zip(targets, plan.files, strict=True):
            self._cache.link_known(target, file.sha256, file.size_bytes)

    def _drop_older(self, plan: DownloadPlan) -> None:
        """Removes older versions from Hugging Face's cache. In our folder they are overwritten."""
        if plan.cache and plan.replaces:
            for target in self._targets(plan):
                with suppress(OSError):
                    self._cache.drop_older(target)

    async def _wait_for_room(self, job: _Job) -> None:
        while True:
            await asyncio.sleep(DISK_LOOK_S)
            with disk_trouble():
                if not download.lacking(job.journal, self._targets(job.journal.plan)):
                    return

    async def _tick(self) -> None:
        while any(job.task and not job.task.done() for job in self._jobs.values()):
            self._tell()
            await asyncio.sleep(TICK_S)

    def _tell(self) -> None:
        for job in self._jobs.values():
            if job.transfer is not None and not job.reason:
                job.phase = job.transfer.phase
        self.all.set(tuple(job.describe() for job in self._jobs.values()))


def _take_up(job: _Job, *, anew: bool) -> Claim:
    """Locks the download for this program. Writes its journal again if somebody deleted it."""
    # The last attempt may have ended at this very moment and still hold the lock.
    job.let_go()
    folder = job.journal.folder
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    claim = job.claim = Claim(folder)
    try:
        if anew or not job.journal.is_there:
            job.journal = DownloadJournal.create(folder, job.journal.plan)
        elif job.journal.paused or job.journal.failed:
            with suppress(DiskFailed):
                job.journal.set_paused(paused=False)
    except AppError:
        job.let_go()
        raise
    return claim


def _throw_away(folder: Path) -> None:
    """Deletes the folder unless another program has locked it to start a download."""
    with suppress(BadRequest):
        Claim(folder).release()
        shutil.rmtree(folder, ignore_errors=True)


def _fail(job: _Job, reason: str, details: str) -> None:
    job.phase, job.reason, job.details = "failed", reason, details
    with suppress(DiskFailed):
        job.journal.set_failed(reason, details)
