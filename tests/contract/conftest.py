"""One real Moat with the starter model for all the clients' tests."""

from collections.abc import Iterator

import pytest

from tests.kit.running import Moat, serving


@pytest.fixture(scope="session")
def moat(tmp_path_factory: pytest.TempPathFactory, starter_model: object) -> Iterator[Moat]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOAT_HOME", str(tmp_path_factory.mktemp("contract-home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        with serving() as running:
            yield running
