"""What every test gets: a home of its own, no keyring of the user's, no screen unless asked for."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest

from server.models import library

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Each started Moat would try out its model as soon as it has nothing to do: 20 s of a core.
os.environ.setdefault("MOAT_MODEL__CALIBRATE", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a long test first: begun last, one would keep all others waiting."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def moat_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, models, logs and secrets of this test; gone with it."""
    home = tmp_path / "moat-home"
    monkeypatch.setenv("MOAT_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    for name in [name for name in os.environ if name.startswith("MOAT_SECRET_")]:
        monkeypatch.delenv(name)
    return home


@pytest.fixture
def new_children() -> Callable[[], list[psutil.Process]]:
    """Processes started since the test began; servers that several tests share do not count."""
    before = set(psutil.Process().children())

    def find() -> list[psutil.Process]:
        return [child for child in psutil.Process().children() if child not in before]

    return find


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """A real model, small enough for tests: assert shapes and states, not wisdom."""
    path = library.find()
    if path is None:
        pytest.fail("The starter model is not installed; 'make setup' brings it.")
    return path


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last line before the verdict: how many tests were skipped, and what they need."""
    reports = terminalreporter.stats.get("skipped", [])
    terminalreporter.write_line(count_skipped(report.longrepr[2] for report in reports))


def count_skipped(reasons: Iterable[str]) -> str:
    """For example "3 skipped: 2 need Windows, 1 needs macOS"."""
    counts = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    parts = [
        f"{count} {reason if count == 1 else reason.replace('needs ', 'need ', 1)}"
        for reason, count in counts.most_common()
    ]
    return ": ".join([f"{counts.total()} skipped", *([", ".join(parts)] if parts else [])])
