"""Installs what the contract tests would install when they first run, for runs without network."""

from pathlib import Path

from tests.contract.copilotkit.programs import built, packaged, python_with

OWN = Path(__file__).parent


def prepare() -> None:
    packaged(OWN.parents[1] / "conformance" / "copilotkit")
    packaged(OWN.parent / "mcp")
    for generation in ("first", "between", "second"):
        built(OWN / "pages", generation)
    built(OWN / "pages", "second", "current")
    python_with(OWN / "peers" / "requirements.txt")
