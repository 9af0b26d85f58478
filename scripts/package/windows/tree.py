"""Lays out the installed files: Python, packages, the program, the engine, the starter model."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

from scripts.bootstrap import places as clone
from scripts.bootstrap import surplus
from scripts.bootstrap.say import SetupFailed
from scripts.bootstrap.source import PACKAGE as ENGINE
from scripts.bootstrap.source import extract
from scripts.package import contents, freeze, pictures, product
from scripts.package.windows import embedded, engine, launcher, materials, places, wheels
from server.models import library as starter

SHARED_RUNTIME = "msvcp140*.dll"
"""Microsoft's C++ library. Some wheels need it and expect it beside the program."""
QUIET_TYPES = ("*.pyc", "__pycache__")
BINDINGS_LEFT_OUT = ("server", "*.so", "*.dylib")


def build() -> Path:
    shutil.rmtree(places.TREE, ignore_errors=True)
    embedded.unpack(places.PYTHON)
    for wheel in wheels.fetch():
        wheels.unpack(wheel, places.PACKAGES)
    for library in (places.PACKAGES / "PySide6").glob(SHARED_RUNTIME):
        shutil.copyfile(library, places.PYTHON / library.name)
    put_engine(engine.libraries())
    put_program()
    put_model()
    icon = places.WORK / "moat.ico"
    pictures.write_ico(icon)
    launcher.build(icon)
    materials.write()
    set_times(places.TREE, product.moment())
    return places.TREE


def put_engine(libraries: Iterable[Path]) -> None:
    """Adds the Python bindings as published, and our libraries where the bindings look for them."""
    version = clone.engine_version()
    target = places.PACKAGES / "llama_cpp"
    source = _bindings(version)
    shutil.copytree(
        source / "llama_cpp",
        target,
        ignore=shutil.ignore_patterns(*QUIET_TYPES, *BINDINGS_LEFT_OUT),
    )
    facts = places.PACKAGES / f"llama_cpp_python-{version}.dist-info"
    facts.mkdir()
    told = surplus.without((source / "PKG-INFO").read_text("utf-8"))
    (facts / "METADATA").write_text(told, encoding="utf-8")
    shutil.copyfile(source / "LICENSE.md", facts / "LICENSE.md")
    (target / "lib").mkdir(exist_ok=True)
    for library in libraries:
        shutil.copyfile(library, target / "lib" / library.name)


def _bindings(version: str) -> Path:
    folder = places.CACHE / f"bindings-{version}"
    name = f"{ENGINE.replace('-', '_')}-{version}"
    if not (folder / name / "PKG-INFO").exists():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        wanted = ("--no-deps", "--no-binary", ENGINE, "--dest", str(folder))
        subprocess.run([*pip, *wanted, f"{ENGINE}=={version}"], check=True)
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            parts = [m for m in archive.getmembers() if _is_binding(m.name, name)]
            extract(archive, folder, parts)
    return folder / name


def _is_binding(path: str, root: str) -> bool:
    return path.startswith((f"{root}/llama_cpp/", f"{root}/PKG-INFO", f"{root}/LICENSE.md"))


def put_program() -> None:
    ignore = shutil.ignore_patterns(*QUIET_TYPES)
    for package in (*contents.PACKAGES, *(target for _source, target in contents.DATA)):
        shutil.copytree(clone.ROOT / package, places.PROGRAM / package, ignore=ignore)
    shutil.copyfile(places.PARTS / "start.py", places.PROGRAM / "start.py")
    shutil.copyfile(clone.ROOT / "LICENSE", places.TREE / "LICENSE.txt")
    freeze.name_announcer(places.PROGRAM / "resources" / "updates.json")


def put_model() -> None:
    model = starter.find_starter()
    if model is None:
        raise SetupFailed("The starter model is not installed; run make setup.")
    places.MODELS.mkdir(parents=True)
    shutil.copyfile(model, places.MODELS / starter.FILE)


def set_times(folder: Path, moment: int) -> None:
    """Sets the same time for all files, so that the same sources give the same installer."""
    for path in folder.rglob("*"):
        os.utime(path, (moment, moment))
