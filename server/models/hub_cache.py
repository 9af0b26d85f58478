"""Installs models into Hugging Face's own cache, so that other programs can use the same files.

A repository is a folder `models--OWNER--NAME`. Its `blobs` folder holds the files, named by their
hash, and `snapshots/COMMIT` holds links with the files' names. `refs/main` names the newest commit.
Programs that add or remove a blob hold `.locks/models--OWNER--NAME/HASH.lock`.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from server.models import names
from server.system.files import write_atomically
from server.system.lazy import Late

facts = Late("server.models.hub_facts")
RECORD = ".hub-cache.json"
SNAPSHOTS = "snapshots"
LOCKS = ".locks"
COMMIT = re.compile(r"[0-9a-f]{40}")
PATIENCE_S = 30.0
"""Seconds to wait for a lock. Another program holds it for as long as it downloads."""


def target_of(cache: Path, repo: str, revision: str, path: str) -> Path:
    folder = f"models--{names.repo(repo).replace('/', '--')}"
    return names.inside(cache, folder, SNAPSHOTS, names.revision(revision), names.file(path))


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a file in the cache."""

    repository: Path
    commit: str
    inside: Path

    @classmethod
    def read(cls, target: Path) -> "_Place":
        at = len(target.parts) - 1 - target.parts[::-1].index(SNAPSHOTS)
        commit, *inside = target.parts[at + 1 :]
        return cls(Path(*target.parts[:at]), commit, Path(*inside))

    def blob(self, digest: str) -> Path:
        return self.repository / "blobs" / digest

    def hold(self, blob: Path) -> AbstractContextManager[bool]:
        """Locks a blob. Yields False if another program holds the lock for too long."""
        lock = self.repository.parent / LOCKS / self.repository.name / f"{blob.name}.lock"
        held: AbstractContextManager[bool] = facts.hold(lock, PATIENCE_S)
        return held

    @property
    def snapshot(self) -> Path:
        return self.repository / SNAPSHOTS / self.commit

    @property
    def main(self) -> Path:
        return self.repository / "refs" / "main"

    def link(self, blob: Path, *, is_ours: bool) -> None:
        """Links the file's name to the blob.

        Where symbolic links are not possible, our own blob moves there; one of another program
        stays, and gets a second name by a hard link.
        """
        target = self.snapshot / self.inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            target.symlink_to(os.path.relpath(blob, target.parent))
        except (OSError, NotImplementedError):
            if is_ours:
                blob.replace(target)
            else:
                target.hardlink_to(blob)
        if COMMIT.fullmatch(self.commit):
            write_atomically(self.main, self.commit)

    def is_used(self, blob: Path) -> bool:
        links = (self.repository / SNAPSHOTS).rglob("*")
        return any(name.resolve() == blob for name in links if name.is_symlink())

    def tidy(self) -> None:
        """Removes empty folders, and `refs/main` if it names the removed commit."""
        with suppress(OSError):
            for folder in (*(self.snapshot / self.inside).parents,)[: len(self.inside.parts)]:
                folder.rmdir()
            if self.main.read_text("utf-8").strip() == self.commit:
                self.main.unlink()
        # Other programs take a repository without a snapshots folder for broken, so that folder
        # goes last. A folder that has received a file meanwhile stays.
        with suppress(OSError):
            if not any(path for path in self.repository.rglob("*") if not path.is_dir()):
                for folder in sorted(
                    self.repository.rglob("*"), reverse=True, key=lambda path: len(path.parts)
                ):
                    if folder.name != SNAPSHOTS:
                        folder.rmdir()
                (self.repository / SNAPSHOTS).rmdir()
                self.repository.rmdir()


class HubCache:
    """Moat's files in the cache. A record in Moat's folder lists them; nothing else is deleted."""

    def __init__(self, models: Path) -> None:
        self._record = models / RECORD

    def paths(self) -> dict[str, bool]:
        """Returns the paths that Moat installed, and whether it downloaded the blob itself."""
        try:
            found = json.loads(self._record.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {path: owned is True for path, owned in known if SNAPSHOTS in Path(path).parts[:-2]}

    def put(self, part: Path, target: Path, digest: str) -> None:
        """Moves a download into `blobs` and links its name to it.

        It does so even if another program keeps the lock: that program is fetching the same bytes
        and may put them in place afterwards.
        """
        place = _Place.read(target)
        blob = place.blob(digest)
        with place.hold(blob):
            is_ours = self._keep(target, blob)
            if blob.exists():
                part.unlink()
            else:
                blob.parent.mkdir(parents=True, exist_ok=True)
                _move(part, blob)
            place.link(blob, is_ours=is_ours)

    def link_known(self, target: Path, digest: str, size_bytes: int) -> None:
        """Links to a blob that another program has already downloaded, if its size is right."""
        place = _Place.read(target)
        blob = place.blob(digest)
        with suppress(OSError):
            if target.exists() or blob.stat().st_size != size_bytes:
                return
            with place.hold(blob):
                if blob.stat().st_size == size_bytes:
                    place.link(blob, is_ours=self._keep(target, blob))

    def drop_older(self, target: Path) -> None:
        """Removes the earlier versions of the file that Moat installed."""
        new = _Place.read(target)
        for path in map(Path, self.paths()):
            old = _Place.read(path)
            if (old.repository, old.inside) == (new.repository, new.inside) and path != target:
                self.remove(path)

    def remove(self, path: Path) -> int:
        """Removes a file of ours and returns the bytes freed.

        That is 0 if other links use the blob or another program downloaded it.
        """
        owned = self.paths().get(str(path))
        if owned is None:
            return 0
        place, blob, is_link = _Place.read(path), path.resolve(), path.is_symlink()
        freed = blob.stat().st_size if blob.is_file() else 0
        with place.hold(blob) as is_held:
            path.unlink(missing_ok=True)
            if is_link and owned and is_held and not place.is_used(blob):
                blob.unlink(missing_ok=True)
            elif is_link or not owned:
                freed = 0
            place.tidy()
            with self._change() as kept:
                kept.pop(str(path), None)
        return freed

    def folder_of(self, path: Path) -> str:
        """Returns the cache's folder, or "" if the path is not one of Moat's files in it."""
        return str(_Place.read(path).repository.parent) if str(path) in self.paths() else ""

    def _keep(self, target: Path, blob: Path) -> bool:
        """Records a file and returns whether its blob is ours: new, or used by our other files."""
        there = blob.resolve()
        with self._change() as kept:
            ours = any(owned and Path(path).resolve() == there for path, owned in kept.items())
            kept[str(target)] = ours or not blob.exists()
            return kept[str(target)]

    @contextmanager
    def _change(self) -> Iterator[dict[str, bool]]:
        """Yields the record for a change, under a lock: a second Moat may change it, too."""
        lock = self._record.parent / LOCKS / f"{self._record.name}.lock"
        with facts.hold(lock, PATIENCE_S) as is_held:
            if not is_held:
                raise TimeoutError(
                    errno.EBUSY, "the record of the hub's cache is in use", str(lock)
                )
            kept = self.paths()
            yield kept
            write_atomically(self._record, json.dumps(kept, indent=1))


def _move(part: Path, blob: Path) -> None:
    """Moves a part to its blob. Copies it first if the cache is on another disk."""
    try:
        part.replace(blob)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = blob.with_name(f"{blob.name}.incomplete")
        try:
            shutil.copyfile(part, draft)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(blob)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        part.unlink()
