"""Models kept as Hugging Face's own programs keep them, so that others use the same bytes.

A repository is a folder `models--OWNER--NAME`: the bytes lie in `blobs`, named by their hash, and
`snapshots/COMMIT` has the files' names as links to them. `refs/main` names the newest commit. Who
puts or removes bytes holds `.locks/models--OWNER--NAME/HASH.lock` meanwhile.
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
"""How long another program is waited for. It holds a lock for as long as it downloads."""


def target_of(cache: Path, repo: str, revision: str, path: str) -> Path:
    folder = f"models--{names.repo(repo).replace('/', '--')}"
    return names.inside(cache, folder, SNAPSHOTS, names.revision(revision), names.file(path))


@dataclass(frozen=True, slots=True)
class _Place:
    """A file's name in the cache."""

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
        """Whether the lock of these bytes is ours."""
        lock = self.repository.parent / LOCKS / self.repository.name / f"{blob.name}.lock"
        held: AbstractContextManager[bool] = facts.hold(lock, PATIENCE_S)
        return held

    @property
    def snapshot(self) -> Path:
        return self.repository / SNAPSHOTS / self.commit

    @property
    def main(self) -> Path:
        return self.repository / "refs" / "main"

    def link(self, blob: Path) -> None:
        """Where the system makes no links, the file itself gets the name."""
        target = self.snapshot / self.inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            target.symlink_to(os.path.relpath(blob, target.parent))
        except (OSError, NotImplementedError):
            blob.replace(target)
        if COMMIT.fullmatch(self.commit):
            write_atomically(self.main, self.commit)

    def is_used(self, blob: Path) -> bool:
        links = (self.repository / SNAPSHOTS).rglob("*")
        return any(name.resolve() == blob for name in links if name.is_symlink())

    def tidy(self) -> None:
        """Removes folders that are empty now, and the name of a commit that is gone."""
        with suppress(OSError):
            for folder in (*(self.snapshot / self.inside).parents,)[: len(self.inside.parts)]:
                folder.rmdir()
            if self.main.read_text("utf-8").strip() == self.commit:
                self.main.unlink()
        # A repository without the folder of its snapshots would be a broken one: it goes last. A
        # folder that has got a file meanwhile stays.
        with suppress(OSError):
            if not any(path for path in self.repository.rglob("*") if not path.is_dir()):
                for folder in sorted(self.repository.rglob("*"), reverse=True, key=_depth):
                    if folder.name != SNAPSHOTS:
                        folder.rmdir()
                (self.repository / SNAPSHOTS).rmdir()
                self.repository.rmdir()


def _depth(path: Path) -> int:
    return len(path.parts)


class HubCache:
    """What of the cache is ours is recorded in our own folder: we delete nothing else."""

    def __init__(self, models: Path) -> None:
        self._record = models / RECORD

    def paths(self) -> dict[str, bool]:
        """The names that we put there, and whether the bytes are ours too."""
        try:
            found = json.loads(self._record.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        known = found.items() if isinstance(found, dict) else ()
        return {path: owned is True for path, owned in known if SNAPSHOTS in Path(path).parts[:-2]}

    def put(self, part: Path, target: Path, digest: str) -> None:
        """Moves what was downloaded among the blobs and links its name to it.

        Who holds the lock for longer fetches the same bytes: it may put them there after us.
        """
        place = _Place.read(target)
        blob = place.blob(digest)
        with place.hold(blob):
            self._keep(target, blob)
            if blob.exists():
                part.unlink()
            else:
                blob.parent.mkdir(parents=True, exist_ok=True)
                _move(part, blob)
            place.link(blob)

    def link_known(self, target: Path, digest: str, size_bytes: int) -> None:
        """What another program has fetched already is only named."""
        place = _Place.read(target)
        blob = place.blob(digest)
        with suppress(OSError):
            if target.exists() or blob.stat().st_size != size_bytes:
                return
            with place.hold(blob):
                if blob.stat().st_size == size_bytes:
                    self._keep(target, blob)
                    place.link(blob)

    def drop_older(self, target: Path) -> None:
        """Removes the versions of the file that we put there before."""
        new = _Place.read(target)
        for path in map(Path, self.paths()):
            old = _Place.read(path)
            if (old.repository, old.inside) == (new.repository, new.inside) and path != target:
                self.remove(path)

    def remove(self, path: Path) -> int:
        """Returns the bytes freed: none where other names lead to them, or they are not ours."""
        owned = self.paths().get(str(path))
        if owned is None:
            return 0
        place, blob, is_link = _Place.read(path), path.resolve(), path.is_symlink()
        freed = blob.stat().st_size if blob.is_file() else 0
        with place.hold(blob) as is_held:
            path.unlink(missing_ok=True)
            if is_link and owned and is_held and not place.is_used(blob):
                blob.unlink(missing_ok=True)
            elif is_link:
                freed = 0
            place.tidy()
            with self._change() as kept:
                kept.pop(str(path), None)
        return freed

    def folder_of(self, path: Path) -> str:
        """The cache's folder; empty for a path that is not one of ours in it."""
        return str(_Place.read(path).repository.parent) if str(path) in self.paths() else ""

    def _keep(self, target: Path, blob: Path) -> None:
        """The bytes are ours if nobody had them before, or if another name of ours has them."""
        there = blob.resolve()
        with self._change() as kept:
            ours = any(owned and Path(path).resolve() == there for path, owned in kept.items())
            kept[str(target)] = ours or not blob.exists()

    @contextmanager
    def _change(self) -> Iterator[dict[str, bool]]:
        """A second Moat, such as one in a terminal, may change it too: one after the other."""
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
    """The cache may lie on another disk: then it is copied beside its place first."""
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
