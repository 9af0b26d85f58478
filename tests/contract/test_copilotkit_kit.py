"""Runs CopilotKit's npm clients, unmodified, against Moat: both generations, every transport."""

import subprocess
from pathlib import Path

import pytest

from tests.contract.copilotkit.programs import may_install, moat, packaged
from tests.kit.programs import need

pytestmark = may_install
KIT = Path(__file__).resolve().parents[1] / "conformance" / "copilotkit"
KIT_S = 540


@pytest.fixture(scope="session")
def kit() -> Path:
    return packaged(KIT)


def run(kit: Path, address: str, *options: str) -> str:
    command = [need("node"), "kit.mjs", f"{address}/api/copilotkit", *options]
    done = subprocess.run(
        [*command, "--gql-agent", "default"],
        cwd=kit, capture_output=True, text=True, timeout=KIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_whole_kit_passes_with_a_scripted_model(kit: Path, tmp_path: Path):
    with moat("obedient", tmp_path) as address:
        told = run(kit, address)
    assert told.endswith("44 passed, 0 failed\n")


def test_the_whole_kit_passes_with_the_starter_model(
    kit: Path, tmp_path: Path, quick_starter: Path
):
    given = {"model": str(quick_starter), "copilot.answer_tokens": 32}
    with moat("real", tmp_path, **given) as address:
        told = run(
            kit, address,
            "--prompt-chat", "What is the capital of France?",
            "--prompt-tool", "Please greet Ada by calling sayHello",
            "--prompt-long", "Count from one to two hundred.",
            "--prompt-error", "none",
            "--timeout", "180000",
        )  # fmt: skip
    assert told.endswith("40 passed, 0 failed\n")
