"""The portable archive: the frozen folder as .tar.xz, for a memory stick or a home folder."""

import lzma
import os
import tarfile
from pathlib import Path

from scripts.bootstrap.say import say
from scripts.package import product


def build(frozen: Path) -> Path:
    name = f"{product.NAME}-{product.VERSION}"
    target = product.FINISHED / f"{name}-linux-{product.machine()}.tar.xz"
    pack(frozen, name, target)
    return target


def pack(folder: Path, name: str, target: Path) -> None:
    """Packs the folder under this name, into the same bytes whenever and wherever it is packed."""
    say(f"package: packing {target.name}")
    preset = 1 if os.environ.get("QUICK") else 6
    with (
        lzma.open(target, "wb", preset=preset) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in [folder, *sorted(folder.rglob("*"))]:
            inside = Path(name, path.relative_to(folder))
            archive.add(path, str(inside), recursive=False, filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Removes the owner, and sets the time of the release and plain permissions."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = product.moment()
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry
