"""Runs a real Moat with the starter model for the tests of all clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.running import Moat, serving


@pytest.fixture(scope="session")
def moat(tmp_path_factory: pytest.TempPathFactory, quick_starter: Path) -> Iterator[Moat]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOAT_HOME", str(tmp_path_factory.mktemp("contract-home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        with serving("--model", str(quick_starter)) as running:
            yield running
