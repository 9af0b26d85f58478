"""What every test gets: a home of its own, no keyring of the user's, no screen unless asked for."""

import gc
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import hypothesis
import psutil
import pytest

from server import egress
from server.models import library

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Each started Moat would try out its model as soon as it has nothing to do: 20 s of a core.
os.environ.setdefault("MOAT_MODEL__CALIBRATE", "false")
# A busy machine is not a defect of what is tested.
hypothesis.settings.register_profile(
    "no clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("no clock")


def pytest_configure() -> None:
    """Heeds Ctrl-C again: a shell's background ignores it, and so does what is started there."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a long test first: begun last, one would keep all others waiting."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Ten thousand collected tests stay: looking through them at each collection took a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Four for two cores: nearly a third of their time tests wait for a process or a limit."""
    cores = yield
    return cores * 2


@pytest.fixture(autouse=True)
def environment() -> Generator[None]:
    """Puts back the variables that a test leaves changed, as a server in this process does.

    Which tests share a process is chance, so what one left behind failed another now and then.
    """
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def moat_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, models, logs and secrets of this test; gone with it."""
    home = tmp_path / "moat-home"
    monkeypatch.setenv("MOAT_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    # A test that serves in this process seals it; then no other test's client could connect.
    monkeypatch.setattr(egress, "_sealed", False)
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
    path = library.find_starter()
    if path is None:
        pytest.fail("The starter model is not installed; 'make setup' brings it.")
    return path


@pytest.fixture(scope="session")
def quick_starter(starter_model: Path) -> Path:
    """The starter's weights in a form that is computed twice as fast, made once per clone.

    For tests that have a model read or say much. It has the starter's name.
    """
    source = starter_model.stat()
    mark = f"{source.st_size}-{source.st_mtime_ns}"
    copy = ROOT / "build" / "quick-starter-q8" / mark / f"{library.NAME}.gguf"
    if not copy.exists():
        # The engine's library stays out of the processes of tests.
        write = [sys.executable, "-m", "tests.kit.by_llama_cpp", str(starter_model), str(copy)]
        subprocess.run(write, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return copy


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last lines before the verdict: why tests failed at first, how many were skipped."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"{report.nodeid} was tried again, because", sep="-")
        terminalreporter.write_line(report.longreprtext)
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
