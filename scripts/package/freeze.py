"""Freezes the program: a folder that runs without Python, made the same way on each platform."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.places import ROOT
from scripts.package import contents, engine_files, graphics, notices, product

LICENCES = Path("resources", "licenses.json")


def freeze() -> Path:
    """Makes the folder, with the licences in it. All its files have the same time."""
    product.WORK.mkdir(parents=True, exist_ok=True)
    engine_files.unpack(product.WORK / "engine")
    graphics.put_into(product.WORK / "engine")
    shutil.rmtree(product.FROZEN, ignore_errors=True)
    follow(LongCommand("freezing the program", _command(), _progress, _log(), _environment()))
    engine_files.link_duplicates(product.FROZEN / contents.ENGINE)
    strip(product.FROZEN)
    name_announcer(product.FROZEN / "resources" / "updates.json")
    modules = (product.WORK / "modules.txt").read_text(encoding="utf-8").split()
    notices.write(product.FROZEN / LICENCES, product.FROZEN, modules)
    settle(product.FROZEN, product.NAME)
    return product.FROZEN


def name_announcer(path: Path) -> None:
    """Writes the address and the public key of announcements, if both variables are set."""
    given = {"address": "MOAT_UPDATE_ADDRESS", "key": "MOAT_UPDATE_KEY"}
    told = {name: os.environ.get(variable) for name, variable in given.items()}
    if all(told.values()):
        path.write_text(json.dumps(told), encoding="utf-8")


def strip(folder: Path) -> None:
    """Removes unneeded symbols, to make the files smaller."""
    if sys.platform != "linux" or not shutil.which("strip"):
        return
    for path in folder.rglob("*"):
        if (
            path.is_file()
            and not path.is_symlink()
            and contents.is_stripped(path.relative_to(folder).as_posix())
        ):
            subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)


def settle(folder: Path, *programs: str) -> None:
    """Sets times and permissions that do not depend on the build. `programs` become executable."""
    runnable = {folder / name for name in programs}
    moment = product.moment()
    for path in [*folder.rglob("*"), folder]:
        if path.is_symlink():
            os.utime(path, (moment, moment), follow_symlinks=False)
            continue
        path.chmod(0o755 if path.is_dir() or path in runnable else 0o644)
        os.utime(path, (moment, moment))


def _command() -> list[str]:
    return [
        *(sys.executable, "-m", "PyInstaller", "--noconfirm"),
        *("--distpath", str(product.FROZEN.parent), "--workpath", str(product.WORK / "analysis")),
        str(product.COMMON / "moat.spec"),
    ]


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "MOAT_ROOT": str(ROOT),
        "MOAT_WORK": str(product.WORK),
        "SOURCE_DATE_EPOCH": str(product.moment()),
        "PYTHONHASHSEED": "0",
    }


def _log() -> Path:
    return product.WORK / "freeze.log"


def _progress(line: str) -> str | None:
    """Returns the step from a line such as "1234 INFO: Processing module hook 'x' from '/path'"."""
    return line.partition("INFO: ")[2].partition(" from ")[0].strip()[:60] or None
