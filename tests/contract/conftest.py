"""Runs a real Moat with the starter model for the tests of all clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit.running import Moat, serving


@pytest.fixture(scope="session")
def moat(tmp_path_factory: pytest.TempPathFactory, starter_model: object) -> Iterator[Moat]:
    with _served(tmp_path_factory) as running:
        yield running


@pytest.fixture(scope="session")
def quick_moat(tmp_path_factory: pytest.TempPathFactory, quick_starter: Path) -> Iterator[Moat]:
    """Serves a quick model, for a kit that reads and writes much and does not mind the words."""
    with _served(tmp_path_factory, "--model", str(quick_starter)) as running:
        yield running


@contextmanager
def _served(folders: pytest.TempPathFactory, *arguments: str) -> Iterator[Moat]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOAT_HOME", str(folders.mktemp("contract-home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        with serving(*arguments) as running:
            yield running
