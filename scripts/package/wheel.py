"""Makes the wheel that pip, pipx and uvx install, a single file for every system: make wheel

All of Moat becomes one package, `moat_copilot`, which has the layout of the clone: the code, its
data, and the set-up that makes the engine at the first start.
"""

import os
import shutil
import sys
from pathlib import Path

from scripts.bootstrap import environment, places
from scripts.bootstrap.follow import LongCommand, follow
from scripts.package import product, sums
from scripts.package.told import told

PACKAGE = "moat_copilot"
LAUNCHER = places.ROOT / "packaging" / "wheel"
CARRIED = (
    *("app", "server", "plugins", "resources", "scripts/bootstrap", "packaging/common/licenses"),
    *("pyproject.toml", "constraints.txt", "LICENSE"),
)
BESIDE = ("README.md", "LICENSE", "NOTICE")
CHANGES = {
    '"app.__main__:main"': f'"{PACKAGE}:main"',
    'attr = "server.VERSION"': f'attr = "{PACKAGE}.server.VERSION"',
    'include = ["app*", "server*"]': f'include = ["{PACKAGE}*"]',
    '"server.protocols.copilotkit" = ["schema.graphql"]': '"*" = ["*"]',
}
"""Replacements in pyproject.toml for the wheel."""
ENGINE = '    "llama-cpp-python=='
"""The requirement that is removed: pip would compile it for minutes without any output."""


def build() -> list[Path]:
    environment.make()
    stage = product.WORK / "wheel"
    lay_out(stage)
    made = product.WORK / "wheels"
    shutil.rmtree(made, ignore_errors=True)
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(product.moment())}
    follow(LongCommand("making the wheel", command(stage, made), _silent, environment=variables))
    product.FINISHED.mkdir(exist_ok=True)
    wheel = product.FINISHED / next(made.glob("*.whl")).name
    shutil.move(made / wheel.name, wheel)
    return [wheel, sums.write([wheel], product.FINISHED)]


def lay_out(stage: Path) -> None:
    """Lays out the files that the wheel is made of."""
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(LAUNCHER, stage / PACKAGE, ignore=_compiled)
    for name in CARRIED:
        _copy(places.ROOT / name, stage / PACKAGE / name)
    for name in BESIDE:
        _copy(places.ROOT / name, stage / name)
    (stage / "pyproject.toml").write_text(project(places.PROJECT.read_text("utf-8")), "utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=_compiled)
    else:
        shutil.copyfile(source, target)


_compiled = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


def project(text: str) -> str:
    """Returns the clone's pyproject.toml with the changes for the wheel."""
    for clones, wheels in CHANGES.items():
        assert clones in text, f"pyproject.toml has no {clones}"
        text = text.replace(clones, wheels)
    lines = [line for line in text.splitlines() if not line.startswith(ENGINE)]
    assert len(lines) == len(text.splitlines()) - 1, "pyproject.toml requires no engine"
    return "\n".join(lines) + "\n"


def command(stage: Path, into: Path) -> list[str]:
    pinned = places.pinned("setuptools")
    is_here = (places.SITE / f"setuptools-{pinned}.dist-info").is_dir()
    tools = ["--no-build-isolation"] if is_here else ["--build-constraint", str(places.PINS)]
    pip = [str(places.PYTHON), "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    return [*pip, *tools, "--wheel-dir", str(into), str(stage)]


def _silent(_line: str) -> None:
    return None


if __name__ == "__main__":
    sys.exit(told(build))
