"""The engine's source: fetched, unpacked, and without variants the compiler does not support."""

import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from scripts.bootstrap.follow import LongCommand, follow

PACKAGE = "llama-cpp-python"
DRAFT = "unpacking"
"""The folder for unpacking, so that an interrupted copy is never taken for complete."""
VARIANTS = Path("vendor", "llama.cpp", "ggml", "src", "CMakeLists.txt")


def unpacked(python: Path, version: str, folder: Path) -> Path:
    source = folder / f"{PACKAGE.replace('-', '_')}-{version}"
    if not source.exists():
        shutil.rmtree(folder / DRAFT, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            command = [str(python), "-m", "pip", "download", "--quiet", "--no-deps"]
            options = ["--no-binary", PACKAGE, "--dest", scratch]
            fetch = [*command, *options, f"{PACKAGE}=={version}"]
            follow(LongCommand("fetching the engine's source", fetch, lambda _line: None))
            with tarfile.open(next(Path(scratch).glob("*.tar.gz"))) as archive:
                extract(archive, folder / DRAFT)
            (folder / DRAFT / source.name).rename(source)
    return source


def extract(
    archive: tarfile.TarFile, folder: Path, members: Iterable[tarfile.TarInfo] | None = None
) -> None:
    """Unpacks an archive with the data filter. Python before 3.11.4, as in Debian 12, has none."""
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder, members)


def trimmed(python: Path, version: str, left_out: Iterable[str], folder: Path) -> Path:
    """Unpacks the source without these variants of the processor's backend."""
    source = unpacked(python, version, folder)
    listing = source / VARIANTS
    text = without(listing.read_text(encoding="utf-8"), left_out)
    listing.write_text(text, encoding="utf-8")
    return source


def without(listing: str, left_out: Iterable[str]) -> str:
    marks = tuple(f"ggml_add_cpu_backend_variant({name} " for name in left_out)
    lines = listing.splitlines(keepends=True)
    return "".join(line for line in lines if not line.strip().startswith(marks))
