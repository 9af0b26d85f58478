"""The environment is made once, and a set-up cut short is gone on with."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.bootstrap import environment, places
from scripts.bootstrap.follow import LongCommand
from scripts.bootstrap.say import SetupFailed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")

PYTHON = '#!/bin/sh\nprintf "%s\\n" {answer}\n'


@pytest.fixture
def updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A clone elsewhere that pins pip; instead of running pip, its arguments are kept."""
    (tmp_path / "constraints.txt").write_text("packaging==25.0\npip==26.3\nzipp==3.0\n")
    monkeypatch.setattr(places, "PINS", tmp_path / "constraints.txt")
    monkeypatch.setattr(places, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(places, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    asked: list[str] = []
    monkeypatch.setattr(environment, "pip", lambda title, *_arguments: asked.append(title))
    return asked


def made_before(pip: str, version: str = "", base: str = sys.base_prefix) -> None:
    version = version or f"{sys.version_info.major}.{sys.version_info.minor}"
    places.PYTHON.parent.mkdir(parents=True)
    answer = f'"{places.ENVIRONMENT}" "{base}" "{version}" "{pip}"'
    places.PYTHON.write_text(PYTHON.format(answer=answer))
    places.PYTHON.chmod(0o755)


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Instead of making an environment, that it was asked for is kept."""
    made: list[str] = []
    real = subprocess.run

    def run(command: list[str], **options: object) -> object:
        if "venv" not in command:
            return real(command, **options)  # type: ignore[call-overload]
        made.append(command[-1])
        made_before("23.0.1")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return made


def test_one_that_works_is_kept(updates: list[str], anew: list[str]) -> None:
    made_before("26.3")
    environment.make()
    assert (updates, anew) == ([], [])


def test_an_update_of_pip_that_was_cut_short_is_made_up_for(
    updates: list[str], anew: list[str]
) -> None:
    made_before("23.0.1")
    environment.make()
    assert (updates, anew) == (["updating pip"], [])


@pytest.mark.parametrize(("version", "base"), [("3.1", sys.base_prefix), ("", "/another/python")])
def test_one_of_another_python_is_made_anew(
    updates: list[str], anew: list[str], version: str, base: str
) -> None:
    made_before("26.3", version, base)
    environment.make()
    assert anew == [str(places.ENVIRONMENT)]
    assert updates == ["updating pip"]


def test_one_that_cannot_answer_is_made_anew(updates: list[str], anew: list[str]) -> None:
    made_before("26.3")
    places.PYTHON.write_text("#!/bin/sh\nexit 1\n")
    environment.make()
    assert anew == [str(places.ENVIRONMENT)]


def test_a_link_to_one_that_is_gone_makes_way(updates: list[str], anew: list[str]) -> None:
    places.ENVIRONMENT.symlink_to(places.ENVIRONMENT.parent / "gone")
    environment.make()
    assert not places.ENVIRONMENT.is_symlink()
    assert anew == [str(places.ENVIRONMENT)]


def test_a_python_that_cannot_make_one_is_told(
    updates: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SetupFailed, match="could not make an environment"):
        environment.make()


def test_set_up_goes_on_without_the_stubs_of_other_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(places, "PYTHON", tmp_path / "python")
    places.PYTHON.write_text('#!/bin/sh\necho "no network for $2"\nexit 1\n')
    places.PYTHON.chmod(0o755)
    environment.fetch_stubs()
    assert "no network for --fetch" in capsys.readouterr().out


def test_what_is_installed_beside_the_compiler_is_all_but_the_engine(
    updates: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[str] = []

    @contextmanager
    def keep(command: LongCommand) -> Iterator[None]:
        beside.extend(command.arguments)
        yield

    monkeypatch.setattr(environment, "running_beside", keep)
    with environment.packages_installed_meanwhile("window", "dev"):
        # Its requirements are dropped before anything else is installed.
        assert updates == ["installing the hub's library"]
    needed = environment.requirements("window", "dev")
    assert [name for name in needed if name not in beside] == [
        f"{environment.ENGINE}=={places.engine_version()}"
    ]
    names = {re.split("[<=>]", name)[0] for name in beside}
    assert {"aiohttp", "qasync", "pytest"} <= names
